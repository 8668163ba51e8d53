/** The output contract: how a result of a verb becomes lines and an exit code. */
import { accessSync, constants, fstatSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { call, Next, next, type Said } from '../next.ts'
import { redact } from '../redact.ts'
import { EXIT, type Problem, type Result } from '../result.ts'
import { UNSAFE, wrap } from '../text.ts'
import type { VerbAnswer } from './command.ts'

export interface CallOutput {
  stdout: string
  stderr: string
  exit: number
}

/** How this call is answered. */
export interface Edge {
  json: boolean
  /** Columns of the terminal on standard output; null when it is none. */
  columns: number | null
  /** Gives each command the run that the call named: the only place where a command becomes text. */
  say: (said: Said) => string
}

/** With `json` exactly one line on standard output, ok or not; without, text there and problems on standard error. */
export function renderResult(result: Result<VerbAnswer>, edge: Edge): CallOutput {
  const { stdout, stderr, exit } = result.ok
    ? renderAnswer(result.value, edge)
    : renderProblem(result.problem, edge)
  return { stdout: redact(stdout), stderr: redact(stderr), exit }
}

function renderAnswer({ data, text, wrap: wraps, exit = 0 }: VerbAnswer, edge: Edge): CallOutput {
  if (edge.json) return { stdout: oneLine({ ok: true, data: data ?? null }, edge), stderr: '', exit }
  const lines = [text()].flat().map((line) => textOf(line, edge))
  const { columns } = edge
  const shown = wraps && columns !== null ? lines.flatMap((line) => wrap(line, columns)) : lines
  const body = shown.join('\n')
  return { stdout: body === '' || body.endsWith('\n') ? body : `${body}\n`, stderr: '', exit }
}

function renderProblem(problem: Problem, edge: Edge): CallOutput {
  const exit = EXIT[problem.kind]
  if (edge.json) return { stdout: oneLine({ ok: false, problem: forJson(problem) }, edge), stderr: '', exit }
  const problems = [problem, ...(problem.more ?? [])]
  return { stdout: '', stderr: problems.map((one) => forPeople(one, edge)).join(''), exit }
}

const textOf = (said: Said, { say }: Edge): string => (said instanceof Next ? say(said) : said)

function oneLine(value: unknown, edge: Edge): string {
  // A `Next` is text already when a replacer is given the value; what it was is still in its parent.
  return `${JSON.stringify(value, function (this: Record<string, unknown>, key, plainly) {
    const raw = this[key]
    return raw instanceof Next || (key === 'hint' && typeof raw === 'string') ? edge.say(raw) : plainly
  })}\n`
}

/** What a file system refused, wherever it was asked: no bug, and nothing that was acknowledged is lost. */
const REFUSED: Record<string, { code: string; hint: Said }> = {
  ENOSPC: { code: 'disk_full', hint: 'free some disk space, then run the same command again' },
  EDQUOT: { code: 'disk_full', hint: 'free some of your quota, then run the same command again' },
  EROFS: { code: 'not_written', hint: 'make the file system writable, then run the same command again' },
  EACCES: { code: 'not_written', hint: next`check the permissions of .assay: ${call('doctor')}` },
  // Of a file that only repeats what the ledger has.
  EDAMAGED: {
    code: 'snapshot_damaged',
    hint: 'the damaged file is deleted, and nothing is lost: run the same command again',
  },
  EPERM: { code: 'not_written', hint: next`check the permissions of .assay: ${call('doctor')}` },
}

/** The problem behind an error of a system call on a path; null when it is anything else. */
export function refusedByDisk(error: unknown): Problem | null {
  if (!(error instanceof Error)) return null
  const { path, syscall } = error as NodeJS.ErrnoException
  const code = realCode(error)
  const known = REFUSED[code]
  if (known === undefined || syscall === undefined || path === undefined) return null
  return {
    kind: 'failed',
    message:
      code === (error as NodeJS.ErrnoException).code
        ? `a file could not be written or read: ${error.message}`
        : `${path} could not be made: the file system is read-only`,
    ...known,
    at: path,
  }
}

/** Node says ENOENT of a folder, with those above it, that it cannot make on a read-only file system. */
function realCode(error: NodeJS.ErrnoException): string {
  const { code = '', path, syscall } = error
  if (code !== 'ENOENT' || syscall !== 'mkdir' || path === undefined) return code
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    try {
      accessSync(folder, constants.W_OK)
      return code
    } catch (problem) {
      const found = (problem as NodeJS.ErrnoException).code
      if (found !== 'ENOENT' || folder === dirname(folder)) return found === 'EROFS' ? found : code
    }
  }
}

/** A thrown error is a bug in Assay: exit 1, with the stack for the report. */
export function renderBug(error: unknown, json: boolean): CallOutput {
  const message = error instanceof Error ? error.message : String(error)
  const stack = error instanceof Error && error.stack !== undefined ? error.stack : message
  const hint = 'please report it, with the lines on standard error'
  const stdout = json
    ? `${JSON.stringify({ ok: false, problem: { code: 'bug', message: `this is a bug in Assay: ${message}`, hint } })}\n`
    : ''
  return { stdout, stderr: `assay: this is a bug in Assay; ${hint}\n${printable(stack)}\n`, exit: 1 }
}

function forJson({ code, message, hint, at, more, data }: Problem): Record<string, unknown> {
  // JSON.stringify drops what is undefined.
  return { code, message, hint, at, more: more?.map(forJson), data }
}

/** What, where, next step. */
function forPeople({ message, at, hint }: Problem, edge: Edge): string {
  const lines = [`assay: ${indent(message, '  ')}`]
  if (at !== undefined) lines.push(`  at ${indent(at, '     ')}`)
  if (hint !== undefined) lines.push(`  → ${indent(edge.say(hint), '    ')}`)
  return `${printable(lines.join('\n'))}\n`
}

function indent(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`)
}

const EACH_UNSAFE = new RegExp(UNSAFE.source, 'gu')

/** What could repaint a terminal, or show another text than there is, becomes visible escapes; secrets are redacted. */
export function printable(text: string): string {
  return redact(text).replace(EACH_UNSAFE, (character) =>
    character === '\n' || character === '\t' ? character : escapeOf(character),
  )
}

const escapeOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
}

// ----------------------------------------------------------------
// Standard output and standard error without opening Node's streams for them: that costs every command about a tenth of
// the time in which an empty Node starts.

const STREAMS = { stdout: 1, stderr: 2 } as const
export type StreamName = keyof typeof STREAMS

/** Width in columns, null when the stream is no terminal. */
export function terminalWidth(name: StreamName): number | null {
  // The stream is opened only for a character device; files and pipes are most of what programs give us.
  if (!isCharacterDevice(STREAMS[name])) return null
  const stream = process[name]
  return stream.isTTY === true ? (stream.columns ?? 80) : null
}

/**
 * Whether text may carry colour: only on a terminal, and not when `NO_COLOR` has a value (https://no-color.org) or `TERM`
 * is `dumb`. `FORCE_COLOR` replaces the look at the terminal: 0 is no, any other value is yes.
 */
export function wantsColour(
  isTerminal: () => boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return env.TERM !== 'dumb' && isTerminal()
}

function isCharacterDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice()
  } catch {
    // Closed by the caller (`>&-`).
    return false
  }
}

/** Writes all of it before it resolves. A reader that has gone (`| head -1`) is no failure. */
export async function print(name: StreamName, text: string): Promise<void> {
  let rest: Uint8Array = Buffer.from(text)
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(STREAMS[name], rest))
  } catch (error) {
    const code = codeOf(error)
    // Another process made the pipe non-blocking, and it is full: Node's stream waits for room.
    if (code === 'EAGAIN') return printThroughStream(name, rest)
    if (!isGone(code)) throw error
  }
}

function printThroughStream(name: StreamName, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = process[name]
    stream.on('error', (error) => (isGone(codeOf(error)) ? resolve() : reject(error)))
    stream.write(bytes, () => resolve())
  })
}

/** Closed pipe, closed descriptor, closed terminal. */
function isGone(code: unknown): boolean {
  return code === 'EPIPE' || code === 'EBADF' || code === 'EIO'
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
