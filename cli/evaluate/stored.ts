/** Files that a benchmark or gate wrote, as they are kept: without secrets. */
import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { moveTree } from '../disk/copy.ts'
import type { Sample } from '../ledger/events.ts'
import { cutStored } from '../process.ts'
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
    // A match at the very end may continue in the next chunk.
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

// ---------------------------------------------------------------- where a sample writes while it runs, and where that is kept

/** Relative to the attempt's folder: where what a sample wrote is kept. The benchmark sees none of these names. */
export function outputNames({ stage, pair, side }: Pick<Sample, 'stage' | 'pair' | 'side'>) {
  const letter = side === 'parent' ? 'a' : 'b'
  return {
    /** Of this sample's further files. */
    stem: `samples/${stage}-${pair}-${side}`,
    stdout: `samples/${stage}-${pair}-${side}.out`,
    stderr: `samples/${stage}-${pair}-${side}.err`,
    result: `samples/${stage}-${pair}-${letter}.json`,
    traces: `samples/${stage}-${pair}-${letter}.traces`,
    answers: `samples/${stage}-${pair}-${letter}.answers`,
  }
}

/**
 * Names of files while the sample runs. They say neither the stage nor the side, and have one length: a candidate that
 * knew either could be good where it counts, and the size of the environment moves the stack (Mytkowicz et al. 2009).
 */
export const DESK = {
  stdout: 'out',
  stderr: 'err',
  result: 'result.json',
  traces: 'traces',
  items: 'items.txt',
  answers: 'answers',
  output: 'output',
  scored: { stdout: 'score.out', stderr: 'score.err' },
} as const

/** Where each file of the desk is kept, relative to the attempt's folder. */
const keptAs = ({ stem, stdout, stderr, result, traces, answers }: Names): [string, string][] => [
  [DESK.stdout, stdout],
  [DESK.stderr, stderr],
  [DESK.result, result],
  [DESK.traces, traces],
  [DESK.answers, answers],
  [DESK.output, `${stem}.output`],
  ...['score', 'before', 'after'].flatMap((step): [string, string][] =>
    ['out', 'err'].map((end) => [`${step}.${end}`, `${stem}.${step}.${end}`]),
  ),
]

export type Names = ReturnType<typeof outputNames>

/** What was written goes to the attempt's folder, without secrets; the desk is gone. */
export function clearDesk(desk: string, folder: string, names: Names): void {
  dropIfEmpty(join(desk, DESK.traces))
  mkdirSync(join(folder, 'samples'), { recursive: true })
  for (const [name, kept] of keptAs(names)) keep(join(desk, name), join(folder, kept))
  // What was printed has been read by now.
  for (const [name, kept] of keptAs(names)) if (/(^|\.)(out|err)$/.test(name)) cutStored(join(folder, kept))
  rmSync(desk, { recursive: true, force: true })
}

/** Nothing when there is no such file. */
function keep(written: string, kept: string): void {
  rmSync(kept, { recursive: true, force: true })
  if (!lstatSync(written, { throwIfNoEntry: false })) return
  moveTree(written, kept)
  redactStored(kept)
}

function dropIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // The benchmark wrote traces.
  }
}
