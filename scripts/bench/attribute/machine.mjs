import {
  BettingStage,
  calibrationResiduals,
  pairDifference,
  ScaleWindow,
} from '../../../cli/evaluate/paired.ts'
import { Random } from '../decisions/random.mjs'

const NOISE = 0.02
const CALIBRATION = 5
const PLAN = { min: 2, max: 25, minImprovement: 0, seeksTie: false, tries: 100, typical: true }

/** A machine with 2 % of normal noise a sample, and the rule that judges on it. */
export class Machine {
  #window

  constructor(seed) {
    this.random = new Random(seed)
    const values = Array.from({ length: CALIBRATION }, () => this.#sample(0))
    this.#window = new ScaleWindow(calibrationResiduals(values, 'log'))
  }

  /** One stage: is what gains `candidate` better than what gains `parent`? */
  stage(name, candidate, parent) {
    const stage = new BettingStage(name, this.#window, PLAN)
    for (;;) {
      stage.add(this.pair(candidate, parent))
      if (stage.ending.outcome !== null) {
        const { outcome, pairs, estimate } = stage.decision
        return { outcome, pairs, estimate, interval: null }
      }
    }
  }

  pair(candidate, parent) {
    return pairDifference('minimize', 'log', this.#sample(candidate), this.#sample(parent))
  }

  /** Judged, and confirmed when that ends well, as in a run. */
  verdict(candidate, parent) {
    const judge = this.stage('judge', candidate, parent)
    if (judge.outcome !== 'improved') return { kept: false, pairs: judge.pairs }
    const confirm = this.stage('confirm', candidate, parent)
    return { kept: confirm.outcome === 'improved', pairs: judge.pairs + confirm.pairs }
  }

  #sample(gain) {
    return (1 - gain) * Math.max(1 + NOISE * this.random.normal(), 1e-6)
  }
}

export function shuffled(list, random) {
  const rest = [...list]
  return list.map(() => rest.splice(Math.floor(random.uniform() * rest.length), 1)[0])
}
