/** One flag's raw text → its checked value. */
import { fail, ok, type Problem, type Result, unreachable } from '../result.ts'
import { closest } from '../spec/words.ts'
import type { Flag, Flags } from './command.ts'

/** A duration is in milliseconds. */
export type Value = boolean | string | number | string[]

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `raw` is absent when no value was given; `before` is the value of an earlier occurrence. Errors: `bad_value`. */
export function readFlag(
  name: string,
  flag: Flag,
  raw: string | undefined,
  before: Value | undefined,
): Result<Value> {
  if (flag.type === 'boolean') {
    return raw === undefined ? ok(true) : fail(bad(`--${name} takes no value`, `write just --${name}`))
  }
  if (raw === undefined) return fail(bad(`--${name} needs a value`, `write --${name} ${flag.value}`))
  const repeats = flag.type === 'string' && flag.repeat === true
  if (before !== undefined && !repeats) {
    return fail(bad(`--${name} is given twice`, 'give it once'))
  }
  switch (flag.type) {
    case 'string':
      return readString(name, flag, raw, before)
    case 'integer':
      return readInteger(name, flag, raw)
    case 'duration':
      return readDuration(name, flag, raw)
    default:
      return unreachable(flag)
  }
}

function readString(
  name: string,
  flag: Extract<Flag, { type: 'string' }>,
  raw: string,
  before: Value | undefined,
): Result<Value> {
  if (raw === '') return fail(bad(`--${name} is empty`, `write --${name} ${flag.value}`))
  if (flag.choices !== undefined && !flag.choices.includes(raw)) {
    const meant = closest(raw, flag.choices)
    const choices = `one of: ${flag.choices.join(', ')}`
    return fail(
      bad(`--${name} cannot be "${raw}"`, meant === null ? choices : `did you mean ${meant}? (${choices})`),
    )
  }
  if (flag.repeat !== true) return ok(raw)
  return ok([...(Array.isArray(before) ? before : []), raw])
}

function readInteger(name: string, flag: Extract<Flag, { type: 'integer' }>, raw: string): Result<Value> {
  const value = Number(raw)
  if (!/^-?\d+$/.test(raw) || value < flag.min || value > flag.max) {
    return fail(bad(`--${name} cannot be "${raw}"`, `a whole number from ${flag.min} to ${flag.max}`))
  }
  return ok(value)
}

function readDuration(name: string, flag: Extract<Flag, { type: 'duration' }>, raw: string): Result<Value> {
  const value = parseDuration(raw)
  const max = parseDuration(flag.max)
  if (max === null) throw new Error(`--${name}: the table has the bound "${flag.max}"`)
  if (value === null || value > max) {
    return fail(
      bad(`--${name} cannot be "${raw}"`, `a time up to ${flag.max}, for example 90s, 5m or 1500ms`),
    )
  }
  return ok(value)
}

/** Milliseconds, null when it is not a time. */
function parseDuration(text: string): number | null {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  const factor = unit === undefined ? undefined : UNITS[unit]
  return amount === undefined || factor === undefined ? null : Number(amount) * factor
}

function bad(message: string, hint: string): Problem {
  return { kind: 'usage', code: 'bad_value', message, hint }
}

/** Understood before and after every verb. */
export const GLOBAL_FLAGS: Flags = {
  json: { type: 'boolean', summary: 'answer with one line of JSON on standard output' },
  quiet: { type: 'boolean', short: 'q', summary: 'no progress on standard error' },
  help: { type: 'boolean', short: 'h', summary: 'explain the verb, with an example' },
  run: { type: 'string', value: 'RUN', summary: 'the run to use; default: the only active one' },
  key: { type: 'string', value: 'K', summary: 'repeating a call with the same key returns the first answer' },
  'no-color': { type: 'boolean', summary: 'no colours (so does NO_COLOR)' },
}

/** Added to the flags of every verb that reads standard input. */
export const INPUT_FLAG: Flags = {
  input: {
    type: 'string',
    value: 'JSON',
    summary:
      'in place of standard input; in a shell: in single quotes, %27 is an apostrophe, %25 a percent sign',
  },
}
