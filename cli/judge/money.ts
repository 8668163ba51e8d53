/** What judging costs, and whether the next questions still fit. Pure. */

export interface JudgeSpent {
  calls: number
  /** Reported by the judge's host. */
  usd: number
  /** Calls whose price is not known. */
  unpriced: number
  /** Of one call; null before a call had a price. */
  highest: number | null
}

/** What counts against the cap: a call without a price counts as much as the most expensive one. */
const charged = ({ usd, unpriced, highest }: JudgeSpent): number => usd + unpriced * (highest ?? 0)

/** Whether so many more calls fit under the cap, each at the price of the most expensive one so far. */
export function fits(spent: JudgeSpent, cap: number | null, calls: number): boolean {
  if (cap === null) return true
  const used = charged(spent)
  return used < cap && used + calls * (spent.highest ?? 0) <= cap + ROUNDING
}

/** Sums of cents are not exact in binary. */
const ROUNDING = 1e-9

/** Pairs that a candidate without any gain takes before the rule gives up, and a winner until it is confirmed. */
const NO_OP_PAIRS = 5
const WINNER_PAIRS = 4 * NO_OP_PAIRS

export interface JudgeForecast {
  /** Of a candidate that changes nothing for the better. */
  noop: { judgements: number; answers: number; usd: number | null }
  winner: { judgements: number; answers: number; usd: number | null }
}

/** `calls`: for one item, 2 when the sides are swapped as well. */
export function forecast(
  batch: number,
  calls: number,
  { usd, calls: known, unpriced }: JudgeSpent,
): JudgeForecast {
  const priced = known - unpriced
  const price = priced > 0 ? usd / priced : null
  const of = (pairs: number) => {
    const judgements = pairs * batch * calls
    return {
      judgements,
      answers: 2 * pairs * batch,
      usd: price === null ? null : Number((price * judgements).toFixed(6)),
    }
  }
  return { noop: of(NO_OP_PAIRS), winner: of(WINNER_PAIRS) }
}
