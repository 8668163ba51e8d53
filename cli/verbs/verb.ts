/** What most verbs share: they open a run, read checked arguments and perhaps one JSON object, make one call and describe its answer. */

import { isRecord } from '../json.ts'
import type { Experiment } from '../ledger/state.ts'
import { placeOfTask } from '../ledger/task-id.ts'
import type { Said } from '../next.ts'
import { isExperimentId } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { nodeFor, type OpenRun, openRun } from '../run/open.ts'
import type { Context, Parsed, VerbAnswer, VerbModule } from '../terminal/command.ts'
import { textsOf } from '../text.ts'
import { fromCommandLine } from '../workflow/input.ts'
import type { VerbEntry } from './table.ts'

// ---------------------------------------------------------------- a verb that makes one call on a run and says what came of it

/** Name and entry of each verb, and of each sub-verb in place of its verb: `prune`, `gate add`. */
type Named<E = VerbEntry> = E extends { name: infer V extends string }
  ? E extends { subs: readonly (infer S)[] }
    ? S extends { name: infer N extends string }
      ? [`${V} ${N}`, S]
      : never
    : [V, E]
  : never
export type VerbName = Named[0]
type Shape<N extends VerbName> = Extract<Named, [N, unknown]>[1]

type ValueOf<F> = F extends { type: 'boolean' }
  ? boolean
  : F extends { repeat: true }
    ? string[]
    : Given<F> | (F extends { needed: object } ? never : null)
type Words<P extends readonly unknown[]> = {
  readonly [At in keyof P]: P[At] extends { required: true } ? string : string | undefined
}
type Given<F> = F extends { choices: readonly (infer C)[] }
  ? C
  : F extends { type: 'string' }
    ? string
    : number

/** What a call gave, typed by the table. `input` is what `reads` made of the rest. */
export interface Asked<N extends VerbName, I> {
  flags: { readonly [F in keyof Shape<N>['flags']]: ValueOf<Shape<N>['flags'][F]> }
  positionals: Words<Shape<N>['positionals']>
  /** `--key`. */
  key: string | null
  input: I
}

interface Made<N extends VerbName, D extends object, I> {
  /** What it needs from the call in addition to its flags, such as standard input. */
  reads?: (context: Context, args: Parsed) => Result<I> | Promise<Result<I>>
  run: (run: OpenRun, call: Asked<N, I>, context: Context) => Result<D> | Promise<Result<D>>
  /** For people. `data` is what `--json` answers. */
  say: (data: D, call: Asked<N, I>) => Said | Said[]
  exit?: (data: D) => number
}

/** A verb in three parts: what it reads, what it does with the run, what it says. */
export function verb<N extends VerbName, D extends object, I = undefined>(
  name: N,
  { reads, run, say, exit }: Made<N, D, I>,
): VerbModule & { name: N } {
  const runVerb = async (context: Context, args: Parsed): Promise<Result<VerbAnswer>> => {
    const opened = theRun(context, args)
    if (!opened.ok) return opened
    const input = reads === undefined ? ok(undefined) : await reads(context, args)
    if (!input.ok) return input
    const { flags, positionals, key } = args
    // The parser has checked them against the entry that gives them these types.
    const call = { flags, positionals, key, input: input.value } as unknown as Asked<N, I>
    const done = await run(opened.value, call, context)
    if (!done.ok) return done
    const data = done.value
    return ok({ data, text: () => say(data, call), ...(exit === undefined ? {} : { exit: exit(data) }) })
  }
  return { name, run: runVerb }
}

/** Which run a call means: see `openRun`. */
export const theRun = (context: Context, args: Parsed): Result<OpenRun> =>
  openRun(context, args.run, {
    key: args.key,
    token: typeof args.flags.token === 'string' ? args.flags.token : null,
    ids: [...args.positionals, ...Object.values(args.flags)].filter(
      (word) => typeof word === 'string' && (isExperimentId(word) || placeOfTask(word) !== null),
    ) as string[],
  })

type OnRun = (
  run: OpenRun,
  args: Parsed,
  context: Context,
) => Result<VerbAnswer> | Promise<Result<VerbAnswer>>

/** A verb that works on the run which the call means, and makes its answer itself. */
export const onRun =
  (work: OnRun): VerbModule['run'] =>
  async (context, args) => {
    const opened = theRun(context, args)
    return opened.ok ? work(opened.value, args, context) : opened
  }

/** The same of one that works on the experiment of its first positional. */
export const onExperiment = (
  work: (run: OpenRun, node: Experiment, ...rest: [Parsed, Context]) => ReturnType<OnRun>,
): VerbModule['run'] =>
  onRun((run, args, context) => {
    const node = nodeFor(run, idOf(args))
    return node.ok ? work(run, node.value, args, context) : node
  })

/** The positional ID. */
export function idOf(args: Parsed): string {
  const [id] = args.positionals
  if (id === undefined) throw new Error(`${args.verb} has no ID`)
  return id
}

// ---------------------------------------------------------------- one JSON object

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
  return isRecord(value) ? ok(value) : badInput(`${from} is not a JSON object`, shape)
}

export function badInput(message: string, shape: string): { ok: false; problem: Problem } {
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
    if (!isRecord(item)) return badInput(`${field}[${index}] is not an object`, shape)
    const value = read(item)
    if (typeof value === 'string') return badInput(`${field}[${index}]: ${value}`, shape)
    found.push(value)
  }
  return ok(found)
}

export const textField = (item: Record<string, unknown>, name: string): string | null =>
  typeof item[name] === 'string' ? (item[name] as string) : null

export const textsField = (item: Record<string, unknown>, name: string): string[] => textsOf(item[name])
