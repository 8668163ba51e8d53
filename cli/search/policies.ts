/** Every policy that picks parents, and the table of them that validation, help and reports read. Pure. */
import { fail, ok, type Result } from '../result.ts'
import {
  allPositions,
  atRanks,
  byKey,
  byScore,
  type Candidate,
  type Choice,
  type Field,
  firstOf,
  nodeAt,
  type Order,
  type Policy,
  policy,
  sixDigits,
  upTo,
} from './policy.ts'
import { chanceByText } from './random.ts'
import { scaleOf } from './scale.ts'

/**
 * `k` positions without replacement, each draw in proportion to exp(logWeight). Adding a Gumbel number to the
 * log-weight and taking the largest is the same as drawing one after another (Gumbel-top-k; Vieira 2014,
 * Kool et al. 2019), and no weight can underflow to "never".
 */
export function drawByWeight(
  field: Field,
  k: number,
  rng: () => number,
  logWeight: (at: number) => number,
): number[] {
  const chance = chanceByText(rng)
  const keys = new Float64Array(field.nodes.length)
  for (let at = 0; at < keys.length; at++)
    keys[at] = logWeight(at) - Math.log(-Math.log(chance(nodeAt(field, at).order)))
  return firstOf(allPositions(field), k, byKey(field, keys))
}

/** `k` of the ranks 0 … n−1 without replacement, rank r with weight (r+1)^−exponent, in the order drawn. */
export function drawRanks(n: number, k: number, exponent: number, rng: () => number): number[] {
  const keys = new Float64Array(n)
  for (let rank = 0; rank < n; rank++)
    keys[rank] = -exponent * Math.log(rank + 1) - Math.log(-Math.log(rng() + 2 ** -33))
  const order = (a: number, b: number) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b
  return firstOf(upTo(n), k, order)
}

export const argmax = policy({
  name: 'argmax',
  summary: 'always the best; further picks are the next best',
  params: {},
  choose(field, k) {
    return firstOf(allPositions(field), k, byScore(field)).map((at, rank) => ({
      at,
      why:
        rank === 0
          ? `the best of ${field.nodes.length}, at ${sixDigits(nodeAt(field, at).value)}`
          : `number ${rank + 1} of ${field.nodes.length}, at ${sixDigits(nodeAt(field, at).value)}`,
    }))
  },
})

export const topK = policy({
  name: 'top_k',
  summary: 'the k best',
  params: {},
  choose(field, k) {
    return firstOf(allPositions(field), k, byScore(field)).map((at, rank) => ({
      at,
      why: `number ${rank + 1} of ${field.nodes.length} by score, at ${sixDigits(nodeAt(field, at).value)}`,
    }))
  },
})

export const epsilonGreedy = policy({
  name: 'epsilon_greedy',
  summary: 'the best, but with probability epsilon any other, each equally likely',
  params: { epsilon: { default: 0.1, min: 0, max: 1, doc: 'probability that a pick is made at random' } },
  choose(field, k, rng, { epsilon }) {
    const sides = Array.from({ length: k }, () => (rng() < epsilon ? 'random' : 'best'))
    const best = sides.includes('best') ? firstOf(allPositions(field), k, byScore(field)) : []
    const random = sides.includes('random') ? firstOf(allPositions(field), k, shuffled(field, rng)) : []
    const taken = new Set<number>()
    const choices: Choice[] = []
    const next = { best: 0, random: 0 }
    for (const [pick, side] of sides.entries()) {
      const list = side === 'best' ? best : random
      // Both lists are k long and fewer than k are taken, so one is left.
      while (taken.has(list[next[side]] ?? -1)) next[side]++
      const at = list[next[side]] ?? 0
      taken.add(at)
      const value = sixDigits(nodeAt(field, at).value)
      const left = field.nodes.length - pick
      choices.push({
        at,
        why:
          side === 'best'
            ? `the best of ${left} left, at ${value}`
            : `drawn at random (epsilon ${sixDigits(epsilon)}) from ${left}, at ${value}`,
      })
    }
    return choices
  },
})

function shuffled(field: Field, rng: () => number): Order {
  const chance = chanceByText(rng)
  const keys = new Float64Array(field.nodes.length)
  for (let at = 0; at < keys.length; at++) keys[at] = chance(nodeAt(field, at).order)
  return byKey(field, keys)
}

export const softmax = policy({
  name: 'softmax',
  summary:
    'weight exp((score − best) / (temperature · spread)); the spread is a robust one, so units do not matter',
  params: {
    temperature: { default: 1, min: 0.01, max: 100, doc: 'low: nearly the best; high: nearly uniform' },
  },
  choose(field, k, rng, { temperature }) {
    const { spread } = scaleOf(field.scores)
    const best = field.scores.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY)
    const behind = (at: number) => (spread === 0 ? 0 : ((field.scores[at] ?? 0) - best) / spread)
    return drawByWeight(field, k, rng, (at) => behind(at) / temperature).map((at) => ({
      at,
      why: `at ${sixDigits(nodeAt(field, at).value)}, ${sixDigits(0 - behind(at))} spreads behind the best of ${field.nodes.length}: weight ${sixDigits(Math.exp(behind(at) / temperature))}`,
    }))
  },
})

export const powerLaw = policy({
  name: 'power_law',
  summary: 'rank r has weight r^−exponent: the best often, every other one sometimes',
  params: { exponent: { default: 1, min: 0, max: 8, doc: '0: uniform; higher: closer to the best' } },
  choose(field, k, rng, { exponent }) {
    const ranks = drawRanks(field.nodes.length, k, exponent, rng)
    return atRanks(allPositions(field), ranks, byScore(field)).map((at, pick) => {
      const rank = (ranks[pick] ?? 0) + 1
      const weight = sixDigits(rank ** -exponent)
      return {
        at,
        why: `rank ${rank} of ${field.nodes.length}, at ${sixDigits(nodeAt(field, at).value)}: weight ${weight}`,
      }
    })
  },
})

export const weighted = policy({
  name: 'weighted',
  summary:
    'weight sigmoid(2 · (score − median) / MAD) / (1 + children): prefers good nodes with few children',
  params: {},
  choose(field, k, rng) {
    const { median, spread } = scaleOf(field.scores)
    const logWeight = (at: number): number => {
      const z = spread === 0 ? 0 : (2 * ((field.scores[at] ?? 0) - median)) / spread
      // log(1 / (1 + e^−z)), in the form that cannot overflow.
      const sigmoid = Math.min(z, 0) - Math.log1p(Math.exp(-Math.abs(z)))
      return sigmoid - Math.log1p(nodeAt(field, at).children)
    }
    return drawByWeight(field, k, rng, logWeight).map((at) => {
      const { value, children } = nodeAt(field, at)
      const work = children === 1 ? '1 child' : `${children} children`
      return { at, why: `at ${sixDigits(value)} with ${work}: weight ${sixDigits(Math.exp(logWeight(at)))}` }
    })
  },
})

/** A kept child is better than its parent by definition, so what is left are the leaves of the kept tree. */
export const openOnly = policy({
  name: 'open_only',
  summary: 'only nodes that no kept child has surpassed, best first',
  params: {},
  takes: ({ keptChildren }) => keptChildren === 0,
  choose(field, k) {
    return firstOf(allPositions(field), k, byScore(field)).map((at, rank) => {
      const { value, children } = nodeAt(field, at)
      const tried = children === 0 ? 'nothing tried on it yet' : `${children} tried on it, none kept`
      return {
        at,
        why: `number ${rank + 1} of ${field.nodes.length} open ones, at ${sixDigits(value)}: ${tried}`,
      }
    })
  },
})

interface Holder {
  at: number
  /** Tasks on which no other node is better. */
  held: number
}

export const paretoPerTask = policy({
  name: 'pareto_per_task',
  summary:
    'nodes that are the best on some task, more often the more such tasks they have: specialists are kept',
  params: {},
  choose(field, k, rng) {
    const order = byScore(field)
    const { holders, tasks } = holdersOf(field, order)
    const without = Int32Array.from(allPositions(field).filter((at) => !hasTasks(field, at)))
    const waiting = drawn(without, k, rng, order)
    const taken = new Set<number>()
    const choices: Choice[] = []
    while (choices.length < k) {
      const stranger = waiting[0]
      // Nodes without tasks share one ticket, as if they held one task together.
      const tickets = holders.reduce((sum, { held }) => sum + held, 0)
      if (tickets === 0 && stranger === undefined) break
      const holder = takeByTicket(holders, rng() * (tickets + (stranger === undefined ? 0 : 1)))
      const at = holder?.at ?? waiting.shift()
      if (at === undefined) break
      taken.add(at)
      const value = sixDigits(nodeAt(field, at).value)
      choices.push({
        at,
        why: holder
          ? `best on ${holder.held} of ${tasks} tasks, at ${value}`
          : `no per-task scores, drawn by rank of its score, at ${value}`,
      })
    }
    if (choices.length < k) {
      const rest = allPositions(field).filter((at) => !taken.has(at))
      for (const at of drawn(rest, k - choices.length, rng, order)) {
        const value = sixDigits(nodeAt(field, at).value)
        choices.push({ at, why: `every task it leads is covered, drawn by rank of its score, at ${value}` })
      }
    }
    return choices
  },
})

/** Takes out the holder whose share of the tickets covers this one; none when it lies beyond them all. */
function takeByTicket(holders: Holder[], ticket: number): Holder | undefined {
  let covered = 0
  for (const [index, holder] of holders.entries()) {
    covered += holder.held
    if (ticket < covered) return holders.splice(index, 1)[0]
  }
  return undefined
}

/** Up to `k` of the positions by power law over their rank. */
function drawn(positions: Int32Array, k: number, rng: () => number, order: Order): number[] {
  return atRanks(positions, drawRanks(positions.length, Math.min(k, positions.length), 1, rng), order)
}

function hasTasks(field: Field, at: number): boolean {
  for (const task in nodeAt(field, at).tasks) return task !== undefined
  return false
}

/**
 * The nodes that cover all per-task bests, none of them superfluous, best score first.
 *
 * Definition: go through the holders from the worst to the best and drop one when each task it holds has another
 * holder left. Only the best-ranked holder of some task can survive that (any other one meets a better holder of
 * each of its tasks, not yet visited), so at most one node a task is looked at, and all is linear.
 */
function holdersOf(field: Field, order: Order): { holders: Holder[]; tasks: number } {
  const leads = new Map<string, { best: number; at: number }>()
  for (let at = 0; at < field.nodes.length; at++) {
    const scores = nodeAt(field, at).tasks
    for (const task in scores) {
      const score = scores[task]
      if (score === undefined || !Number.isFinite(score)) continue
      const lead = leads.get(task)
      if (lead === undefined) leads.set(task, { best: score, at })
      else if (score > lead.best || (score === lead.best && order(at, lead.at) < 0)) {
        lead.best = score
        lead.at = at
      }
    }
  }
  const holds = (at: number) =>
    [...leads].filter(([task, { best }]) => nodeAt(field, at).tasks?.[task] === best).map(([task]) => task)
  const survivors = new Map(
    [...new Set([...leads.values()].map(({ at }) => at))].sort(order).map((at) => [at, holds(at)]),
  )
  const covers = new Map<string, number>()
  for (const tasks of survivors.values())
    for (const task of tasks) covers.set(task, (covers.get(task) ?? 0) + 1)
  for (const [at, tasks] of [...survivors].reverse()) {
    if (!tasks.every((task) => (covers.get(task) ?? 0) > 1)) continue
    survivors.delete(at)
    for (const task of tasks) covers.set(task, (covers.get(task) ?? 0) - 1)
  }
  return {
    holders: [...survivors].map(([at, tasks]) => ({ at, held: tasks.length })),
    tasks: leads.size,
  }
}

/** Every policy there is; validation, help and reports read this table. */
export const POLICIES: readonly Policy[] = [
  argmax,
  topK,
  epsilonGreedy,
  softmax,
  powerLaw,
  weighted,
  openOnly,
  paretoPerTask,
]

/** What a spec and `assay config set policy` may name. */
export const policyNames: readonly string[] = ['auto', ...POLICIES.map(({ name }) => name)]

/**
 * The policy behind a name. `auto` is `pareto_per_task` where some node has scores for two tasks or more (a single
 * task knows only one best), else `power_law`.
 */
export function resolvePolicy(name: string, nodes: readonly Candidate[]): Result<Policy> {
  if (name === 'auto') return ok(nodes.some(hasSeveralTasks) ? paretoPerTask : powerLaw)
  const found = POLICIES.find((policy) => policy.name === name)
  if (found) return ok(found)
  return fail({
    kind: 'usage',
    code: 'unknown_policy',
    message: `there is no policy ${JSON.stringify(name)}`,
    hint: `use one of: ${policyNames.join(', ')}`,
  })
}

function hasSeveralTasks({ tasks }: Candidate): boolean {
  let seen = 0
  for (const task in tasks) if (task !== undefined && ++seen === 2) return true
  return false
}
