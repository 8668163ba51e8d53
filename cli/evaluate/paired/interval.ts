import { Bets } from './bets.ts'

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
