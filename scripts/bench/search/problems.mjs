/**
 * The problems. A point is a list of genes, as a repository is a set of places that hold text: a proposal changes some of
 * them, and a merge takes from each side what that side changed. All are maximised.
 */
import { FAMILIES, instance } from '../../../examples/binpack/src/instances.js'
import { excessPercent } from '../../../examples/binpack/src/pack.js'

const range = (count) => Array.from({ length: count }, (_, i) => i)
const below = (random, count) => Math.floor(random.uniform() * count)
const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length

/** Changes one gene to another value, each equally likely. */
const changeOne = (values) => (point, random) => {
  const at = below(random, point.length)
  const other = (point[at] + 1 + below(random, values - 1)) % values
  return point.with(at, other)
}

/** The agent sees what `tries` blind proposals are worth, and takes the best, in a share `skill` of its proposals. */
const skilled = (skill, tries, problem) => ({
  ...problem,
  propose(point, random) {
    const options = range(random.chance(skill) ? tries : 1).map(() => problem.propose(point, random))
    return options.reduce((best, option) => (problem.value(option) > problem.value(best) ? option : best))
  },
})

/** Ten places with five values each; the score is how many equal a hidden target. */
function kModule(random) {
  const hidden = range(10).map(() => below(random, 5))
  return {
    start: range(10).map(() => 0),
    propose: changeOne(5),
    value: (point) => point.filter((gene, at) => gene === hidden[at]).length,
  }
}

/** The bundled example: ten numbers of a priority function, scored on two families of instances. */
function binpack(random) {
  const at = [0, 0.02, 0.06, 0.1, 0.14, 0.2, 0.3, 0.4, 0.55, 0.75]
  const sets = Object.keys(FAMILIES).map((family) => instance(family, below(random, 2 ** 31), 200))
  /** What each amount of room left over is worth, by the broken line through the numbers. */
  const worth = (line, capacity) =>
    Array.from({ length: capacity + 1 }, (_, leftover) => {
      const share = leftover / capacity
      let right = 1
      while (right < at.length - 1 && at[right] < share) right++
      return (
        line[right - 1] +
        ((line[right] - line[right - 1]) * (share - at[right - 1])) / (at[right] - at[right - 1])
      )
    })
  const excess = ({ items, capacity }, line) => {
    const table = worth(line, capacity)
    return excessPercent(items, capacity, (leftover) => table[leftover])
  }
  const known = new Map()
  const tasks = (point) => {
    const key = point.join()
    if (!known.has(key))
      known.set(key, Object.fromEntries(sets.map((set) => [set.name, -excess(set, point)])))
    return known.get(key)
  }
  return {
    start: at.map((share) => 1 - share),
    propose(point, random) {
      const changed = [...point]
      for (let n = 1 + below(random, 3); n > 0; n--) {
        const i = below(random, point.length)
        changed[i] = Math.min(1, Math.max(0, changed[i] + 0.2 * random.normal()))
      }
      return changed
    },
    value: (point) => mean(Object.values(tasks(point))),
    tasks,
  }
}

/**
 * Two approaches. The first one that an agent thinks of gains 3 at once and 5 at most; the other gains 1 at first and 10
 * in the end. Who has one approach and takes up the other starts it anew.
 */
function deceptive(random) {
  const STEPS = 9
  const [none, quick, deep] = [0, 1, 2]
  const value = ([approach, , ...steps]) => {
    const done = steps.filter((step) => step === 1).length
    const wrong = steps.filter((step) => step === 2).length
    if (approach === none) return 0
    return (approach === quick ? 3 + Math.min(2, done) : 1 + done) - wrong
  }
  return {
    start: [none, 0, ...range(STEPS).map(() => 0)],
    propose([approach, , ...steps], random) {
      if (approach === none || random.chance(0.1)) {
        const next = random.chance(approach === none ? 0.75 : 0.5) ? quick : deep
        return [next, random.uniform(), ...range(STEPS).map(() => 0)]
      }
      const at = below(random, STEPS)
      return [approach, random.uniform(), ...steps.with(at, random.chance(0.4) ? 1 : 2)]
    },
    value,
    /** The second gene only tells proposals apart; a merge may take either. */
    loose: [1],
    random,
  }
}

/** Twenty independent changes of which seven pay 2 to 6 %, on a machine with 2 % of noise. */
function noisy(random) {
  const pays = range(20).map((i) => (i < 7 ? 0.02 + 0.04 * random.uniform() : -0.02 * random.uniform()))
  return {
    start: pays.map(() => 0),
    propose: changeOne(2),
    value: (point) => 100 * (1 - point.reduce((cost, gene, at) => cost * (gene ? 1 - pays[at] : 1), 1)),
    noisy: true,
  }
}

/** Five tasks. Each has three places of its own with five values; five shared places help one task and hurt the others. */
function specialists(random) {
  const own = range(15).map(() => below(random, 5))
  const shared = range(5).map(() => range(5).map((variant) => (variant === 0 ? -1 : below(random, 5))))
  const tasks = (point) =>
    Object.fromEntries(
      range(5).map((task) => {
        const right = range(3).filter((i) => point[3 * task + i] === own[3 * task + i]).length
        const help = shared.map((helps, i) =>
          point[15 + i] === 0 ? 0 : helps[point[15 + i]] === task ? 1 : -0.2,
        )
        return [`task ${task}`, right + help.reduce((sum, h) => sum + h, 0)]
      }),
    )
  return {
    start: range(20).map(() => 0),
    propose: changeOne(5),
    value: (point) => mean(Object.values(tasks(point))),
    tasks,
  }
}

/** `enough`: the value that counts as found. */
export const PROBLEMS = [
  { name: 'k-module, blind', make: kModule, enough: 8 },
  {
    name: 'k-module, skilled',
    make: (random) => skilled(0.3, 4, kModule(random)),
    enough: 9,
  },
  { name: 'binpack', make: binpack, enough: -5 },
  { name: 'deceptive', make: deceptive, enough: 7 },
  { name: 'noisy', make: noisy, enough: 18 },
  { name: 'specialists', make: specialists, enough: 2 },
]

/**
 * Genes of `base` with what each of `sides` changed since `ancestor`; null when two changed one gene differently.
 * `loose` genes never conflict.
 */
export function mergePoints(ancestor, sides, loose = []) {
  const merged = [...ancestor]
  for (const [at, was] of ancestor.entries()) {
    const changes = [...new Set(sides.map((side) => side[at]).filter((gene) => gene !== was))]
    if (changes.length > 1 && !loose.includes(at)) return null
    if (changes.length > 0) merged[at] = changes[0]
  }
  return merged
}
