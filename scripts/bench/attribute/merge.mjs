import { mergeAll, nothingKnown } from '../merging.mjs'
import { Machine } from './machine.mjs'

const spread = (count, from, to) =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1))

/** Siblings kept against one parent. Each later one adds its gain with probability 1 − q, else `else`. */
export const MERGES = [
  { name: '4 wins (5, 3, 3, 3 %), additive', wins: [0.05, 0.03, 0.03, 0.03], q: 0, otherwise: 0 },
  { name: '8 wins (5…3 %), additive', wins: spread(8, 0.05, 0.03), q: 0, otherwise: 0 },
  { name: '8 wins, q = 0.3, nothing', wins: spread(8, 0.05, 0.03), q: 0.3, otherwise: 0 },
  { name: '8 wins, q = 0.3, −3 %', wins: spread(8, 0.05, 0.03), q: 0.3, otherwise: -0.03 },
  { name: '8 wins, q = 0.6, −3 %', wins: spread(8, 0.05, 0.03), q: 0.6, otherwise: -0.03 },
]

/** `how`: `best` adds the second best only, `greedy` one by one, `all` as the product does. */
export function combine({ name, wins, q, otherwise }, how, runs) {
  const tally = { pairs: 0, gain: 0, of: 0 }
  for (let run = 0; run < runs; run++) {
    const machine = new Machine(`merge/${name}/${how}/${run}`)
    const adds = wins.map((win, i) => (i > 0 && machine.random.chance(q) ? otherwise : win))
    const ids = wins.map((_, i) => `s${i}`)
    const gainOf = (set) => set.reduce((sum, id) => sum + adds[ids.indexOf(id)], 0)
    let pairs = 0
    const judged = (set, on) => {
      const verdict = machine.verdict(gainOf(set), gainOf(on))
      pairs += verdict.pairs
      return verdict.kept
    }
    const merged =
      how === 'all' ? allAtOnce(ids, judged) : oneByOne(how === 'best' ? ids.slice(0, 2) : ids, judged)
    tally.pairs += pairs / runs
    tally.gain += (100 * gainOf(merged)) / runs
    tally.of += (100 * adds.reduce((sum, gain) => sum + Math.max(0, gain), 0)) / runs
  }
  return tally
}

function allAtOnce(ids, judged) {
  const ranked = ids.map((id) => ({ id, parts: [id], contains: new Set([id]) }))
  const best = mergeAll(ranked, nothingKnown(), (chosen) => {
    const parts = chosen.flatMap((one) => one.parts)
    return { kept: judged(parts, chosen[0].parts) ? parts.join('+') : null }
  })
  return best.parts
}

function oneByOne(ranked, judged) {
  let have = ranked.slice(0, 1)
  for (const id of ranked.slice(1)) if (judged([...have, id], have)) have = [...have, id]
  return have
}
