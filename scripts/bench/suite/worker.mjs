import {
  BettingStage,
  calibrationResiduals,
  pairDifference,
  ScaleWindow,
} from '../../../cli/evaluate/paired.ts'
import { learningRate } from '../../../cli/ledger/texts.ts'
import { rankProposals } from '../../../cli/loop/suite/choose.ts'
import { meanLoss, NO_SIGNALS, taskLoss } from '../../../cli/suite/loss.ts'
import { Random } from '../decisions/random.mjs'

export const EPOCHS = 5
const CALIBRATION = 5
/** Losses of the three tasks with the texts of the baseline. */
const TASKS = [0.4, 0.53, 0.31]
const WEIGHTS = { eval: 1, critique: 0, gate_rejections: 0, budget: 0, status: 0 }
const PLAN = { min: 2, max: 25, minImprovement: 0, seeksTie: false, tries: EPOCHS, typical: true }
const NAMES = ['pitfalls', 'preamble', 'rubric']

/** One run of the loop on a suite whose tasks vary by `noise`. `cut`: the share of the loss that each new text takes away. */
class Session {
  #random
  #window
  #noise

  constructor(seed, noise) {
    this.#random = new Random(seed)
    this.#noise = noise
    const values = Array.from({ length: CALIBRATION }, () => this.sample(1))
    this.#window = new ScaleWindow(calibrationResiduals(values, 'log'))
  }

  /** The mean loss of one run of the suite, whose true losses are `left` times those of the baseline. */
  sample(left) {
    return meanLoss(
      TASKS.map((loss) => {
        const score = 1 - loss * left * (1 + this.#noise * this.#random.normal())
        return taskLoss({ ...NO_SIGNALS, eval: score }, WEIGHTS, { crashed: false }).loss
      }),
    )
  }

  /** Judged, and confirmed when that ends well. */
  isKept(now, next) {
    return this.#stage('judge', now, next) === 'improved' && this.#stage('confirm', now, next) === 'improved'
  }

  /** One run each: the lower mean wins. */
  isLower(now, next) {
    return this.sample(next) < this.sample(now)
  }

  #stage(name, now, next) {
    const stage = new BettingStage(name, this.#window, PLAN)
    for (;;) {
      stage.add(pairDifference('minimize', 'log', this.sample(next), this.sample(now)))
      if (stage.ending.outcome !== null) return stage.ending.outcome
    }
  }

  proposals() {
    return NAMES.map((name) => ({
      ...{ asked: name, artifact: name, content: `new ${this.#random.uniform()}`, rationale: 'r' },
      ...{ expected: 0.1 + 0.2 * this.#random.uniform(), confidence: this.#random.uniform() },
    }))
  }
}

/** Five epochs: texts are proposed, the best product is judged; after one that is not kept, nobody is asked. */
export function epochs(seed, { noise, cut, single = false }) {
  const session = new Session(seed, noise)
  const texts = new Map(NAMES.map((name) => [name, { content: 'old', maxChars: 20_000 }]))
  const found = { kept: 0, tried: 0, rate: 0.5 }
  let left = 1
  let halvings = 0
  let turnedDown = false
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    if (turnedDown) {
      turnedDown = false
      continue
    }
    const [best] = rankProposals(session.proposals(), texts, []).choices
    const next = left * (1 - cut)
    found.tried++
    const kept = single ? session.isLower(left, next) : session.isKept(left, next)
    if (kept) {
      found.kept++
      left = next
      texts.set(best.artifact, { content: best.content, maxChars: 20_000 })
    } else {
      halvings++
      turnedDown = true
    }
  }
  return { ...found, rate: learningRate({ halvings }, 0.5) }
}
