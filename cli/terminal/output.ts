/** The output contract: how a result of a verb becomes lines and an exit code. */
import { accessSync, constants } from 'node:fs'
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
