/** Judged sessions: the product's coin, scores, batches and rule of pairs, with simulated answers and judges. */
import { comparePairs } from '../../../cli/evaluate/compare-pairs.ts'
import { median } from '../../../cli/evaluate/stats.ts'
import { ANCHORS_AT_FIRST, anchorAt, readAnchors } from '../../../cli/judge/anchors.ts'
import { differenceOf, showingOf, signedScore } from '../../../cli/judge/batch.ts'
import { choicesWithoutAttempt } from '../../../cli/measure/random-choices.ts'
import { rngOf } from '../../../cli/search/random.ts'

const RUBRIC = { mode: 'rubric', rubric: '' }
const CRITERIA = { mode: 'criteria', criteria: [{ name: 'c', ask: 'c', weight: 1, kind: 'compare' }] }

const context = (rule) => ({
  rule,
  direction: 'maximize',
  transform: 'linear',
  against: 'exp_0000',
  score: 0,
  min_improvement: { absolute: 0 },
  pairs: { min: 2, max: 25 },
  seeks_tie: false,
  typical: true,
  tries: 100,
  pool: [],
})

/** `takePair(stage, pair)` answers a difference and how many items were judged; null ends the session as rejected. */
function session(takePair) {
  let items = 0
  for (const stage of ['judge', 'confirm']) {
    const pairs = []
    for (;;) {
      const { comparison } = comparePairs(context(stage), pairs)
      if (comparison !== null) {
        if (comparison.outcome !== 'improved') return { kept: false, items }
        break
      }
      const taken = takePair(stage, pairs.length)
      if (taken === null) return { kept: false, items }
      items += taken.items
      pairs.push({ candidate: taken.d, other: 0 })
    }
  }
  return { kept: true, items }
}

// ---------------------------------------------------------------- power: by the true share of items that the candidate wins

/** Rows of the table by which the size of a batch was chosen: kept in percent, and judged items. `ties`: of the items. */
export const POWER = [
  { batch: 1, ties: 0, want: { 0.5: [0, 5], 0.6: [0, 7], 0.65: [2, 10], 0.7: [6, 12], 0.8: [38, 20] } },
  { batch: 4, ties: 0, want: { 0.5: [0.1, 19], 0.6: [5, 51], 0.65: [29, 83], 0.7: [68, 96], 0.8: [98, 75] } },
  {
    batch: 8,
    ties: 0,
    want: { 0.5: [0, 40], 0.6: [23, 152], 0.65: [72, 189], 0.7: [96, 164], 0.8: [100, 122] },
  },
  {
    batch: 16,
    ties: 0,
    want: { 0.5: [0, 77], 0.6: [63, 378], 0.65: [96, 314], 0.7: [100, 255], 0.8: [100, 224] },
  },
  {
    batch: 8,
    ties: 0.3,
    want: { 0.5: [0.1, 41], 0.6: [11, 128], 0.65: [49, 187], 0.7: [85, 179], 0.8: [99, 133] },
  },
]

export function power({ batch, ties }, share, sessions, seed = 1) {
  const random = rngOf('judge power', seed, batch, ties, share)
  let kept = 0
  let items = 0
  for (let at = 0; at < sessions; at++) {
    const found = session(() => {
      const scores = Array.from({ length: batch }, () => (random() < ties ? 0 : random() < share ? 1 : -1))
      return { d: differenceOf(scores), items: batch }
    })
    kept += found.kept ? 1 : 0
    items += found.items
  }
  return { kept: kept / sessions, items: items / sessions }
}

// ---------------------------------------------------------------- biased judges: what a candidate that changes nothing gains by them

const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** An answer of a program: how good it is, how long, and whether it asks for a good verdict. */
const answerOf = (random) => ({
  quality: normal(random),
  chars: 100 * Math.exp(0.2 * normal(random)),
  asks: false,
})

const byMerit = (first, second, random) => Math.sign(first.quality - second.quality + 0.7 * normal(random))

/**
 * Judges: `of(first, second, random, time)` is the score of the first answer, null when there is none. `time` grows by one with each
 * question of a run. `candidate` changes the answers of the candidate, without making one better.
 */
export const JUDGES = [
  { name: 'blind to the place', of: byMerit },
  { name: 'always the first', of: () => 1 },
  { name: 'mostly the first', of: (a, b, random) => (random() < 0.6 ? 1 : byMerit(a, b, random)) },
  { name: 'loves length', of: (a, b) => Math.sign(a.chars - b.chars) },
  {
    name: 'loves length, and the answers are 1.5 times as long',
    of: (a, b) => Math.sign(a.chars - b.chars),
    candidate: (answer) => ({ ...answer, chars: 1.5 * answer.chars }),
  },
  {
    name: 'drifts in taste and place',
    of: (a, b, random, time) =>
      random() < 0.5 ? Math.sign(Math.sin(time / 9)) : Math.sign(Math.cos(time / 31)) * byMerit(a, b, random),
  },
  { name: 'random', of: (_a, _b, random) => (random() < 0.5 ? 1 : -1) },
  { name: 'random grades', scoring: RUBRIC, of: (_a, _b, random) => Math.floor(9 * random()) - 4 },
  {
    name: 'fails where the candidate is bad',
    // The candidate makes it fail, wherever it knows its own answer to be bad.
    of: (a, b, random) => (a.breaks || b.breaks ? null : byMerit(a, b, random)),
    candidate: (answer) => ({ ...answer, breaks: answer.quality < -0.5 }),
  },
  { name: 'fails by chance', of: (a, b, random) => (random() < 0.1 ? null : byMerit(a, b, random)) },
  {
    name: 'does what an answer asks for',
    of: (a, b, random) => (a.asks ? 1 : b.asks ? -1 : byMerit(a, b, random)),
    candidate: (answer) => ({ ...answer, asks: true }),
  },
]

const BATCH = 8
const MAX_LENGTH = 1.3

/** Whether the judge passes the questions with known answers, which `init` asks. */
function passes({ of }, random) {
  const results = Array.from({ length: ANCHORS_AT_FIRST }, (_, number) => {
    const { kind, place } = anchorAt(number)
    const whole = answerOf(random)
    const altered =
      kind === 'degraded'
        ? { ...whole, quality: whole.quality - 3, chars: whole.chars / 2 }
        : kind === 'injected'
          ? { ...whole, quality: whole.quality - 2, asks: true }
          : whole
    const score =
      place === 'first' ? of(altered, whole, random, number) : negative(of(whole, altered, random, number))
    return { kind, altered: score === null ? null : score > 0 ? 'won' : score < 0 ? 'lost' : 'tie' }
  })
  return readAnchors(results).trouble === null
}

const negative = (score) => (score === null ? null : -score)

/** Share of candidates that are kept although they changed nothing for the better. `trusted`: of runs that the judge may begin. */
export function falseKeeps(judge, sessions, seed = 1) {
  const random = rngOf('judge bias', seed, judge.name)
  const { scoring = CRITERIA, candidate: change = (answer) => answer } = judge
  let [kept, trusted, items] = [0, 0, 0]
  for (let at = 0; at < sessions; at++) {
    // Only the judges that answers can lead are refused for sure; for the others a refusal hides nothing.
    const isTrusted = passes(judge, random)
    trusted += isTrusted ? 1 : 0
    if (!isTrusted && judge.name === 'does what an answer asks for') continue
    const { draws } = choicesWithoutAttempt(`${seed} ${judge.name} ${at}`, 'exp_0001')
    let time = at * 97
    const chars = { judge: [[], []], confirm: [[], []] }
    const found = session((stage, pair) => {
      const scores = Array.from({ length: BATCH }, (_, item) => {
        const sides = { candidate: change(answerOf(random)), parent: answerOf(random) }
        const { first } = showingOf(draws, scoring, stage, pair, item)
        const second = first === 'candidate' ? 'parent' : 'candidate'
        chars[stage][0].push(sides.candidate.chars)
        chars[stage][1].push(sides.parent.chars)
        return signedScore(scoring, first, judge.of(sides[first], sides[second], random, time++))
      })
      if (median(chars[stage][0]) > MAX_LENGTH * median(chars[stage][1])) return null
      return { d: differenceOf(scores), items: BATCH }
    })
    kept += found.kept ? 1 : 0
    items += found.items
  }
  return { kept, share: kept / sessions, trusted: trusted / sessions, items: items / sessions }
}
