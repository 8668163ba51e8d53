import type { Problem, Result } from '../../cli/result.ts'
import { readSpec } from '../../cli/spec/read.ts'
import type { Spec } from '../../cli/spec/spec.ts'

/** The least spec that holds. */
export const LEAST = `version: 1
name: faster-parser
goal: Parse faster.
scope: { mutable: [src/**] }
measure: { command: node bench.js }
metric: { name: ms, direction: minimize }
`

/** Every problem as `line:column message → hint`. */
export function problemsOf(result: Result<unknown>): string[] {
  if (result.ok) return []
  const all: Problem[] = [result.problem, ...(result.problem.more ?? [])]
  return all.map(
    ({ at, message, hint }) => `${at?.split('\n')[0]?.replace('assay.yaml:', '')} ${message} → ${hint}`,
  )
}

export const problemsIn = (text: string): string[] => problemsOf(readSpec(text, 'assay.yaml'))

export function specOf(text: string): Spec {
  const read = readSpec(text, 'assay.yaml')
  if (!read.ok) throw new Error(problemsOf(read).join('\n'))
  return read.value
}
