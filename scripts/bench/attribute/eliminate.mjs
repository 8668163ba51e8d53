import { nextStep, pairsFor } from '../../../cli/attribute/eliminate.ts'
import { Machine, shuffled } from './machine.mjs'

const range = (k) => Array.from({ length: k }, (_, i) => i)
/** The gains of the first units; the others have none. */
const additive = (k, ...gains) => ({
  k,
  gain: (has) => gains.reduce((sum, g, i) => sum + (has(i) ? g : 0), 0),
})

/**
 * The winners of the table. `best` is the most that units of one can gain, when that is not the whole. `pairs`, `left` and `lost` (percentage points) are what the design was chosen by; null where
 * it has no figure.
 */
export const CASES = [
  { name: 'k=4, one pays 5 %', ...additive(4, 0.05), pairs: 20, left: 1.1, lost: 0.03 },
  { name: 'k=8, one pays 6 %', ...additive(8, 0.06), pairs: 38, left: 1.1, lost: 0 },
  { name: 'k=16, one pays 6 %', ...additive(16, 0.06), pairs: 74, left: 1.3, lost: 0 },
  { name: 'k=8, 4 % + 3 %', ...additive(8, 0.04, 0.03), pairs: 44, left: 2.1, lost: 0.34 },
  { name: 'k=16, 5 + 4 + 3 %', ...additive(16, 0.05, 0.04, 0.03), pairs: 84, left: 3.4, lost: 0.32 },
  {
    name: 'k=8, each pays 2 %',
    ...additive(8, ...range(8).map(() => 0.02)),
    pairs: 67,
    left: 6.9,
    lost: 2.1,
  },
  {
    name: 'k=8, each pays 1 %',
    ...additive(8, ...range(8).map(() => 0.01)),
    pairs: 72,
    left: 5.7,
    lost: 2.3,
  },
  {
    name: 'k=8, each pays 1 %, careful',
    ...additive(8, ...range(8).map(() => 0.01)),
    careful: true,
    pairs: null,
    left: null,
    lost: 1.7,
  },
  {
    name: 'k=6, two redundant 6 %',
    k: 6,
    gain: (has) => (has(0) || has(1) ? 0.06 : 0),
    pairs: 29,
    left: 1.1,
    lost: 0,
  },
  {
    name: 'k=6, two pay 6 % only together',
    k: 6,
    gain: (has) => (has(0) && has(1) ? 0.06 : 0),
    pairs: 31,
    left: 2.1,
    lost: 0,
  },
  {
    name: 'k=6, one harms 3 %, one pays 8 %',
    ...additive(6, 0.08, -0.03),
    best: 0.08,
    pairs: 21,
    left: 1.0,
    lost: 0,
  },
  {
    name: 'k=16, one pays 6 %, groups',
    ...additive(16, 0.06),
    groups: true,
    pairs: 58,
    left: null,
    lost: null,
  },
  {
    name: 'k=16, 5 + 4 + 3 %, groups',
    ...additive(16, 0.05, 0.04, 0.03),
    groups: true,
    pairs: 120,
    left: null,
    lost: null,
  },
]

/** `runs` winners of one case are reduced, and each gets the verdict that the product would give it. */
export function reduce({ name, k, gain, best, careful, groups }, runs) {
  const tally = { pairs: 0, left: 0, lost: 0, kept: 0, verdict: 0 }
  for (let run = 0; run < runs; run++) {
    const machine = new Machine(`attribute/${name}/${run}`)
    const gainOf = (ids) => gain((i) => ids.includes(`h${i + 1}`))
    const order = shuffled(
      range(k).map((i) => `h${i + 1}`),
      machine.random,
    )
    // One part that dominates makes groups come first.
    const parts = order.map((id) => ({ id, lines: groups && id === 'h1' ? 100 : 1 }))
    const plan = { pairs: pairsFor(k), careful }
    const answers = []
    let step = nextStep(parts, plan, answers)
    while (step.next === 'test') {
      const stage = machine.stage('judge', gainOf(step.reference), gainOf(step.left))
      answers.push({ without: step.without, ...stage })
      step = nextStep(parts, plan, answers)
    }
    const verdict = machine.verdict(gainOf(step.kept), 0)
    tally.pairs += step.pairs / runs
    tally.left += step.kept.length / runs
    tally.lost += (100 * ((best ?? gainOf(order)) - gainOf(step.kept))) / runs
    tally.kept += verdict.kept / runs
    tally.verdict += verdict.pairs / runs
  }
  return tally
}
