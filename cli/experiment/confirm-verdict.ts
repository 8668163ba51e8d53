/** What the fresh samples of a second look say of a kept experiment. */
import { incomparable } from '../evaluate/comparable.ts'
import { breakTie, compareDeterministic } from '../evaluate/compare.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { foremost, inWords, isCandidates, type Objection } from '../evaluate/crowd.ts'
import { figure } from '../evaluate/figure.ts'
import { regressions } from '../evaluate/protected.ts'
import type { Comparison, Confirmed, Sample, SampleFault } from '../ledger/events.ts'
import { type Experiment, lastJudged, nodeValue } from '../ledger/state.ts'
import type { OpenRun } from '../run/open.ts'
import { doubtOn } from './clocks.ts'
import type { StageAnswer } from './pairs.ts'
import { baselineSample } from './samples.ts'
import { steadyBreakers } from './ties.ts'

export interface Compared {
  run: OpenRun
  node: Experiment
  /** What it is compared with. */
  other: Experiment
}

/** As the event has it. */
export type Again = Pick<
  Confirmed,
  'passed' | 'value' | 'comparison' | 'samples' | 'differences' | 'varied'
> & {
  message: string
}

/** Nothing else than a crowd speaks against it, and so nothing can be said; a clause. */
export interface Spoilt {
  crowd: string
}

export const spoiltBy = (found: Objection | undefined): Spoilt | null =>
  found?.crowd === undefined ? null : { crowd: inWords(found) }

/** Why a sample of the experiment cannot be compared with the baseline's; null when it can. */
export function mismatch(run: OpenRun, sample: Sample): SampleFault | null {
  const message = incomparable(baselineSample(run), sample)
  return message === null ? null : { reason: 'metric_error', message }
}

/** Something else than the comparison speaks against it. */
export function against({ other }: Compared, because: string, samples: number): Again {
  const comparison: Comparison = {
    outcome: 'not_better',
    against: other.id,
    improvement: null,
    improvement_abs: 0,
    interval: null,
    inputs: { rule: 'none', because },
  }
  return { passed: false, value: null, comparison, samples, message: `not confirmed: ${because}` }
}

/** What is better, and is not to stand all the same. */
export const refusedFor = (found: Again, because: string): Again => ({
  ...found,
  passed: false,
  comparison: { ...found.comparison, ...NOT_BETTER },
  message: `not confirmed: ${because}`,
})

const NOT_BETTER = { outcome: 'not_better' } as const
const UNCLEAR = { outcome: 'inconclusive' } as const

/** Pairs of both: the comparison, and what else a verdict would have asked of them. */
export function weigh({ run, node, other }: Compared, answer: StageAnswer): Again | Spoilt {
  const { comparison, score, differences, candidate, other: theirs } = answer
  const { name } = run.spec.metric
  const found = foremost([
    ...checkConstraints(run.spec.constraints, candidate),
    ...regressions(run.spec.protected, candidate, theirs),
  ])
  const violated = found && isCandidates(found) ? found : null
  const { outcome } = comparison
  const tie = outcome === 'tie' && lastJudged(node)?.reason === 'tie_broken'
  const pairs = `${candidate.length} pairs`
  const percent = describe(comparison.improvement)
  const objection =
    violated?.message ??
    (outcome === 'improved' || tie
      ? null
      : `${name} against ${other.id} in ${pairs}${percent}, which is ${outcome === 'inconclusive' ? 'not clear' : outcome.replaceAll('_', ' ')}${repeated(comparison)}`)
  const spoilt = objection === null ? spoiltBy(found) : null
  if (spoilt) return spoilt
  const doubt = objection === null ? doubtOn(run, [answer]) : null
  const against = objection ?? doubt
  return {
    passed: against === null,
    value: score,
    // What is in doubt stands, and stays in doubt.
    comparison: { ...comparison, ...(violated ? NOT_BETTER : doubt === null ? {} : UNCLEAR) },
    samples: 2 * candidate.length,
    differences: { confirm: differences },
    message: against === null ? `better than ${other.id} in ${pairs}${percent}` : `not confirmed: ${against}`,
  }
}

/** Why more was asked than of an earlier look, as an aside; empty for the first one. */
const repeated = ({ inputs: { look } }: Comparison): string =>
  typeof look === 'number'
    ? ` (look ${look} at these two, which takes more evidence than the first: assay guide verdict)`
    : ''

export function judge(
  compared: Compared,
  samples: readonly Sample[],
  values: readonly (number | null)[],
): Again | Spoilt {
  const { run, other } = compared
  const [value = null] = values
  const theirs = nodeValue(other) ?? 0
  if (value === null) throw new Error('a sample without a fault has a value')
  const comparison = compareDeterministic({
    direction: run.spec.metric.direction,
    value,
    other: theirs,
    against: other.id,
    minImprovement: run.spec.metric.min_improvement,
  })
  const violated = foremost(checkConstraints(run.spec.constraints, samples))
  const objection = objectionTo(compared, samples, values, comparison, violated)
  const spoilt = objection === null ? spoiltBy(violated) : null
  if (spoilt) return spoilt
  const name = run.spec.metric.name
  const message =
    objection === null
      ? `${name} = ${figure(value)} again, against ${figure(theirs)} of ${other.id}`
      : `not confirmed: ${objection}`
  return { passed: objection === null, value, comparison, samples: samples.length, message }
}

function objectionTo(
  { run, node, other }: Compared,
  samples: readonly Sample[],
  values: readonly (number | null)[],
  comparison: Comparison,
  violated: Objection | undefined,
): string | null {
  const name = run.spec.metric.name
  if (values.length > 1) return `${samples.length} samples differ (${values.join(', ')})`
  for (const sample of samples) {
    const different = mismatch(run, sample)
    if (different !== null) return different.message
  }
  const recorded = nodeValue(node)
  if (node.epoch === run.ledger.state.epoch && values[0] !== recorded)
    return `${name} = ${values[0]} now, ${recorded} when it was judged`
  if (violated && isCandidates(violated)) return violated.message
  if (comparison.outcome === 'improved') return null
  const theirs = lastJudged(other)?.metrics ?? {}
  if (
    comparison.outcome === 'tie' &&
    breakTie(steadyBreakers(run, samples), samples[0]?.metrics ?? {}, theirs)?.better
  )
    return null
  return `${name} = ${figure(values[0] ?? null)} is no better than ${figure(nodeValue(other))} of ${other.id}`
}

const describe = (improvement: number | null): string =>
  improvement === null
    ? ''
    : `: ${figure(100 * Math.abs(improvement))} % ${improvement < 0 ? 'worse' : 'better'}`
