import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type { FileId } from './proc.ts'

const HEAD = 64 * 1024
const TAIL = 256 * 1024

/** The files that a job writes to. stdout and stderr may be one file: then the order between them is kept. */
export interface Output {
  stdout: number
  stderr: number
  ids: FileId[]
  /** Bytes in both files together. */
  size(): number
  /** Keeps the head and the tail of each file, with a line between them that says how much was cut. */
  cut(): void
  close(): void
}

/** Empties and opens the files. Throws what the file system says. */
export function openOutput(stdout: string, stderr: string): Output {
  // Appending: a writer that outlives a cut must not leave a hole behind it.
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND
  const out = openSync(stdout, flags)
  let err = out
  try {
    if (stderr !== stdout) err = openSync(stderr, flags)
  } catch (error) {
    closeSync(out)
    throw error
  }
  const all = [...new Set([out, err])]
  return {
    stdout: out,
    stderr: err,
    ids: all.map((fd) => {
      const { dev, ino } = fstatSync(fd)
      return { dev, ino }
    }),
    size: () => all.reduce((sum, fd) => sum + fstatSync(fd).size, 0),
    cut: () => all.forEach(cutMiddle),
    close: () => all.forEach(closeSync),
  }
}

/** Keeps head and tail of a file that was written. A link, or what is no file, is left alone. */
export function cutStored(path: string): void {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return
  }
  try {
    if (fstatSync(fd).isFile()) cutMiddle(fd)
  } finally {
    closeSync(fd)
  }
}

function cutMiddle(fd: number): void {
  const { size } = fstatSync(fd)
  if (size <= HEAD + TAIL) return
  const tail = Buffer.alloc(TAIL)
  const length = readSync(fd, tail, 0, TAIL, size - TAIL)
  ftruncateSync(fd, HEAD)
  const said = `\n[assay: ${size - HEAD - length} bytes cut here]\n`
  const rest = Buffer.concat([Buffer.from(said), tail.subarray(0, length)])
  writeSync(fd, rest, 0, rest.length, HEAD)
}
