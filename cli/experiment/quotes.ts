/** Whether a quote was really printed: looks for it in the stored outputs of the experiment's own attempts. */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join, relative } from 'node:path'
import { objectIn } from '../json.ts'
import type { Experiment } from '../ledger/state.ts'
import { attemptFolder, experimentFolder, stepsFile, stepsOfJob } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'

/** Bytes of one file: its first half and its last, when it has more. */
const FILE_BYTES = 8 * 1024 * 1024
const MOST_FILES = 2000
/** A shorter quote would be found almost anywhere, so it proves nothing. */
const SHORTEST = 8

/**
 * Where each quote stands, word for word but for the width of its blanks: a file relative to the experiment's folder,
 * or `verdict`; null when it stands nowhere, or is too short to show anything. Samples of what it was compared with are
 * not its own output.
 */
export function placesOf(run: OpenRun, node: Experiment, quotes: readonly string[]): (string | null)[] {
  const wanted = quotes.map(onOneLine)
  const found = wanted.map((): string | null => null)
  const look = (place: string, text: string): boolean => {
    const line = onOneLine(text)
    for (const [index, quote] of wanted.entries())
      if (found[index] === null && quote.length >= SHORTEST && line.includes(quote)) found[index] = place
    return found.every((one, index) => one !== null || (wanted[index] ?? '').length < SHORTEST)
  }
  const folder = experimentFolder(run.paths, node.id)
  for (const { attempt, judged } of [...node.attempts].reverse()) {
    if (judged && look('verdict', judged.message)) break
    const at = attemptFolder(run.paths, node.id, attempt)
    const files = filesBelow(at).filter(
      (file) => ![stepsFile(at), stepsOfJob(at)].includes(file) && !OTHER_SIDE.test(file),
    )
    if (files.some((file) => look(relative(folder, file), textOf(file)))) break
  }
  return found
}

const OTHER_SIDE = /[/\\]samples[/\\][a-z]+-\d+-(a|parent)\./
const onOneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim()

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .slice(0, MOST_FILES)
  } catch {
    // The folder is missing: the attempt was judged without being measured.
    return []
  }
}

/** A file of JSON is read as it is and with its texts unfolded: the agent may have quoted either. */
function textOf(file: string): string {
  const text = read(file)
  const value = file.endsWith('.json') ? objectIn(text) : null
  return value === null ? text : [text, ...textsIn(value)].join('\n')
}

function textsIn(value: unknown): string[] {
  const texts: string[] = []
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const one = rest.pop()
    if (typeof one === 'string') texts.push(one)
    else if (typeof one === 'object' && one !== null) rest.push(...Object.values(one).reverse())
  }
  return texts
}

function read(file: string): string {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(fd)
    const half = (from: number, length: number) => {
      const buffer = Buffer.alloc(length)
      return buffer.toString('utf8', 0, readSync(fd, buffer, 0, length, from))
    }
    if (size <= FILE_BYTES) return half(0, size)
    return `${half(0, FILE_BYTES / 2)}\n${half(size - FILE_BYTES / 2, FILE_BYTES / 2)}`
  } finally {
    closeSync(fd)
  }
}
