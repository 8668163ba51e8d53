import { presetOf } from '../evaluate/presets/registry.ts'
import { secretsIn } from '../redact.ts'
import type { Spec } from './spec.ts'

/** What a valid spec leaves open and its author should know before anything is spent; one sentence each. */
export function warningsOf(spec: Spec): string[] {
  const warnings: string[] = []
  const { scope, gates, constraints, budget } = spec
  for (const glob of scope.mutable.filter((one) => scope.immutable.includes(one))) {
    warnings.push(`${glob} is both mutable and immutable: immutable wins, so no candidate may change it`)
  }
  if (gates.length === 0 && constraints.length === 0) {
    warnings.push(
      'no gate and no constraint is declared: a candidate that breaks the code but scores well is kept',
    )
  }
  if (budget.experiments === null && budget.hours === null) {
    warnings.push('no budget is set: the loop ends by itself only at the target or when it stalls')
  }
  if (spec.worktree.cache && spec.worktree.build === null) {
    warnings.push('worktree.cache does nothing without worktree.build')
  }
  const { read } = spec.measure
  const known = typeof read === 'object' && 'preset' in read ? presetOf(read.preset) : null
  const named = known?.metrics.find(({ name }) => name === spec.metric.name)
  if (known && named && named.better !== spec.metric.direction && named.unit !== '`scoreUnit`') {
    warnings.push(
      `metric.direction is ${spec.metric.direction}, and ${named.name} of ${known.name} is usually better when it is ${named.better === 'minimize' ? 'less' : 'more'}`,
    )
  }
  if (spec.measure.slots > 1) {
    warnings.push(`${spec.measure.slots} measurements may run at once: timings disturb each other`)
  }
  for (const [name, value] of Object.entries(spec.measure.environment.set)) {
    if (secretsIn(`${name}=${value}`).length === 0) continue
    warnings.push(
      `measure.environment.set.${name} looks like a secret, and the spec is committed and copied into each run: write it to a file that git ignores and name that in measure.environment.file, with keys: [${name}]`,
    )
  }
  return warnings
}
