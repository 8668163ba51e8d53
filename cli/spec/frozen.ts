import type { Spec } from './spec.ts'

const FROZEN = [
  'scope',
  'worktree',
  'measure',
  'metric',
  'tasks',
  'constraints',
  'protected',
  'holdout',
  'tie_breakers',
  'gates',
  'noise',
] as const
export type Frozen = Pick<Spec, (typeof FROZEN)[number]>

/** What is measured, and so may not change while a run lives. The rest is live. */
export function frozenOf(spec: Spec): Frozen {
  return Object.fromEntries(FROZEN.map((name) => [name, spec[name]])) as Frozen
}

/** JSON text that is equal for equal data: no spaces, the names of each object in code unit order. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
  }
  return JSON.stringify(value)
}
