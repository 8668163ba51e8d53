import { createHash } from 'node:crypto'
import { canonical } from '../json.ts'
import type { Spec } from './spec.ts'

/** Sections of what is measured. */
export const FROZEN = [
  'scope',
  'worktree',
  'measure',
  'metric',
  'tasks',
  'constraints',
  'protected',
  'controls',
  'holdout',
  'tie_breakers',
  'gates',
  'noise',
  'judge',
] as const
export type Frozen = Pick<Spec, (typeof FROZEN)[number]>

/** What is measured, and so may not change while a run lives. The rest is live. */
function frozenOf(spec: Spec): Frozen {
  return Object.fromEntries(FROZEN.map((name) => [name, spec[name]])) as Frozen
}

/** A spec that does not use a key has the hash that it had before there was that key. */
function comparable<S extends Pick<Spec, 'measure' | 'metric'> & Partial<Pick<Spec, 'agent'>>>(spec: S): S {
  const { isolation, ...measure } = spec.measure
  const chosen = isolation && canonical(isolation) !== canonical(BY_DEFAULT)
  const { unit, ...metric } = spec.metric
  const { sandbox, ...agent } = spec.agent ?? {}
  return {
    ...spec,
    measure: chosen ? spec.measure : measure,
    metric: unit == null ? metric : spec.metric,
    ...(spec.agent && !sandbox && { agent }),
  }
}

const BY_DEFAULT = { mode: 'auto', network: false, allow: [], write: [], fresh: 'candidate' }

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** SHA-256 (hex) of the canonical JSON of the whole spec. Comments, order and spelling do not count. */
export const specHash = (spec: Spec): string => sha256(canonical(comparable(spec)))

/** The same of what is measured: two runs with equal hashes are comparable on the same base. */
export const frozenHash = (spec: Spec): string => sha256(canonical(comparable(frozenOf(spec))))
