import { compareDeterministic } from '../../../cli/evaluate/compare.ts'
import { Random } from './random.mjs'
import { CALIBRATION, CANDIDATES } from './session.mjs'

const USUAL = 100
const LUCKY = 99

/**
 * A metric that looks without noise and is not: now and then a sample has a lucky value. Of runs whose calibration saw
 * only equal values: one sample rejects a candidate, a would-be keep is measured once more, and a second value of one
 * tree ends the route. All candidates change nothing, so any keep is false.
 */
export function lucky({ chance, from, to }) {
  const tally = { sessions: to - from, calibrated: 0, first: 0, spoiled: 0 }
  for (let i = from; i < to; i++) {
    const random = new Random(`lucky/${chance}/${i}`)
    const sample = () => (random.chance(chance) ? LUCKY : USUAL)
    const baseline = sample()
    if (!Array.from({ length: CALIBRATION - 1 }, sample).every((value) => value === baseline)) continue
    tally.calibrated += 1
    for (let n = 0; n < CANDIDATES; n++) {
      if (!improves(sample(), baseline)) continue
      // Refuted: the tree has two values. From here on the run is paired.
      if (!improves(sample(), baseline)) break
      tally.first += n === 0
      tally.spoiled += 1
      break
    }
  }
  return tally
}

function improves(value, other) {
  const { outcome } = compareDeterministic({
    direction: 'minimize',
    value,
    other,
    against: 'exp_0000',
    minImprovement: { absolute: 0 },
  })
  return outcome === 'improved'
}
