import type { Pick } from '../ledger/events.ts'

/** An experiment that may become a parent. */
export interface Candidate {
  id: string
  parent: string | null
  /** In metric units, as it is shown. */
  value: number
  /** Higher is better, whatever the metric's direction. */
  score: number
  /** Per-task scores, higher is better; null when the benchmark reports none. */
  tasks: Readonly<Record<string, number>> | null
  /** How many experiments already have it as parent. */
  children: number
  /** How many of its children are on the frontier themselves: kept, standing, comparable. */
  keptChildren: number
  /** Unique and independent of timing: ties go to the lower one, and chance is bound to it. */
  order: string
}

export interface Param {
  default: number
  min: number
  max: number
  doc: string
}

/**
 * How parents are picked from the frontier.
 *
 * `pick` answers min(k, nodes it takes) distinct picks with ranks from 1, the first pick first. It must be pure, must
 * not depend on the order of `nodes`, nor on the metric's unit or zero point, and takes all chance from `rng`.
 * A node whose score is not finite is never taken. Missing params take their defaults, others are clamped.
 */
export interface Policy {
  name: string
  summary: string
  params: Readonly<Record<string, Param>>
  /** Whether it would ever pick the node, whatever else is there. */
  takes(node: Candidate): boolean
  pick(
    nodes: readonly Candidate[],
    k: number,
    rng: () => number,
    params?: Readonly<Record<string, number>>,
  ): Pick[]
}

/** The usable nodes, and their scores scaled so that differences cannot overflow. */
export interface Field {
  nodes: readonly Candidate[]
  scores: Float64Array
}

/** A chosen position in the field. */
export interface Choice {
  at: number
  why: string
}

interface Definition<Params extends Readonly<Record<string, Param>>> {
  name: string
  summary: string
  params: Params
  /** Default: every node. */
  takes?: (node: Candidate) => boolean
  /** Called with 1 ≤ k ≤ nodes; answers exactly k distinct positions. */
  choose(field: Field, k: number, rng: () => number, params: { [P in keyof Params]: number }): Choice[]
}

/** Wraps what every policy owes its callers around the choice that makes it different. */
export function policy<const Params extends Readonly<Record<string, Param>>>(
  definition: Definition<Params>,
): Policy {
  return {
    name: definition.name,
    summary: definition.summary,
    params: definition.params,
    takes: (node) => Number.isFinite(node.score) && (definition.takes?.(node) ?? true),
    pick(nodes, k, rng, given = {}) {
      const field = fieldOf(definition.takes === undefined ? nodes : nodes.filter(definition.takes))
      const wanted = Math.min(Math.floor(k), field.nodes.length)
      if (!(wanted >= 1)) return []
      const choices = definition.choose(field, wanted, rng, settle(definition.params, given))
      return choices.map(({ at, why }, index) => {
        const node = nodeAt(field, at)
        return { experiment: node.id, value: node.value, rank: index + 1, why }
      })
    },
  }
}

/** The node at a position that a policy itself computed. */
export function nodeAt(field: Field, at: number): Candidate {
  const node = field.nodes[at]
  if (node === undefined) throw new Error(`no candidate at ${at} of ${field.nodes.length}`)
  return node
}

/** A number for a person: six significant digits at most. */
export const figure = (value: number): string => String(Number(value.toPrecision(6)))

function fieldOf(given: readonly Candidate[]): Field {
  const nodes = given.every((node) => Number.isFinite(node.score))
    ? given
    : given.filter((node) => Number.isFinite(node.score))
  const scores = new Float64Array(nodes.length)
  let largest = 0
  // Plain loops: `Float64Array.from` with a function is ten times slower, and a frontier may hold 100,000 nodes.
  for (let at = 0; at < scores.length; at++) {
    const score = nodes[at]?.score ?? 0
    scores[at] = score
    largest = Math.max(largest, Math.abs(score))
  }
  // A power of two keeps every ratio exact.
  if (largest > 2 ** 1000)
    for (let at = 0; at < scores.length; at++) scores[at] = (scores[at] ?? 0) / 2 ** 100
  return { nodes, scores }
}

function settle<Params extends Readonly<Record<string, Param>>>(
  params: Params,
  given: Readonly<Record<string, number>>,
): { [P in keyof Params]: number } {
  const settled: Record<string, number> = {}
  for (const [name, param] of Object.entries(params)) {
    const value = given[name]
    settled[name] =
      value === undefined || Number.isNaN(value)
        ? param.default
        : Math.min(param.max, Math.max(param.min, value))
  }
  return settled as { [P in keyof Params]: number }
}
