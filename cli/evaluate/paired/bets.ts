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
export const mostWorth = (pairs: number): number => (1 + STAKE) ** pairs
