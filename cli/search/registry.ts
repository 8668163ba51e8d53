import { fail, ok, type Result } from '../result.ts'
import { argmax } from './argmax.ts'
import { epsilonGreedy } from './epsilon_greedy.ts'
import { openOnly } from './open_only.ts'
import { paretoPerTask } from './pareto_per_task.ts'
import type { Candidate, Policy } from './policy.ts'
import { powerLaw } from './power_law.ts'
import { softmax } from './softmax.ts'
import { topK } from './top_k.ts'
import { weighted } from './weighted.ts'

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
    hint: `take one of: ${policyNames.join(', ')}`,
  })
}

function hasSeveralTasks({ tasks }: Candidate): boolean {
  let seen = 0
  for (const task in tasks) if (task !== undefined && ++seen === 2) return true
  return false
}
