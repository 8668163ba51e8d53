/** Explains a verdict: what was compared with what, why the measurement stopped, and what would change the verdict. Pure. */

import { isSpoilt } from '../evaluate/crowd.ts'
import { roughly } from '../evaluate/figure.ts'
import type { Comparison, Judged } from '../ledger/events.ts'
import type { StageFact } from '../measure/steps.ts'

/** What `inputs` of a comparison in pairs holds; anything may be missing in a record of another version. */
interface PairInputs {
  pairs?: number
  /** Of them, in which other programs left no processor idle. */
  crowded?: number
  why?: string
  e?: number
  p?: number | null
  bounds?: { e?: number; p?: number }
  scale?: number
  transform?: string
  least_difference?: number | null
}

const TITLES = {
  judge: 'Judged against',
  confirm: 'Confirmed on fresh pairs against',
  best: 'Measured against the best,',
}

/** Lines for people; `max` is `noise.pairs.max`. Empty for a verdict that no comparison led to. */
export function explainVerdict(
  judged: Judged,
  stages: readonly StageFact[],
  metric: { name: string; direction: string },
  max: number,
): string[] {
  if (judged.calibration) return [calibrated(judged.calibration, metric.name)]
  if (stages.length === 0) return unpaired(judged, metric.name)
  const lines = stages.map(({ stage, comparison }) => line(stage, comparison, max))
  const advice = whatElse(judged, stages.at(-1)?.comparison, max)
  return advice === null ? lines : [...lines, advice]
}

function calibrated({ mode, transform, values }: NonNullable<Judged['calibration']>, name: string): string {
  const seen = `${values.length} samples of ${name}: ${values.slice(0, 10).map(inWords).join(', ')}`
  if (mode === 'deterministic')
    return `${seen}. Candidates are compared by one sample, and a better one is measured once more.`
  const by = transform === 'log' ? 'ratios' : 'differences'
  return `${seen}. Candidate and parent are measured in turns and compared by their ${by}.`
}

function unpaired(judged: Judged, name: string): string[] {
  const { against, value, parent_value: before, confirmed } = judged
  if (against === null || value === null) return []
  const again = confirmed ? ', measured twice' : ', one sample'
  return [
    `Compared with ${against}: ${name} = ${inWords(value)}${again}, against ${inWords(before)}; equal code gives equal values here.`,
    ...(isSpoilt(judged)
      ? [QUIETER]
      : judged.status === 'rejected'
        ? ['One sample is enough to say no: the metric was not seen to vary.']
        : []),
  ]
}

function line(
  stage: StageFact['stage'],
  { against, improvement, interval, improvement_abs, inputs }: Comparison,
  max: number,
): string {
  const { pairs, crowded, why, e, p, bounds } = inputs as PairInputs
  const amount = improvement === null ? improvement_abs : improvement * 100
  const effect = `${inWords(Math.abs(amount))}${improvement === null ? '' : ' %'} ${amount < 0 ? 'worse' : 'better'}`
  const range =
    interval === null
      ? (pairs ?? 0) < PAIRS_FOR_INTERVAL
        ? 'too few pairs for an interval'
        : 'no interval with two finite ends'
      : `95 % interval ${inWords(interval[0])} to ${inWords(interval[1])} in the unit of the metric`
  const evidence =
    p === null || p === undefined
      ? `evidence ${inWords(e ?? 0)} of ${inWords(bounds?.e ?? 0)}`
      : `p = ${inWords(p)}, needed ${inWords(bounds?.p ?? 0)}`
  const stopped = WHY[why ?? ''] ?? 'it ended'
  const among =
    crowded === undefined ? '' : `, ${crowded} of them while other programs left no processor idle`
  return `${TITLES[stage]} ${against}: ${pairs ?? '?'} of at most ${max} pairs${among}, ${effect} (${range}; ${evidence}); ${stopped}.`
}

/** Fewer cannot refute a centre on both sides; see `evaluate/paired/interval.ts`. */
const PAIRS_FOR_INTERVAL = 6

const WHY: Readonly<Record<string, string>> = {
  evidence: 'it stopped as soon as the evidence was clear',
  last_look: 'the exact test after the last pair decided',
  futility: 'it stopped early, since pairs like these hardly ever become clear',
  too_small: 'it is better by less than metric.min_improvement',
  tie: 'the interval lies within ±metric.min_improvement',
  worse: 'it is clearly not better',
  not_typical: 'only some pairs got better, and the typical one (the median) did not',
  cap: 'the last pair allowed was not clear',
  crowd: 'the evidence is clear, but other programs may have made it',
}

/** In units of the spread of one pair: what is found nearly always. */
const VISIBLE = 1.5

const QUIETER =
  'What would change it: the same change, run again on a machine with a processor to spare (loop.quiet holds agents back while a sample is taken); or cpu_ms in place of wall_ms, in a new run.'

function whatElse(judged: Judged, last: Comparison | undefined, max: number): string | null {
  if (judged.status === 'kept' || !last) return null
  const { scale, transform } = last.inputs as PairInputs
  const gain = transform === 'log' ? (1 - Math.exp(-VISIBLE * (scale ?? 0))) * 100 : VISIBLE * (scale ?? 0)
  const unit = transform === 'log' ? ' %' : ''
  if (isSpoilt(judged)) return QUIETER
  if (judged.reason === 'inconclusive' && last.inputs.why === 'not_typical')
    return 'What would change it: a gain on most inputs. If the sum over the inputs is what counts, let one sample measure all of them (in a new run).'
  const seen = `at this noise a gain of about ${inWords(gain)}${unit} is nearly always seen`
  switch (judged.reason) {
    case 'inconclusive':
    case 'unconfirmed':
      return `What would change it: a larger gain${scale === undefined ? '' : ` (${seen})`}, quieter samples (the median of several runs inside one), or more pairs than ${max} (noise.pairs.max, in a new run).`
    case 'not_better':
      return `What would change it: a real gain${scale === undefined ? '' : `; ${seen}`}.`
    case 'dependency':
      return 'What would change it: the same change on a parent that stands, or that its own is restored.'
    case 'tie':
      return 'What would change it: a gain beyond metric.min_improvement, or a tie-breaker in its favour.'
    default:
      return null
  }
}

const inWords = (value: number | null): string => (value === null ? 'unknown' : roughly(value, 3))
