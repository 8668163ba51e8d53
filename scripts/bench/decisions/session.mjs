import {
  BettingStage,
  calibrationResiduals,
  pairDifference,
  ScaleWindow,
} from '../../../cli/evaluate/paired.ts'
import { median } from '../median.mjs'
import { NOISE } from './noise.mjs'
import { Random } from './random.mjs'

export const CALIBRATION = 5
export const CANDIDATES = 100
const PLAN = { min: 2, max: 25, minImprovement: 0, seeksTie: false, tries: CANDIDATES, typical: true }

/** One campaign on one machine: time goes on from sample to sample, and what is known of the noise grows. */
class Session {
  #sample
  #random
  #window

  constructor(kind, seed) {
    this.#random = new Random(seed)
    this.#sample = NOISE[kind](this.#random)
    const values = Array.from({ length: CALIBRATION }, () => this.single())
    this.#window = new ScaleWindow(calibrationResiduals(values, 'log'))
  }

  single(gain = 0) {
    return (1 - gain) * this.#sample({ candidate: gain !== 0, second: false })
  }

  /** Judged, and confirmed when that ends well, as in a run. */
  candidate(gain) {
    const judge = this.#stage('judge', gain)
    if (judge.outcome !== 'improved') return { passed: false, kept: false, judge: judge.pairs, confirm: 0 }
    const confirm = this.#stage('confirm', gain)
    return { passed: true, kept: confirm.outcome === 'improved', judge: judge.pairs, confirm: confirm.pairs }
  }

  #stage(name, gain) {
    // The stage adds its residuals to the window of the session: the next one's pool.
    const stage = new BettingStage(name, this.#window, PLAN)
    for (let pairs = 1; ; pairs++) {
      stage.add(this.#pair(gain))
      const { outcome } = stage.ending
      if (outcome !== null) return { outcome, pairs }
    }
  }

  #pair(gain) {
    const first = this.#random.chance(0.5)
    const of = (candidate, second) => this.#sample({ candidate, second }) * (candidate ? 1 - gain : 1)
    const one = of(first, false)
    const two = of(!first, true)
    return pairDifference('minimize', 'log', first ? one : two, first ? two : one)
  }
}

/** Sessions `from` to `to` of candidates that change nothing. */
export function noOps({ kind, from, to }) {
  const tally = {
    sessions: 0,
    candidates: 0,
    passed: 0,
    kept: 0,
    spoiled: 0,
    pairs: 0,
    single: 0,
    singleKept: 0,
    mad: 0,
  }
  for (let i = from; i < to; i++) {
    const session = new Session(kind, `no-op/${kind}/${i}`)
    let kept = 0
    for (let n = 0; n < CANDIDATES; n++) {
      const one = session.candidate(0)
      tally.passed += one.passed
      kept += one.kept
      tally.pairs += one.judge + one.confirm
    }
    tally.sessions += 1
    tally.candidates += CANDIDATES
    tally.kept += kept
    tally.spoiled += kept > 0
    naive(kind, i, tally)
  }
  return tally
}

/** What usual loops do on the same noise: one sample each, the best so far is the one to beat. */
function naive(kind, i, tally) {
  const session = new Session(kind, `naive/${kind}/${i}`)
  const baseline = session.single()
  const values = [baseline]
  let best = baseline
  let keeps = 0
  for (let n = 0; n < CANDIDATES; n++) {
    const value = session.single()
    values.push(value)
    if (value >= best) continue
    best = value
    keeps += 1
  }
  tally.single += keeps > 0
  tally.singleKept += keeps
  const middle = median(values)
  tally.mad += (baseline - best) / median(values.map((value) => Math.abs(value - middle))) >= 2
}

/** Of each session a first candidate, known by five samples only, and one after ten others. */
export function gains({ kind, gain, from, to }) {
  const tally = {
    first: { kept: 0, judge: [], confirm: [] },
    late: { kept: 0, judge: [], confirm: [] },
    sessions: 0,
  }
  for (let i = from; i < to; i++) {
    const session = new Session(kind, `gain/${kind}/${gain}/${i}`)
    note(tally.first, session.candidate(gain))
    for (let n = 0; n < 10; n++) session.candidate(0)
    note(tally.late, session.candidate(gain))
    tally.sessions += 1
  }
  return tally
}

function note(tally, { kept, passed, judge, confirm }) {
  tally.kept += kept
  tally.judge.push(judge)
  if (passed) tally.confirm.push(confirm)
}
