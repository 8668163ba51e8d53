import { execute } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import type { AgentReply, CallUsage } from './call.ts'
import { fromCommandLine } from './input.ts'

export interface ClerkCommand {
  /** Without `assay` itself: verb, arguments, flags. */
  argv: string[]
  /** One line of JSON for stdin. */
  input: string | null
}

/** A clerk's command answers within 90 s; what takes longer than this hangs. */
const LIMIT_MS = 120_000

const FORM =
  "the prompt of a clerk is exactly one fenced sh block: assay VERB … --json, its input as --input '{…}', or <<'ASSAY', one line of JSON, ASSAY"

/**
 * Reads the one form in which a script may call the CLI. Nothing is expanded: a word is plain, or in single quotes; any
 * other character of the shell is refused.
 */
export function parseClerk(prompt: string): Result<ClerkCommand> {
  const match =
    /^```sh\n(?<plain>assay [^\n]*)\n```$/.exec(prompt.trim()) ??
    /^```sh\n(?<fed>assay [^\n]*) <<'ASSAY'\n(?<input>[^\n]*)\nASSAY\n```$/.exec(prompt.trim())
  const line = match?.groups?.plain ?? match?.groups?.fed
  if (line === undefined) return refuse(FORM)
  const words = splitWords(line)
  if (!words.ok) return words
  const [, verb, ...all] = words.value
  if (verb === undefined || !/^[a-z]+$/.test(verb)) return refuse('a verb must follow assay')
  const at = all.indexOf('--input')
  const args = at === -1 ? all : all.toSpliced(at, 2)
  if (!args.includes('--json')) return refuse('--json is missing')
  // The system bounds the length of an argument, but not what is fed.
  const input = match?.groups?.input ?? (at === -1 ? null : fromCommandLine(all[at + 1] ?? ''))
  if (input !== null && !isJson(input)) return refuse('the input is not one line of JSON')
  return ok({ argv: [verb, ...args], input })
}

function splitWords(line: string): Result<string[]> {
  const words: string[] = []
  let rest = line
  while (rest !== '') {
    const match = /^(?:'(?<quoted>[^']*)'|(?<plain>[\w./:=@%+,-]+))(?: +|$)/.exec(rest)
    if (match === null) return refuse(`cannot read the command at: ${rest.slice(0, 40)}`)
    words.push(match.groups?.quoted ?? match.groups?.plain ?? '')
    rest = rest.slice(match[0].length)
  }
  return ok(words)
}

export interface ClerkOptions {
  /** This CLI's own entry. */
  entry: string
  cwd: string
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/**
 * Runs the command by this CLI's own entry, without a shell. `text` is its one line of JSON; when it printed none, a line
 * of the same shape that says why. `exit` is null when a signal ended it; `killed` when that signal was not ours.
 */
export async function runClerk(
  command: ClerkCommand,
  options: ClerkOptions,
): Promise<{ text: string; exit: number | null; killed: boolean }> {
  const done = await execute({
    argv: [process.execPath, options.entry, ...command.argv],
    cwd: options.cwd,
    env: options.env,
    timeoutMs: LIMIT_MS,
    signal: options.signal,
    ...(command.input === null ? {} : { input: `${command.input}\n` }),
  })
  const killed = done.signal !== null && !done.timedOut && !done.cancelled
  const lines = done.stdout.toString().trimEnd().split('\n')
  const last = lines.at(-1) ?? ''
  if (isJson(last)) return { text: last, exit: done.code, killed }
  const why = done.startError?.message ?? lastLine(done.stderr.toString())
  const how = done.timedOut ? `no answer within ${LIMIT_MS / 1000} s` : `exit ${done.code ?? done.signal}`
  const problem = {
    code: 'no_answer',
    message: `assay ${command.argv[0] ?? ''} printed no JSON (${how})${why === '' ? '' : `: ${why}`}`,
  }
  return { text: JSON.stringify({ ok: false, problem }), exit: done.code, killed }
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1)?.slice(0, 500) ?? ''

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function refuse(message: string) {
  return fail({ kind: 'usage', code: 'bad_clerk_prompt', message, hint: FORM })
}

/** Whether it begins a round or a lane; everything else finishes what was begun. */
export function startsWork(prompt: string): boolean {
  const command = parseClerk(prompt)
  if (!command.ok) return false
  const [verb, sub] = command.value.argv
  return verb === 'new' || (verb === 'round' && sub === 'open')
}

const TRIES = 3
const FREE: CallUsage = { tokens_in: 0, tokens_out: 0, usd: 0 }

/** A command's line of JSON. Killed by someone (a machine without memory, say), it says nothing of its verb, so it runs again: all verbs may be repeated. */
export async function lineOf(command: ClerkCommand, options: ClerkOptions): Promise<string> {
  let answer = await runClerk(command, options)
  for (let tries = 1; answer.killed && tries < TRIES; tries++) answer = await runClerk(command, options)
  return answer.text
}

/** A clerk's call: its prompt is a command of this CLI. */
export async function askClerk(prompt: string, options: ClerkOptions): Promise<AgentReply> {
  const command = parseClerk(prompt)
  if (!command.ok) return { outcome: 'error', message: command.problem.message }
  return { outcome: 'ok', text: await lineOf(command.value, options), usage: FREE }
}
