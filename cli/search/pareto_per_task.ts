import { drawRanks } from './lottery.ts'
import { type Choice, type Field, figure, nodeAt, policy } from './policy.ts'
import { allPositions, atRanks, byScore, type Order } from './ranking.ts'

interface Holder {
  at: number
  /** Tasks on which no other node is better. */
  held: number
}

export const paretoPerTask = policy({
  name: 'pareto_per_task',
  summary: 'nodes that are best on some task, by how many they hold: specialists stay alive',
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
      const value = figure(nodeAt(field, at).value)
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
        const value = figure(nodeAt(field, at).value)
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
