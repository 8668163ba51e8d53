/**
 * The betting test: whether pairs of samples show a gain, valid whenever it stops. Plan, difference of one pair, bets, scale,
 * exact last look, interval, and the stage that adds pair after pair. Pure. The proof is in `references/verdict.md`.
 */
import type { Direction, Transform } from '../ledger/events.ts'
import { betterBy } from '../ledger/same-value.ts'
import { median } from './stats.ts'

/** `judge`: is it better than its parent? `confirm`: on fresh pairs, also for the comparison with the best. */
export type PairedStage = 'judge' | 'confirm'

export interface PairedPlan {
  /** Pairs before anything is decided, at least 2. */
  min: number
  /** Pairs at which the stage ends whatever they say; not below `min`. */
  max: number
  /** At least 0, in units of d: the median must reach this in addition to the evidence. */
  minImprovement: number
  /** A tie-breaker needs a clear tie: no futility; ends early when the interval is within ±minImprovement, or below 0. Without effect when minImprovement is 0. */
  seeksTie: boolean
  /** The most candidates this session may judge. Beyond 300 each must confirm with more evidence. */
  tries: number
  /** Which look at these two this is, from 1, which is also the default: what did not pass takes more evidence the next time. */
  look?: number
  /**
   * An improvement also needs a median above 0; an interval that does not contain the median is not reported. Absent: neither
   * rule, for stages that began before these rules; their records must give the same answer for ever.
   */
  typical?: boolean
}

export interface PairedDecision {
  /** null: another pair is needed. */
  outcome: 'improved' | 'tie' | 'not_better' | 'inconclusive' | null
  why: 'evidence' | 'last_look' | 'futility' | 'too_small' | 'tie' | 'worse' | 'not_typical' | 'cap' | null
  pairs: number
  /** The most the bets were ever worth, of a stake of 1: P(e ≥ x) ≤ 1/x for a candidate that changes nothing. */
  e: number
  /** Exact one-sided sign-flip p, at the last look only. */
  p: number | null
  /** Robust spread of one d, after the last pair. */
  scale: number
  /** Median d; null without pairs, or when it is infinite. */
  estimate: number | null
  /** 95 % for the centre of d, valid whenever the stage stops; null when a side has no finite bound (always below 6 pairs). */
  interval: [number, number] | null
  /** What `e` or, at the last look, `p` had to reach. */
  bounds: { e: number; p: number }
}

/**
 * How much better the candidate is in one pair; positive is better. A log ratio, or metric units when linear.
 * Swapping the two values negates it exactly, which is all that the guarantee asks of it. Where a logarithm does not
 * exist (a value of 0 or below under `log`, such as an error count that falls to 0) it is ±Infinity by their order.
 * Never NaN for finite values.
 */
export function pairDifference(
  direction: Direction,
  transform: Transform,
  candidate: number,
  parent: number,
): number {
  const plain = betterBy(direction, candidate, parent)
  if (plain === 0 || transform === 'linear') return plain
  if (candidate > 0 && parent > 0) {
    const log = Math.log(candidate) - Math.log(parent)
    // Not `-log`: two logarithms may be equal, and a difference of 0 has no sign.
    return direction === 'minimize' ? 0 - log : log
  }
  return plain * Number.POSITIVE_INFINITY
}

/**
 * Residuals of one stage, for the spread of d: (dᵢ − dᵢ₋₁)/√2, which depends neither on the effect nor on slow drift. A
 * difference of infinite values is left out.
 */
export function stageResiduals(d: readonly number[]): number[] {
  return d.flatMap((value, i) => {
    const before = d[i - 1]
    return before === undefined ? [] : finite(residual(before, value))
  })
}

export const residual = (before: number, value: number): number => (value - before) * Math.SQRT1_2

/** Residuals from samples of one program: each against the one before. */
export function calibrationResiduals(values: readonly number[], transform: Transform): number[] {
  return values.flatMap((value, i) => {
    const before = values[i - 1]
    return before === undefined ? [] : finite(pairDifference('maximize', transform, value, before))
  })
}

const finite = (value: number): number[] => (Number.isFinite(value) ? [value] : [])

/** How boldly each purse bets: the effect, in scales, for which it grows fastest under normal noise. */
const STRENGTHS = [1, 2] as const
/** The part of a purse that one pair may cost. Below 1, so that no single pair ruins it. */
const STAKE = 0.99

/**
 * A bettor who stakes on "the candidate is better" in each pair. Given |d|, the sign of a no-op's d is a fair coin, so
 * every bet is fair whatever the scale, as long as that was fixed before the pair: worth is a martingale that starts at
 * 1, and (Ville) P(best ≥ x) ≤ 1/x. Under normal noise the odds of the sign are exactly tanh, hence its form.
 */
export class Bets {
  readonly #purses: number[] = STRENGTHS.map(() => 1)
  /** The most the purses were ever worth together, the start included. */
  best = 1

  /** `scale` from what was known before this pair. 0: only the sign counts. */
  settle(d: number, scale: number): void {
    let worth = 0
    STRENGTHS.forEach((strength, i) => {
      const share = scale > 0 ? Math.tanh((strength * d) / scale) : Math.sign(d)
      const purse = (this.#purses[i] ?? 0) * (1 + STAKE * share)
      this.#purses[i] = purse
      worth += purse / STRENGTHS.length
    })
    this.best = Math.max(this.best, worth)
  }
}

/** The most that bets can be worth after so many pairs. */
const mostWorth = (pairs: number): number => (1 + STAKE) ** pairs

/** How many residuals the scale looks back on: enough to be steady, few enough to follow a machine that changes. */
export const POOL = 200

/** Beyond this many scales a residual counts as if it lay there. */
const CUT = 1.5
/** The mean of min(z², CUT²) for a standard normal z, so that the scale of normal residuals is their deviation. */
const EXPECTED = 0.7784655

/**
 * The robust scale of the newest `POOL` residuals: Huber's proposal 2 with known centre 0, the s at which
 * mean(min(r²/s², CUT²)) = EXPECTED. An outlier moves it little, and unlike a median it sees a second mode.
 */
export class ScaleWindow {
  readonly #arrived: number[] = []
  /** Of the same residuals, without signs, ascending. */
  readonly #sizes: number[] = []

  constructor(residuals: readonly number[] = []) {
    for (const residual of residuals.slice(-POOL)) this.add(residual)
  }

  /** Anything but a finite residual is left out. */
  add(residual: number): void {
    if (!Number.isFinite(residual)) return
    const size = Math.abs(residual)
    this.#arrived.push(size)
    this.#sizes.splice(this.#rank(size), 0, size)
    if (this.#arrived.length <= POOL) return
    const oldest = this.#arrived.shift()
    if (oldest !== undefined) this.#sizes.splice(this.#rank(oldest), 1)
  }

  /** 0 when there is no residual, or each is 0. The root mean square when so many are 0 that there is no such s. */
  get scale(): number {
    const n = this.#sizes.length
    const largest = this.#sizes[n - 1] ?? 0
    if (largest === 0) return 0
    // The left side falls with s, so s is unique: of all numbers of residuals that may lie within the cut, the
    // largest that agrees with the s it leads to. Relative to the largest, so that no square leaves the range.
    let squares = 0
    let within = 0
    let square = 0
    for (const size of this.#sizes) {
      const relative = size / largest
      squares += relative * relative
      within += 1
      const room = n * EXPECTED - (n - within) * CUT * CUT
      if (room <= 0) continue
      if (relative * relative * room > CUT * CUT * squares) break
      square = squares / room
    }
    return Math.min(Math.sqrt(square === 0 ? this.#meanSquare(largest) : square) * largest, Number.MAX_VALUE)
  }

  #meanSquare(unit: number): number {
    return this.#sizes.reduce((total, size) => total + (size / unit) ** 2, 0) / this.#sizes.length
  }

  /** The first place whose size is not smaller. */
  #rank(size: number): number {
    let low = 0
    let high = this.#sizes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#sizes[middle] ?? size) < size) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Scores are whole numbers up to this, so that the distribution of their sum is exact and small. */
const LEVELS = 12
/** In medians of |d|: what lies beyond scores no more, so that one slow sample decides nothing. */
const CAP = 1.25

/**
 * The exact one-sided p of "not better" over all 2ⁿ signs that the pairs could have had: the probability that the sum of
 * the scores of positive d is at least the one seen. Zeros have no sign and are left out; 1 when nothing remains.
 */
export function signFlipP(d: readonly number[]): number {
  const signed = d.filter((value) => value !== 0)
  if (signed.length === 0) return 1
  const scores = scoresOf(signed.map(Math.abs))
  const seen = scores.reduce((sum, score, i) => sum + ((signed[i] ?? 0) > 0 ? score : 0), 0)
  let probabilities = [1]
  for (const score of scores) {
    const next = new Array<number>(probabilities.length + score).fill(0)
    probabilities.forEach((probability, sum) => {
      next[sum] = (next[sum] ?? 0) + probability / 2
      next[sum + score] = (next[sum + score] ?? 0) + probability / 2
    })
    probabilities = next
  }
  return probabilities.slice(seen).reduce((total, probability) => total + probability, 0)
}

function scoresOf(sizes: readonly number[]): number[] {
  const cap = CAP * median(sizes)
  return sizes.map((size) => {
    if (!Number.isFinite(cap)) return Number.isFinite(size) ? 1 : LEVELS
    return Math.max(1, Math.round((LEVELS * Math.min(size, cap)) / cap))
  })
}

/** Each side: bets that are worth this much refute a centre, 1/40 = 2.5 %. */
const REFUTED = 40
const HALVINGS = 60

/**
 * A 95 % interval for the centre θ of d that holds at all numbers of pairs at once, so it may be read whenever the stage
 * stops: the θ against which neither side's bets on d − θ were ever worth 40. It assumes that d lies symmetrically
 * about θ. `scales[i]` is the scale before pair i; it does not depend on θ, so bets fall as θ rises, and bisection finds
 * the bound, on its outer side. null when a side has no finite bound, or when the two contradict each other (then d is
 * not symmetric about any one centre, as when the effect itself changed half-way).
 */
export function intervalOf(d: readonly number[], scales: readonly number[]): [number, number] | null {
  const low = lowerBound(d, scales)
  const high = lowerBound(
    d.map((value) => -value),
    scales,
  )
  return low === null || high === null || low > -high ? null : [low, -high]
}

function lowerBound(d: readonly number[], scales: readonly number[]): number | null {
  const finite = d.filter(Number.isFinite)
  if (finite.length === 0) return null
  const refuted = (theta: number): boolean => {
    const bets = new Bets()
    d.forEach((value, i) => {
      bets.settle(value - theta, scales[i] ?? 0)
    })
    return bets.best >= REFUTED
  }
  const [least, most] = [Math.min(...finite), Math.max(...finite)]
  let open = most
  if (refuted(open)) return null
  let step = Math.max(most - least, ...scales) || 1
  let shut = least
  while (!refuted(shut)) {
    open = shut
    shut -= step
    step *= 2
    if (!Number.isFinite(shut) || step > 1e12 * Math.max(1, most - least, ...scales)) return null
  }
  for (let i = 0; i < HALVINGS; i++) {
    const middle = shut / 2 + open / 2
    if (refuted(middle)) shut = middle
    else open = middle
  }
  return shut
}

interface Bar {
  /** Improved as soon as the bets were worth this. */
  e: number
  /** Improved at the last pair if the sign-flip p is at most this. */
  p: number
  /** Hopeless when the clipped sum is at most −start + slope · pairs. Giving up early is never a false keep. */
  futility: { start: number; slope: number }
}

/**
 * A no-op passes a stage with at most 1/e + p (union bound), and both with their product, 5.05e-4: of a hundred no-ops
 * any is kept in at most 5 % of sessions, whatever the noise. `e` is just within what 5 and 7 clear pairs can be worth.
 */
const BARS: Readonly<Record<PairedStage, Bar>> = {
  judge: { e: 31, p: 0.008, futility: { start: 1.55, slope: 0.5 } },
  confirm: { e: 123, p: 0.0044, futility: { start: 4, slope: 0.3 } },
}
/** Up to so many candidates a session the bars of `confirm` stand as they are. */
const TRIES = 300
/** In scales: what one pair can add to the sum at which futility looks. */
const CLIP = 2
/** Standard errors by which the mean must fall short of the least improvement to be called too small. */
const SHORT = 3

/**
 * What a stage must reach. The more candidates a session may judge, the more a confirmation takes; one that is repeated has
 * 1/k² of the first one's error, so that all looks together have at most 1.65 times as much (Σ 1/k² = π²/6).
 */
function boundsOf(
  stage: PairedStage,
  { tries, look = 1 }: Pick<PairedPlan, 'tries' | 'look'>,
): { e: number; p: number } {
  const { e, p } = BARS[stage]
  const strictness = stage === 'confirm' ? Math.max(1, tries / TRIES) * look ** 2 : 1
  return { e: e * strictness, p: p / strictness }
}

type Ending = Pick<PairedDecision, 'outcome' | 'why'>
const MORE: Ending = { outcome: null, why: null }

/** One stage, pair by pair. Pairs after `max` are ignored. */
export class BettingStage {
  readonly #d: number[] = []
  /** Before each pair: what its bet was sized by. */
  readonly #scales: number[] = []
  readonly #bets = new Bets()
  readonly #window: ScaleWindow
  readonly #plan: PairedPlan
  readonly #futility: Bar['futility']
  readonly #bounds: { e: number; p: number }
  #scale: number

  /** `window` has the residuals that were known before the stage's first pair; it becomes the stage's own. */
  constructor(stage: PairedStage, window: ScaleWindow, plan: PairedPlan) {
    this.#window = window
    this.#scale = window.scale
    this.#plan = plan
    this.#futility = BARS[stage].futility
    this.#bounds = boundsOf(stage, plan)
  }

  add(d: number): void {
    if (this.#d.length >= this.#plan.max) return
    const before = this.#d.at(-1)
    this.#bets.settle(d, this.#scale)
    this.#scales.push(this.#scale)
    this.#d.push(d)
    if (before === undefined) return
    this.#window.add(residual(before, d))
    this.#scale = this.#window.scale
  }

  /** How the stage ends with the pairs so far. */
  get ending(): Ending {
    const { min, max, minImprovement, seeksTie } = this.#plan
    const pairs = this.#d.length
    if (pairs < Math.max(2, min)) return MORE
    const last = pairs >= max
    const waits = seeksTie && minImprovement > 0
    const why = this.#bets.best >= this.#bounds.e ? 'evidence' : last && this.#passes() ? 'last_look' : null
    if (why !== null) {
      const reached = median(this.#d) >= minImprovement
      if (reached && this.#isTypical()) return { outcome: 'improved', why }
      // Some pairs got better for sure; with more of them the typical one may turn out to be better, too.
      if (reached) return last ? { outcome: 'inconclusive', why: 'not_typical' } : MORE
      if (!waits) return { outcome: 'not_better', why: 'too_small' }
    }
    const early = waits ? this.#tie() : this.#futile()
    if (early !== null) return early
    if (!last) return MORE
    return why === null
      ? { outcome: 'inconclusive', why: 'cap' }
      : { outcome: 'not_better', why: 'too_small' }
  }

  get decision(): PairedDecision {
    const middle = this.#d.length === 0 ? null : median(this.#d)
    const interval = intervalOf(this.#d, this.#scales)
    return {
      ...this.ending,
      pairs: this.#d.length,
      e: this.#bets.best,
      p: this.#d.length >= this.#plan.max ? signFlipP(this.#d) : null,
      scale: this.#scale,
      estimate: Number.isFinite(middle) ? middle : null,
      interval: this.#plan.typical && interval && !isWithin(middle, interval) ? null : interval,
      bounds: this.#bounds,
    }
  }

  #isTypical(): boolean {
    return this.#plan.typical !== true || median(this.#d) > 0
  }

  #passes(): boolean {
    return signFlipP(this.#d) <= this.#bounds.p
  }

  #futile(): Ending | null {
    const pairs = this.#d.length
    const { start, slope } = this.#futility
    if (this.#sumClipped(CLIP) <= -start + slope * pairs) {
      // Giving up proves nothing: a candidate that looks better so far may be hidden by the noise.
      return { outcome: median(this.#d) > 0 ? 'inconclusive' : 'not_better', why: 'futility' }
    }
    if (this.#plan.minImprovement === 0 || this.#scale === 0) return null
    const wanted = this.#plan.minImprovement / this.#scale
    const mean = this.#sumClipped(CLIP + wanted) / pairs
    return mean + SHORT / Math.sqrt(pairs) < wanted ? { outcome: 'not_better', why: 'too_small' } : null
  }

  #tie(): Ending | null {
    const interval = intervalOf(this.#d, this.#scales)
    if (interval === null) return null
    const [low, high] = interval
    if (high < 0) return { outcome: 'not_better', why: 'worse' }
    const within = low >= -this.#plan.minImprovement && high <= this.#plan.minImprovement
    return within ? { outcome: 'tie', why: 'tie' } : null
  }

  /** Of d in scales, each cut off at ±`limit`. Without a scale only the sign counts, in full. */
  #sumClipped(limit: number): number {
    return this.#d.reduce(
      (sum, d) =>
        sum + (this.#scale > 0 ? Math.max(-limit, Math.min(limit, d / this.#scale)) : limit * Math.sign(d)),
      0,
    )
  }
}

/** An interval whose centre the estimate cannot be was not made from differences that lie symmetrically about it. */
const isWithin = (estimate: number | null, [low, high]: readonly [number, number]): boolean =>
  estimate !== null && low <= estimate && estimate <= high

/** With a smaller `max` the stage can never end as improved: not even n pairs that all speak for the candidate suffice. */
export function fewestPairs(stage: PairedStage, tries: number, look = 1): number {
  const { e, p } = boundsOf(stage, { tries, look })
  let pairs = 2
  while (mostWorth(pairs) < e && 0.5 ** pairs > p) pairs += 1
  return pairs
}

/**
 * What the pairs of one stage say about "the candidate is not better". Valid for any noise, as long as a seeded fair coin
 * drew which of the two ran first in each pair, and no pair was dropped or repeated because of its values. Method, proof
 * and sources: `references/verdict.md`.
 * @param d `pairDifference` of this stage's pairs, in order; those after `plan.max` are ignored.
 * @param pool the residuals known before this stage's first pair, oldest first; the newest `POOL` count. They decide how
 *   soon, never how often wrongly.
 */
export function decidePairs(
  stage: PairedStage,
  d: readonly number[],
  pool: readonly number[],
  plan: PairedPlan,
): PairedDecision {
  const running = new BettingStage(stage, new ScaleWindow(pool), plan)
  for (const value of d) running.add(value)
  return running.decision
}
