import type { Knobs } from '../ledger/events.ts'
import type { Spec } from './spec.ts'

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
  judge_usd: 'budget.judge_usd',
  unknown: 'budget.unknown',
  briefs: 'loop.briefs',
  targets: 'targets',
  dependencies: 'dependencies.approved',
}

/** What a spec does not use is absent. */
export function knobsOf({ search, loop, budget, dependencies, targets, executor }: Spec): Knobs {
  return {
    max_attempts: search.max_attempts,
    policy: search.policy,
    k: search.k,
    // A lane waits for its job, so fewer lanes would leave nodes idle.
    width: Math.max(loop.width, executor?.jobs ?? 1),
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
    ...(budget.judge_usd === undefined ? {} : { judge_usd: budget.judge_usd }),
    unknown: budget.unknown,
    ...(loop.briefs === undefined ? {} : { briefs: loop.briefs }),
    ...(targets === undefined ? {} : { targets }),
    ...(dependencies === undefined ? {} : { dependencies: dependencies.approved }),
  }
}

/** The knob of this name (`width`) or place in the spec (`loop.width`). */
export const knobNamed = (name: string): Knob | null =>
  (Object.keys(KNOB_PATHS) as Knob[]).find((one) => one === name || KNOB_PATHS[one] === name) ?? null
