/** The host `tune` against a (1+1) evolution strategy that halves its step: which finds better numbers at equal evaluations. */
import { proposeStep } from '../../../cli/hosts/tune/propose.ts'
import { Random } from '../decisions/random.mjs'
import { PROBLEMS } from './problems.mjs'

/** The example `binpack` runs with these. */
const WIDTH = 4
const DEPTH = 3
const EVALUATIONS = 64

const sum = (list) => list.reduce((total, value) => total + value, 0)
const linear = (count) => Array.from({ length: count }, () => ({ min: 0, max: 1, scale: 'linear' }))
/** Where each problem has its optimum: 0.2 to 0.8. */
const optimum = (count, random) => Array.from({ length: count }, () => 0.2 + 0.6 * random.uniform())
/** `cost` of the distances from the optimum; higher is better. */
const around = (count, cost) => (random) => {
  const at = optimum(count, random)
  return {
    parameters: linear(count),
    start: at.map(() => 0.5),
    value: (point) => -cost(point.map((v, i) => v - at[i])),
  }
}

/** Numbers of a priority function, as in the bundled example. */
function binpack(random) {
  const problem = PROBLEMS.find(({ name }) => name === 'binpack').make(random)
  return { parameters: linear(problem.start.length), start: problem.start, value: problem.value }
}

/** Five whole numbers of which only some combinations work, as of block sizes. */
function blocks(random) {
  const at = Array.from({ length: 5 }, () => 1 + Math.floor(30 * random.uniform()))
  return {
    parameters: at.map(() => ({ min: 0, max: 31, scale: 'integer' })),
    start: at.map(() => 16),
    value: (point) => -sum(point.map((v, i) => Math.abs(v - at[i]) / 31 + (v % 4 === at[i] % 4 ? 0 : 0.1))),
  }
}

export const FUNCTIONS = [
  { name: 'binpack, 10 numbers', make: binpack },
  { name: 'sphere, 4 numbers', make: around(4, (d) => sum(d.map((x) => x * x))) },
  { name: 'sphere, 10 numbers', make: around(10, (d) => sum(d.map((x) => x * x))) },
  { name: 'ellipsoid, 6 numbers', make: around(6, (d) => sum(d.map((x, i) => 10 ** (i / 2) * x * x))) },
  {
    name: 'valley, 4 numbers',
    make: around(4, (d) => sum(d.slice(1).map((x, i) => 25 * (x - d[i] ** 2) ** 2 + d[i] ** 2))),
  },
  {
    name: 'many hills, 4 numbers',
    make: around(4, (d) => sum(d.map((x) => 4 * x * x + 0.1 * (1 - Math.cos(8 * Math.PI * x))))),
  },
  { name: 'whole numbers, 5', make: blocks },
]

export const TUNERS = { tune: surrogate, 'one plus one': onePlusOne }

/** The best value that each seed finds. */
export function tuned({ name, make }, tuner, seeds) {
  const values = Array.from({ length: seeds }, (_, i) => {
    const problem = make(new Random(`tune/${name}/${i + 1}`))
    return TUNERS[tuner](problem, i + 1, new Random(`tune/${name}/${i + 1}/steps`))
  })
  return values.sort((a, b) => a - b)
}

/** Rounds of lanes on top of the best, as the loop runs them with `host: tune`. */
function surrogate({ parameters, start, value }, seed) {
  const trialOf = (id, parent, values, round, lane, depth, status) => ({
    experiment: `exp_${String(id).padStart(4, '0')}`,
    parent: parent?.experiment ?? null,
    round,
    lane,
    depth,
    values,
    score: value(values),
    status,
  })
  const history = [trialOf(0, null, start, null, null, null, 'kept')]
  const bestOf = () =>
    history.reduce((best, trial) => (trial.status === 'kept' && trial.score > best.score ? trial : best))
  for (let round = 1; history.length <= EVALUATIONS; round++) {
    const before = [...history]
    const best = bestOf()
    for (let laneNumber = 1; laneNumber <= WIDTH; laneNumber++) {
      const lane = []
      let parent = best
      for (let depth = 1; depth <= DEPTH && history.length <= EVALUATIONS; depth++) {
        const question = {
          parameters,
          parent: parent.values,
          current: parent.values,
          history: before,
          lane,
          seed,
          round,
          laneNumber,
          depth,
        }
        const values = proposeStep(question)
        if (values === null) break
        const trial = trialOf(history.length, parent, values, round, laneNumber, depth, 'rejected')
        if (trial.score > parent.score) trial.status = 'kept'
        history.push(trial)
        lane.push(trial)
        if (trial.status === 'kept') parent = trial
      }
    }
  }
  return bestOf().score
}

/** All numbers move at once; the step doubles after a gain and halves after as many losses as there are numbers, over two. */
function onePlusOne({ parameters, start, value }, _seed, random) {
  let best = { values: start, score: value(start) }
  let step = 0.2
  let lost = 0
  for (let n = 0; n < EVALUATIONS; n++) {
    const values = best.values.map((v, i) => {
      const { min, max, scale } = parameters[i]
      const moved = Math.min(max, Math.max(min, v + step * (max - min) * random.normal()))
      return scale === 'integer' ? Math.round(moved) : moved
    })
    const score = value(values)
    if (score > best.score) {
      best = { values, score }
      step = Math.min(0.5, 2 * step)
      lost = 0
    } else if (++lost >= parameters.length / 2) {
      step /= 2
      lost = 0
    }
  }
  return best.score
}
