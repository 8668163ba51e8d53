/** Files that a benchmark or gate wrote, as they are kept: without secrets. */
import { closeSync, lstatSync, openSync, readdirSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { LONGEST_SECRET, secretsIn } from '../redact.ts'

const CHUNK = 1024 * 1024

/**
 * Takes the secrets out of a file, or of all files below a folder; one without any is not touched. It must not be
 * written to any more. The file is replaced by a whole one, so a crash leaves either of the two. What is not there, is
 * no regular file or cannot be read is left alone. `chunk`: bytes read at once.
 */
export function redactStored(path: string, chunk = CHUNK): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) {
    for (const name of readdirSync(path)) redactStored(join(path, name), chunk)
  } else if (found?.isFile() && found.size > 0) redactFile(path, found.mode, chunk)
}

function redactFile(path: string, mode: number, chunk: number): void {
  let from: number
  try {
    from = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return
    throw error
  }
  const target = `${path}.redacted`
  let to: number | null = null
  try {
    /** Bytes of the file that are in the new one, as they are or replaced. */
    let done = 0
    for (const piece of pieces(from, chunk)) {
      if (to === null && !piece.changed) done += piece.length
      else {
        to ??= copyOf(from, done, target, mode)
        writeSync(to, Buffer.from(piece.text, 'latin1'))
      }
    }
    if (to !== null) renameSync(target, path)
  } catch (error) {
    rmSync(target, { force: true })
    throw error
  } finally {
    closeSync(from)
    if (to !== null) closeSync(to)
  }
}

interface Piece {
  text: string
  changed: boolean
  /** Bytes of the original. */
  length: number
}

/** One character a byte, so that what is no UTF-8 stays as it is. Each piece ends where no secret can be cut. */
function* pieces(fd: number, chunk: number): Generator<Piece> {
  const buffer = Buffer.alloc(chunk)
  /** The end of the piece before, for what a pattern looks back at. */
  let before = ''
  let text = ''
  let offset = 0
  for (;;) {
    const read = readSync(fd, buffer, 0, chunk, offset)
    offset += read
    text += buffer.toString('latin1', 0, read)
    const ends = read === 0
    const found = secretsIn(before + text, 'latin1').map((one) => ({
      ...one,
      start: Math.max(0, one.start - before.length),
      end: one.end - before.length,
    }))
    let border = ends ? text.length : Math.max(0, text.length - LONGEST_SECRET)
    for (const { start, end } of found) if (start < border && end > border) border = end
    // A match at the very end may go on in the next chunk.
    const open = ends ? undefined : found.find(({ start, end }) => start < border && end === text.length)
    if (open) border = open.start
    let safe = ''
    let at = 0
    for (const { start, end, kind } of found) {
      if (end <= 0 || start >= border) continue
      safe += `${text.slice(at, start)}[redacted ${kind}]`
      at = end
    }
    yield { text: safe + text.slice(at, border), changed: at > 0, length: border }
    before = text.slice(Math.max(0, border - 64), border)
    text = text.slice(border)
    if (ends) return
  }
}

function copyOf(from: number, bytes: number, target: string, mode: number): number {
  const to = openSync(target, 'w', mode)
  const buffer = Buffer.alloc(Math.min(bytes, CHUNK))
  for (let at = 0; at < bytes; ) {
    const read = readSync(from, buffer, 0, Math.min(buffer.length, bytes - at), at)
    if (read === 0) break
    writeSync(to, buffer, 0, read)
    at += read
  }
  return to
}
