/**
 * How parents are picked from the frontier. Pure. `npm run bench:search` compares the policies with searches that need none,
 * and shows why there are so few: eight were tried, and no other one found more than the better of these two on any problem.
 */
import type { Pick } from '../ledger/events.ts'
import { fail, ok, type Result } from '../result.ts'
import { byScore, type Candidate, firstOf } from './frontier.ts'

export interface Policy {
  name: string
  summary: string
  /** Whether it would ever pick the node, whatever else is there. A node whose score is not finite is never taken. */
  takes(node: Candidate): boolean
  /** Min(k, nodes it takes) distinct picks, best first, with ranks from 1. Does not depend on the order of `nodes`. */
  pick(nodes: readonly Candidate[], k: number): Pick[]
}

function bestFirst(definition: {
  name: string
  summary: string
  takes?: (node: Candidate) => boolean
  why(node: Candidate, rank: number, count: number): string
}): Policy {
  const takes = (node: Candidate) => Number.isFinite(node.score) && (definition.takes?.(node) ?? true)
  return {
    name: definition.name,
    summary: definition.summary,
    takes,
    pick(nodes, k) {
      const taken = nodes.filter(takes)
      return firstOf(taken, Math.floor(k), byScore).map((node, at) => ({
        experiment: node.id,
        value: node.value,
        rank: at + 1,
        why: definition.why(node, at + 1, taken.length),
      }))
    },
  }
}

export const argmax = bestFirst({
  name: 'argmax',
  summary: 'the best kept experiments, with or without kept children',
  why: ({ value }, rank, count) => `${placeOf(rank)} of ${count}, at ${sixDigits(value)}`,
})

/** A kept child is better than its parent by definition, so what is left are the leaves of the kept tree. */
export const openOnly = bestFirst({
  name: 'open_only',
  summary: 'the best kept experiments that have no kept child',
  takes: ({ keptChildren }) => keptChildren === 0,
  why({ value, children }, rank, count) {
    const tried = children === 0 ? 'nothing tried on it yet' : `${children} tried on it, none kept`
    return `${placeOf(rank)} of ${count} open ones, at ${sixDigits(value)}: ${tried}`
  },
})

const placeOf = (rank: number): string => (rank === 1 ? 'the best' : `number ${rank}`)

/** A number for a person: six significant digits at most. */
export const sixDigits = (value: number): string => String(Number(value.toPrecision(6)))

/** Every policy there is; validation, help and reports read this table. */
export const POLICIES: readonly Policy[] = [openOnly, argmax]

/** What a spec and `assay config set policy` may name. */
export const policyNames: readonly string[] = ['auto', ...POLICIES.map(({ name }) => name)]

/** The policy that a run was started with: `auto`, and a name that only an earlier version knows, is `open_only`. */
export const policyOfRun = (name: string): Policy =>
  POLICIES.find((policy) => policy.name === name) ?? openOnly

/** The policy that a user names now. */
export function policyNamed(name: string): Result<Policy> {
  if (policyNames.includes(name)) return ok(policyOfRun(name))
  return fail({
    kind: 'usage',
    code: 'unknown_policy',
    message: `there is no policy ${JSON.stringify(name)}`,
    hint: `use one of: ${policyNames.join(', ')}`,
  })
}
