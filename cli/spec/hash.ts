import { createHash } from 'node:crypto'
import { canonical, frozenOf } from './frozen.ts'
import type { Spec } from './spec.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** SHA-256 (hex) of the canonical JSON of the whole spec. Comments, order and spelling do not count. */
export const specHash = (spec: Spec): string => sha256(canonical(spec))

/** The same of what is measured: two runs with equal hashes are comparable on the same base. */
export const frozenHash = (spec: Spec): string => sha256(canonical(frozenOf(spec)))
