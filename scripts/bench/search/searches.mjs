/** The searches that are compared. Each spends the same number of evaluations; a merge that is measured is one of them. */
import { byScore } from '../../../cli/search/frontier.ts'
import { clashing } from '../../../cli/search/merge.ts'
import { POLICIES, policyOfRun } from '../../../cli/search/policies.ts'
import { Machine } from '../attribute/machine.mjs'
import { Random } from '../decisions/random.mjs'
import { mergeAll, nothingKnown } from '../merging.mjs'
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
  const known = nothingKnown()
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
    // A lane goes on from what it kept, and ends with what it did not keep.
    for (let depth = 0; depth < DEPTH; depth++)
      for (const [lane, parent] of lanes.entries())
        if (parent && !search.over) lanes[lane] = search.tryOn(parent) || null
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

/** Puts the tips of the tree on top of the best. */
function merge(search, known) {
  const contained = new Set(lineOf(search.best))
  const covered = new Set(search.kept.flatMap(parentsOf))
  const tips = search.kept.filter((node) => !contained.has(node) && !covered.has(node))
  const ranked = [search.best, ...tips.sort((a, b) => b.score - a.score)]
  const nodeOf = (id) => search.kept[Number(id)]
  mergeAll(ranked.map(mergeable), known, (chosen) => {
    if (search.over) return null
    const [on, ...added] = chosen.map(({ id }) => nodeOf(id))
    const conflict = conflictIn(search.problem, on, added)
    if (conflict) return { conflict }
    const set = [on, ...added]
    const sides = set.map(({ point }) => point)
    const point = mergePoints(commonAncestor(set).point, sides, search.problem.loose)
    const kept = !search.isKnown(point) && search.judge(point, on)
    if (!kept) return { kept: null }
    kept.others = added
    return { kept: String(kept.index) }
  })
}

const parentsOf = ({ parent, others = [] }) => [...(parent ? [parent] : []), ...others]
const lineOf = (node) => [node, ...parentsOf(node).flatMap(lineOf)]
const partsOf = (node) => (node.others ? parentsOf(node).flatMap(partsOf) : [node])
const idsOf = (nodes) => nodes.map(({ index }) => String(index))
const mergeable = (node) => ({
  id: String(node.index),
  parts: idsOf(partsOf(node)),
  contains: new Set(idsOf(lineOf(node))),
})

/** Ids: the first of `added` that does not merge as text, and what it conflicts with: one, if one alone does, else all before it. */
function conflictIn({ loose }, on, added) {
  const { point } = commonAncestor([on, ...added])
  const clashes = (ancestor, one, other) => !mergePoints(ancestor, [one.point, other.point], loose)
  for (const [at, last] of added.entries()) {
    const before = [on, ...added.slice(0, at)]
    if (!before.some((one) => clashes(point, one, last))) continue
    const line = lineOf(last)
    const one = before
      .flatMap(partsOf)
      .find((part) => !line.includes(part) && clashes(commonAncestor([part, last]).point, part, last))
    return one ? idsOf([one, last]) : clashing(before.map(mergeable), mergeable(last))
  }
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
