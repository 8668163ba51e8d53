/** The searches that are compared. Each spends the same number of evaluations; a merge that is measured is one of them. */
import { byScore } from '../../../cli/search/frontier.ts'
import { nextMerge } from '../../../cli/search/merge.ts'
import { POLICIES, policyOfRun } from '../../../cli/search/policies.ts'
import { Machine } from '../attribute/machine.mjs'
import { Random } from '../decisions/random.mjs'
import { mergePoints } from './problems.mjs'

/** What each search may spend. */
export const EVALUATIONS = 200

/** The defaults of the spec. */
const WIDTH = 4
const DEPTH = 3
/** Rounds without a new best after which the loop starts from another parent too. */
const PLATEAU = 3
/** Proposals that repeat what was measured before the agent gives up: the CLI answers a duplicate without measuring. */
const TRIES = 40

/** One search of one problem: what was measured, and what was kept. */
export class Search {
  #known = new Set()
  #nodes = []
  #children = []
  #machine = null
  /** The true value of the best after each evaluation. */
  curve = []

  constructor({ name, make }, seed) {
    this.problem = make(new Random(`${name}/${seed}`))
    this.random = new Random(`${name}/${seed}/agent`)
    if (this.problem.noisy) this.#machine = new Machine(`${name}/${seed}/machine`)
    this.baseline = this.#add(this.problem.start, null)
  }

  get over() {
    return this.curve.length >= EVALUATIONS
  }

  /** Kept, the baseline first. */
  get kept() {
    return this.#nodes
  }

  /** By score, as the run sees it. */
  get best() {
    return this.#nodes.reduce((best, node) => (node.score > best.score ? node : best))
  }

  /** A proposal on top of `parent`, measured against it: the new node, `false` when it is not kept, null when there is nothing new. */
  tryOn(parent) {
    for (let n = 0; n < TRIES; n++) {
      const point = this.problem.propose(parent.point, this.random)
      if (this.#known.has(String(point))) continue
      return this.judge(point, parent)
    }
    return null
  }

  judge(point, parent) {
    this.#known.add(String(point))
    this.#children[parent.index] += 1
    const kept = this.#isBetter(point, parent)
    const node = kept && this.#add(point, parent)
    this.curve.push(this.best.truth)
    return node
  }

  isKnown(point) {
    return this.#known.has(String(point))
  }

  /** As the policies see them. */
  get candidates() {
    return this.#nodes.map(({ index, parent, score, tasks }) => ({
      id: String(index),
      parent: parent && String(parent.index),
      value: score,
      score,
      tasks,
      children: this.#children[index],
      keptChildren: this.#nodes.filter((child) => child.parent?.index === index).length,
      order: String(index).padStart(6, '0'),
    }))
  }

  #isBetter(point, parent) {
    const value = this.problem.value(point)
    if (!this.#machine) return value > parent.truth
    return this.#machine.verdict(value / 100, parent.truth / 100).kept
  }

  #add(point, parent) {
    const { problem } = this
    const truth = problem.value(point)
    // What some dozen samples say of it.
    const score = problem.noisy ? truth + 0.5 * this.random.normal() : truth
    const node = {
      index: this.#nodes.length,
      point,
      parent,
      truth,
      score,
      tasks: problem.tasks?.(point) ?? null,
    }
    this.#known.add(String(point))
    this.#nodes.push(node)
    this.#children.push(0)
    return node
  }
}

/** One candidate after the other, each on top of the best. */
function keepIfBetter(search) {
  while (!search.over) if (search.tryOn(search.best) === null) return
}

/** Every candidate starts from the baseline. */
function bestOfN(search) {
  while (!search.over) if (search.tryOn(search.baseline) === null) return
}

/** Every candidate starts from a kept one, each equally likely. */
function randomParents(search) {
  for (let idle = 0; !search.over && idle < 100; ) {
    const parent = search.kept[Math.floor(search.random.uniform() * search.kept.length)]
    idle = search.tryOn(parent) === null ? idle + 1 : 0
  }
}

/** Rounds of lanes, as the loop opens them. `k`: how many parents the policy picks; the lanes get them in turn. */
const rounds = (policy, k, merges) => (search) => {
  const started = []
  const known = { failed: [], clashes: [] }
  let stall = 0
  for (let idle = 0; !search.over && idle < 10; ) {
    const picked = policy.pick(search.candidates, k).map(({ experiment }) => experiment)
    const plateau = [...started.slice(started.length - stall).flat(), ...picked]
    const other = stall >= PLATEAU ? untried(search.candidates, plateau) : []
    const parents = [...picked, ...other]
    started.push(parents.slice(0, WIDTH))
    const best = search.best
    const spent = search.curve.length
    const lanes = Array.from(
      { length: WIDTH },
      (_, lane) => search.kept[Number(parents[lane % parents.length])],
    )
    for (let depth = 0; depth < DEPTH; depth++)
      for (const [lane, parent] of lanes.entries())
        if (!search.over) lanes[lane] = search.tryOn(parent) || parent
    if (merges) merge(search, known)
    stall = search.best === best ? stall + 1 : 0
    idle = search.curve.length === spent ? idle + 1 : 0
  }
}

/** As `newDirection` of the product: an open one first, best first. */
function untried(candidates, tried) {
  return candidates
    .filter(({ id }) => !tried.includes(id))
    .sort((a, b) => Number(a.keptChildren > 0) - Number(b.keptChildren > 0) || byScore(a, b))
    .slice(0, 1)
    .map(({ id }) => id)
}

/** Puts the tips of the tree on top of the best, as `assay merge` does. */
function merge(search, known) {
  const { best } = search
  const linesOf = (node) =>
    node ? [node, ...linesOf(node.parent), ...(node.others ?? []).flatMap(linesOf)] : []
  const contained = new Set(linesOf(best).map(({ index }) => index))
  const parents = new Set(
    search.kept.flatMap((node) => [node.parent, ...(node.others ?? [])]).map((node) => node?.index),
  )
  const tips = search.kept.filter(({ index }) => !contained.has(index) && !parents.has(index))
  if (tips.length === 0) return
  const ranked = [best, ...tips.sort((a, b) => b.score - a.score)]
  const nodes = new Map(ranked.map((node) => [String(node.index), node]))
  // What this merge learns counts from the next one on.
  const plan = {
    ranked: [...nodes.keys()],
    known: { failed: [...known.failed], clashes: [...known.clashes] },
  }
  const answers = []
  let on = best
  for (
    let step = nextMerge(plan, answers);
    step.next === 'merge' && !search.over;
    step = nextMerge(plan, answers)
  ) {
    const added = step.set.slice(step.on).map((id) => nodes.get(id))
    const between = clash(search, on, added)
    if (between) {
      const pair = between.map((node) => (node === on ? step.set[0] : String(node.index)))
      known.clashes.push(pair)
      answers.push({ set: step.set, outcome: 'conflict', between: pair })
      continue
    }
    const set = [on, ...added]
    const point = mergePoints(
      commonAncestor(set).point,
      set.map(({ point }) => point),
      search.problem.loose,
    )
    const kept = !search.isKnown(point) && search.judge(point, on)
    if (kept) {
      kept.others = added
      on = kept
    } else known.failed.push(step.set)
    answers.push({ set: step.set, outcome: kept ? 'kept' : 'refused' })
  }
}

/** The first of `added` that does not merge as text with `on`, or with one before it, and that one. */
function clash({ problem }, on, added) {
  const { point } = commonAncestor([on, ...added])
  for (const [i, one] of added.entries())
    for (const other of [on, ...added.slice(0, i)])
      if (!mergePoints(point, [other.point, one.point], problem.loose)) return [other, one]
  return null
}

function commonAncestor(set) {
  const lines = set.map((node) => {
    const line = []
    for (let at = node; at; at = at.parent) line.push(at)
    return line
  })
  return lines[0].find((node) => lines.every((line) => line.includes(node)))
}

const tree = (policy, k, merges) => ({
  name: `${policy.name}, k=${k}${merges ? ', merges' : ''}`,
  search: rounds(policy, k, merges),
})

/** The product's own, by the defaults of the spec. */
export const DEFAULT = tree(policyOfRun('auto'), 1, true)

/** The first two need no tree: the default must find at least what the better of them finds. */
export const SEARCHES = [
  { name: 'keep if better', search: keepIfBetter },
  { name: 'best of N', search: bestOfN },
  { name: 'random parents', search: randomParents },
  DEFAULT,
  ...POLICIES.flatMap((policy) =>
    [1, 2, 5].flatMap((k) => [true, false].map((merges) => tree(policy, k, merges))),
  ).filter(({ name }) => name !== DEFAULT.name),
]
