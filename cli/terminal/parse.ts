/** Arguments → verb and checked values. Pure: all problems in one pass, each with the next step. */

import { parseArgs } from 'node:util'
import { call, next, type Said } from '../next.ts'
import { fail, ok, type Problem, type Result, unreachable } from '../result.ts'
import { closest } from '../spec/words.ts'
import {
  type Flag,
  type Flags,
  type FlagValue,
  GLOBAL_FLAGS,
  INPUT_FLAG,
  type NeededFlag,
  type Parsed,
  type Positional,
  type SubVerb,
  type Verb,
} from './command.ts'

// ---------------------------------------------------------------- one flag's raw text → its checked value

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `raw` is absent when no value was given; `before` is the value of an earlier occurrence. Errors: `bad_value`. */
export function readFlag(
  name: string,
  flag: Flag,
  raw: string | undefined,
  before: FlagValue | undefined,
): Result<FlagValue> {
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
  before: FlagValue | undefined,
): Result<FlagValue> {
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

function readInteger(name: string, flag: Extract<Flag, { type: 'integer' }>, raw: string): Result<FlagValue> {
  const value = Number(raw)
  if (!/^-?\d+$/.test(raw) || value < flag.min || value > flag.max) {
    return fail(bad(`--${name} cannot be "${raw}"`, `a whole number from ${flag.min} to ${flag.max}`))
  }
  return ok(value)
}

function readDuration(
  name: string,
  flag: Extract<Flag, { type: 'duration' }>,
  raw: string,
): Result<FlagValue> {
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

/** The verbs that there are, and names of those that a later release has. */
export interface Table {
  verbs: readonly Verb[]
  later: readonly string[]
}

/** What the arguments ask for. `help` without a verb is the overview. */
export type Request =
  | { ask: 'version' }
  | { ask: 'help'; verb: Verb | null; sub: SubVerb | null }
  | { ask: 'run'; verb: Verb; args: Parsed }

/** How to answer, known even when the rest of the arguments does not hold. */
export interface Manners {
  json: boolean
  quiet: boolean
  colour: boolean
}

export function readManners(argv: readonly string[]): Manners {
  const end = argv.indexOf('--')
  const flags = new Set(end === -1 ? argv : argv.slice(0, end))
  return {
    json: flags.has('--json'),
    quiet: flags.has('--quiet') || flags.has('-q'),
    colour: !flags.has('--no-color'),
  }
}

/** Errors: `usage` problems `unknown_verb`, `comes_later`, `unknown_flag`, `bad_value`, `missing_argument`, `unexpected_argument`. */
export function parse(argv: readonly string[], table: Table): Result<Request> {
  const at = verbIndex(argv)
  if (at === null) return parseWithoutVerb(argv)
  const name = argv[at] ?? ''
  const rest = [...argv.slice(0, at), ...argv.slice(at + 1)]
  if (name === 'help') return parseHelp(rest, table)
  const verb = table.verbs.find((candidate) => candidate.name === name)
  if (verb === undefined) return fail(unknownVerb(name, table))
  return parseVerb(verb, rest)
}

function parseVerb(verb: Verb, rest: string[]): Result<Request> {
  const chosen = chooseSub(verb, rest)
  if (!chosen.ok) return chosen
  const { sub, argv } = chosen.value
  const shape = sub ?? verb
  const input = shape.stdin === undefined ? {} : INPUT_FLAG
  const flags: Flags = { ...GLOBAL_FLAGS, ...input, ...shape.flags }
  const read = readTokens(argv, flags, usageName(verb, sub))
  const { values, positionals, problems } = read
  if (values.get('help') === true) return ok({ ask: 'help', verb, sub })
  // The value of a flag that we do not know looks like an argument too many, and the flag that was meant looks missing: one
  // mistake, one problem.
  const known = problems.every((problem) => problem.code !== 'unknown_flag')
  problems.push(
    ...countPositionals(positionals, shape.positionals, verb, sub, known),
    ...(known ? whatIsNeeded(read, verb, sub) : []),
  )
  const [first, ...more] = problems
  if (first !== undefined) return fail(more.length === 0 ? first : { ...first, more })
  return ok({ ask: 'run', verb, args: toParsed(verb, sub, positionals, flags, values) })
}

/** A sub-verb is the first argument after its verb; a verb that has some needs one, unless it may stand alone, or to ask for help. */
function chooseSub(verb: Verb, rest: string[]): Result<{ sub: SubVerb | null; argv: string[] }> {
  if (verb.subs === undefined) return ok({ sub: null, argv: rest })
  const at = verbIndex(rest)
  const name = at === null ? undefined : rest[at]
  const names = verb.subs.map((sub) => sub.name)
  if (at === null || name === undefined) {
    if (verb.alone || rest.includes('--help') || rest.includes('-h')) return ok({ sub: null, argv: rest })
    return fail(
      usage(
        'missing_argument',
        `assay ${verb.name} needs one of: ${names.join(', ')}`,
        next`${call(verb.name, '--help')}`,
      ),
    )
  }
  const sub = verb.subs.find((candidate) => candidate.name === name)
  if (sub !== undefined) return ok({ sub, argv: [...rest.slice(0, at), ...rest.slice(at + 1)] })
  const meant = closest(name, names)
  const hint =
    meant === null ? `one of: ${names.join(', ')}` : next`did you mean: ${call(`${verb.name} ${meant}`)}?`
  return fail(usage('unknown_verb', `assay ${verb.name} has no "${name}"`, hint))
}

interface Tokens {
  values: Map<string, FlagValue>
  positionals: string[]
  /** Flags whose value was refused. */
  refused: Set<string>
  problems: Problem[]
}

function readTokens(argv: string[], flags: Flags, command: string): Tokens {
  const { tokens } = parseArgs({
    args: argv,
    options: toOptions(flags),
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const read: Tokens = { values: new Map(), positionals: [], refused: new Set(), problems: [] }
  for (const token of tokens) {
    if (token.kind === 'positional') read.positionals.push(token.value)
    if (token.kind !== 'option') continue
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined
    if (flag === undefined) {
      read.problems.push(unknownFlag(token.rawName, flags, command))
      continue
    }
    const swallowed = token.inlineValue === false && token.value !== undefined && isFlag(token.value, flags)
    const raw = swallowed ? undefined : token.value
    const outcome = readFlag(token.name, flag, raw, read.values.get(token.name))
    if (outcome.ok) read.values.set(token.name, outcome.value)
    else {
      read.refused.add(token.name)
      read.problems.push(outcome.problem)
    }
  }
  return read
}

function toOptions(
  flags: Flags,
): Record<string, { type: 'boolean' | 'string'; short?: string; multiple: boolean }> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      {
        type: flag.type === 'boolean' ? ('boolean' as const) : ('string' as const),
        multiple: true,
        ...(flag.short === undefined ? {} : { short: flag.short }),
      },
    ]),
  )
}

/** `--parent --json`: the value was forgotten, it is not the text "--json". */
function isFlag(text: string, flags: Flags): boolean {
  return text.startsWith('--') && Object.hasOwn(flags, text.slice(2))
}

/** The first argument that is neither a flag nor the value of a global flag. */
function verbIndex(argv: readonly string[]): number | null {
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? ''
    if (argument === '--') return null
    if (!argument.startsWith('-')) return index
    const flag = Object.hasOwn(GLOBAL_FLAGS, argument.slice(2)) ? GLOBAL_FLAGS[argument.slice(2)] : undefined
    if (argument.startsWith('--') && flag !== undefined && flag.type !== 'boolean') index++
  }
  return null
}

function parseWithoutVerb(argv: readonly string[]): Result<Request> {
  if (argv.includes('--version') || argv.includes('-v')) return ok({ ask: 'version' })
  const { problems } = readTokens([...argv], GLOBAL_FLAGS, 'assay')
  const [first, ...more] = problems
  if (first !== undefined) return fail({ ...first, ...(more.length === 0 ? {} : { more }) })
  return ok({ ask: 'help', verb: null, sub: null })
}

function parseHelp(rest: readonly string[], table: Table): Result<Request> {
  const at = verbIndex(rest)
  const name = at === null ? undefined : rest[at]
  if (name === undefined) return ok({ ask: 'help', verb: null, sub: null })
  const verb = table.verbs.find((candidate) => candidate.name === name)
  return verb === undefined ? fail(unknownVerb(name, table)) : ok({ ask: 'help', verb, sub: null })
}

function countPositionals(
  given: string[],
  wanted: readonly Positional[],
  verb: Verb,
  sub: SubVerb | null,
  refuseExtra: boolean,
): Problem[] {
  const name = usageName(verb, sub)
  const hint = `example: ${(sub ?? verb).example}`
  const missing = wanted.slice(given.length).filter((positional) => positional.required)
  const extra = refuseExtra && wanted.at(-1)?.many !== true ? given.slice(wanted.length) : []
  return [
    ...missing.map((positional) => usage('missing_argument', `${name} needs ${positional.name}`, hint)),
    ...extra.map((text) => usage('unexpected_argument', `${name} does not take "${text}"`, hint)),
  ]
}

/** Needed flags that are missing, and what is blank where a text is needed. A flag that was refused already is not missing. */
function whatIsNeeded({ values, positionals, refused }: Tokens, verb: Verb, sub: SubVerb | null): Problem[] {
  const shape = sub ?? verb
  const missing = ({ code, what, hint }: NeededFlag): Problem =>
    usage(code, `${usageName(verb, sub)} needs ${what}`, hint ?? `example: ${shape.example}`)
  const isBlank = (value: FlagValue | undefined) => typeof value === 'string' && value.trim() === ''
  return [
    ...Object.entries(shape.flags).flatMap(([name, { needed }]) => {
      const value = values.get(name)
      const lacks = (value === undefined && !refused.has(name)) || isBlank(value)
      return needed !== undefined && lacks ? [missing(needed)] : []
    }),
    ...shape.positionals.flatMap(({ needed }, at) =>
      needed !== undefined && isBlank(positionals[at]) ? [missing(needed)] : [],
    ),
  ]
}

function usageName(verb: Verb, sub: SubVerb | null): string {
  return `assay ${verb.name}${sub === null ? '' : ` ${sub.name}`}`
}

const LIST = 'assay --help lists the verbs'

function unknownVerb(name: string, { verbs, later }: Table): Problem {
  if (later.includes(name)) {
    return usage('comes_later', `assay ${name} comes later: it is not part of this release`, LIST)
  }
  const meant = closest(
    name,
    verbs.map((verb) => verb.name),
  )
  return usage(
    'unknown_verb',
    `there is no verb "${name}"`,
    meant === null ? LIST : next`did you mean: ${call(meant)}?`,
  )
}

function unknownFlag(rawName: string, flags: Flags, command: string): Problem {
  const meant = rawName.startsWith('--') ? closest(rawName.slice(2), Object.keys(flags)) : null
  return usage(
    'unknown_flag',
    `${command} has no flag ${rawName}`,
    meant === null ? `${command} --help lists its flags` : `did you mean --${meant}?`,
  )
}

function toParsed(
  verb: Verb,
  sub: SubVerb | null,
  positionals: string[],
  flags: Flags,
  values: Map<string, FlagValue>,
): Parsed {
  const get = (name: string, type: Flag['type'], repeat = false): FlagValue | undefined => {
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    const repeats = flag?.type === 'string' && flag.repeat === true
    if (flag?.type !== type || repeats !== repeat)
      throw new Error(`${verb.name} has no ${type} flag --${name}`)
    return values.get(name)
  }
  const text = (name: string) => (get(name, 'string') as string | undefined) ?? null
  return {
    verb: verb.name,
    sub: sub?.name ?? null,
    positionals,
    flags: Object.fromEntries(
      Object.entries((sub ?? verb).flags).map(([name, flag]) => [name, values.get(name) ?? absent(flag)]),
    ),
    // A verb may have a flag of its own with this name.
    run: flags.run === GLOBAL_FLAGS.run ? ((values.get('run') as string | undefined) ?? null) : null,
    key: (values.get('key') as string | undefined) ?? null,
    json: values.get('json') === true,
    on: (name) => get(name, 'boolean') === true,
    text,
    integer: (name) => (get(name, 'integer') as number | undefined) ?? null,
    duration: (name) => (get(name, 'duration') as number | undefined) ?? null,
    list: (name) => (get(name, 'string', true) as string[] | undefined) ?? [],
  }
}

function absent(flag: Flag): FlagValue | null {
  if (flag.type === 'boolean') return false
  return flag.type === 'string' && flag.repeat === true ? [] : null
}

function usage(code: string, message: string, hint: Said): Problem {
  return { kind: 'usage', code, message, hint }
}
