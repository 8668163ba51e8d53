import { parseDocument } from 'yaml'
import type { Knobs } from '../ledger/events.ts'
import { fail, ok, type Result } from '../result.ts'
import { problemOf } from './diagnose.ts'
import type { Key } from './kind.ts'
import { SPEC } from './schema.ts'
import type { Spec } from './spec.ts'
import { walk } from './walk.ts'
import { closest } from './words.ts'

type Knob = keyof Knobs

/** Where each live knob stands in a spec. */
export const KNOB_PATHS: Readonly<Record<Knob, string>> = {
  max_attempts: 'search.max_attempts',
  policy: 'search.policy',
  k: 'search.k',
  width: 'loop.width',
  depth: 'loop.depth',
  stall: 'loop.stall',
  revise: 'loop.revise',
  ideate_stall: 'loop.ideate.stall',
  ideate_keeps: 'loop.ideate.keeps',
  scan_batch: 'loop.scan.batch',
  scan_max: 'loop.scan.max',
  experiments: 'budget.experiments',
  hours: 'budget.hours',
  failures: 'budget.failures',
  tokens: 'budget.tokens',
  usd: 'budget.usd',
  unknown: 'budget.unknown',
}

export function knobsOf({ search, loop, budget }: Spec): Knobs {
  return {
    max_attempts: search.max_attempts,
    policy: search.policy,
    k: search.k,
    width: loop.width,
    depth: loop.depth,
    stall: loop.stall,
    revise: loop.revise,
    ideate_stall: loop.ideate.stall,
    ideate_keeps: loop.ideate.keeps,
    scan_batch: loop.scan.batch,
    scan_max: loop.scan.max,
    experiments: budget.experiments,
    hours: budget.hours,
    failures: budget.failures,
    tokens: budget.tokens,
    usd: budget.usd,
    unknown: budget.unknown,
  }
}

/**
 * One change of a knob, under the bounds that the spec has. `name` is the knob (`width`) or its place in the spec
 * (`loop.width`); the text `none` takes a cap away. Fails with `knob_unknown` or `knob_invalid`.
 */
export function readKnob(name: string, text: string): Result<Partial<Knobs>> {
  const names = Object.keys(KNOB_PATHS) as Knob[]
  const knob = names.find((one) => one === name || KNOB_PATHS[one] === name)
  if (knob === undefined) {
    const near = closest(name, [...names, ...Object.values(KNOB_PATHS)])
    const message = `\`${name}\` is not a knob that may change while a run lives`
    const hint = near === null ? `the knobs are: ${names.join(', ')}` : `did you mean \`${near}\`?`
    return fail({ kind: 'usage', code: 'knob_unknown', message, hint })
  }
  const key = keyAt(KNOB_PATHS[knob])
  if (key.presence === 'optional' && text.trim() === 'none') return ok({ [knob]: null })
  if (text.length > 200)
    return fail({
      kind: 'usage',
      code: 'knob_invalid',
      message: `the value of \`${knob}\` is too long`,
      hint: 'write one word or number',
    })
  const document = parseDocument(text, { prettyErrors: false })
  const { value, issues } = walk(key.kind, document, text)
  const [issue] = issues
  if (document.errors.length === 0 && issue === undefined) return ok({ [knob]: value })
  const whole = { from: 0, to: text.length, message: 'it is not a value', hint: 'write one word or number' }
  const problem = problemOf({ text, file: knob }, [issue ?? whole], 'knob_invalid')
  return fail({ ...problem, message: problem.message.replace('the spec', `\`${knob}\``) })
}

function keyAt(path: string): Key {
  let kind = SPEC as Key['kind']
  let key: Key | undefined
  for (const step of path.split('.')) {
    key = kind.is === 'keys' ? kind.keys[step] : undefined
    if (key === undefined) throw new Error(`the schema has no ${path}`)
    kind = key.kind
  }
  if (key === undefined) throw new Error('an empty path')
  return key
}
