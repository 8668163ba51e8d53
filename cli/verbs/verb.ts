/** What most verbs begin with: the run, and one JSON object. */
import { fail, ok, type Result } from '../result.ts'
import { type OpenRun, openRun } from '../run/open.ts'
import type { Context, Parsed } from '../terminal/command.ts'
import { fromCommandLine } from '../text.ts'

export const theRun = (context: Context, args: Parsed): Result<OpenRun> => openRun(context, args.run)

/** The positional ID. */
export function idOf(args: Parsed): string {
  const [id] = args.positionals
  if (id === undefined) throw new Error(`${args.verb} has no ID`)
  return id
}

/** One JSON object from `--input`, else from standard input. `shape` is how it should look, for the message. */
export async function readInput(
  context: Context,
  args: Parsed,
  shape: string,
): Promise<Result<Record<string, unknown>>> {
  const given = args.text('input')
  const [text, from] =
    given === null ? [await context.stdin(), 'standard input'] : [fromCommandLine(given), '--input']
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return badInput(
      text.trim() === '' ? `${from} is empty` : `${from} is not JSON: ${(error as Error).message}`,
      shape,
    )
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return badInput(`${from} is not a JSON object`, shape)
  return ok(value as Record<string, unknown>)
}

export function badInput(
  message: string,
  shape: string,
): { ok: false; problem: import('../result.ts').Problem } {
  return fail({ kind: 'usage', code: 'bad_input', message, hint: `it must look like ${shape}` })
}

/** A field that must be a list of objects; each is read by `read`, which answers text when it does not hold. */
export function listOf<T>(
  input: Record<string, unknown>,
  field: string,
  shape: string,
  read: (item: Record<string, unknown>) => T | string,
): Result<T[]> {
  const list = input[field]
  if (!Array.isArray(list)) return badInput(`"${field}" is missing or not a list`, shape)
  const found: T[] = []
  for (const [index, item] of list.entries()) {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      return badInput(`${field}[${index}] is not an object`, shape)
    const value = read(item as Record<string, unknown>)
    if (typeof value === 'string') return badInput(`${field}[${index}]: ${value}`, shape)
    found.push(value)
  }
  return ok(found)
}

export const textField = (item: Record<string, unknown>, name: string): string | null =>
  typeof item[name] === 'string' ? (item[name] as string) : null

export const textsField = (item: Record<string, unknown>, name: string): string[] =>
  Array.isArray(item[name])
    ? (item[name] as unknown[]).filter((one): one is string => typeof one === 'string')
    : []

// ---------------------------------------------------------------- decisions that others have to understand later need a reason

export function reasonOf(args: Parsed, example: string): Result<string> {
  const reason = args.text('reason')
  if (reason !== null && reason.trim() !== '') return ok(reason)
  return fail({
    kind: 'usage',
    code: 'no_reason',
    message: `${args.verb}${args.sub === null ? '' : ` ${args.sub}`} needs a reason, which the ledger keeps`,
    hint: `example: ${example}`,
  })
}

/** The positional TEXT at `index`, when it says something. */
export function textAt(args: Parsed, index: number): string | null {
  const text = args.positionals[index]
  return text === undefined || text.trim() === '' ? null : text
}
