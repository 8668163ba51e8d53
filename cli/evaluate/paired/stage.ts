import { median } from '../stats.ts'
import { Bets } from './bets.ts'
import { residual } from './difference.ts'
import { intervalOf } from './interval.ts'
import type { PairedDecision, PairedPlan, PairedStage } from './plan.ts'
import type { ScaleWindow } from './scale.ts'
import { signFlipP } from './sign-flip.ts'

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
export function boundsOf(
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
export class Stage {
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
      // To give up is no proof: what looks better so far was hidden by the noise.
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
