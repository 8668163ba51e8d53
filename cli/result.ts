/**
 * The two shapes that every layer shares: a `Result` for failures that are expected, and the `Problem` it
 * carries. Expected failures are values; a thrown error is a bug in Assay (exit 1).
 */

import type { Said } from './next.ts'

/** What kind of failure it is decides the exit code, in one place. */
export type ProblemKind = 'usage' | 'refused' | 'failed' | 'timeout' | 'interrupted'

export const EXIT: Record<ProblemKind, number> = {
  /** Wrong arguments, or a spec that does not hold. */
  usage: 2,
  /** Refused by state or budget. */
  refused: 3,
  /** Could not be evaluated. */
  failed: 4,
  /** `assay wait` ran out of time. */
  timeout: 124,
  /** Ctrl-C. */
  interrupted: 130,
}

export interface Problem {
  kind: ProblemKind
  /** Stable snake_case name that scripts may branch on. */
  code: string
  /** What is wrong, in one sentence that names the thing. */
  message: string
  /** The next step; a `Next` when it has commands of this CLI. */
  hint?: Said
  /** Where: `file:line:column` and the user's own line, or a path. */
  at?: string
  /** The other problems of the same pass; never nested deeper. */
  more?: Problem[]
  /** Facts that a program needs to continue, for example the current round and its token. */
  data?: unknown
  /** A different process was quicker: a caller that reads the record again finds what it did. For callers only, never shown. */
  raced?: true
}

export type Result<T> = { ok: true; value: T } | { ok: false; problem: Problem }

export const ok = <T>(value: T): Result<T> => ({ ok: true, value })
export const fail = (problem: Problem): { ok: false; problem: Problem } => ({ ok: false, problem })

/** Closes an exhaustive switch: a new member of a union becomes a compile error here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
