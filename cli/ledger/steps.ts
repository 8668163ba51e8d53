/** `attempts/<n>/steps.jsonl`: what happened inside one attempt, as it happened, under the ledger's append rule. */
import { createHash, randomBytes } from 'node:crypto'
import { stepsFile, stepsOfJob } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { appendLine, readFrom, splitLines } from './append.ts'
import { FORMAT_NAME, type GateResult, type Sample, type StepLine } from './events.ts'

export type StepDraft = StepLine extends infer L
  ? L extends StepLine
    ? Omit<L, 'v' | 'id' | 'at'>
    : never
  : never

export function recordStep(file: string, draft: StepDraft, at: Date): Result<void> {
  const id = randomBytes(6).toString('base64url')
  const stamp = { v: FORMAT_NAME, id, at: at.toISOString() }
  return appendLine(file, JSON.stringify({ ...stamp, ...draft }), (torn) =>
    JSON.stringify({ ...stamp, id: `${id}.h`, step: 'healed', ...torn }),
  )
}

/** Every line that can be read; an unfinished one is as if its step had not happened. */
export function readSteps(file: string): StepLine[] {
  const bytes = readFrom(file, 0)
  if (!bytes.ok) throw new Error(bytes.problem.message)
  return splitLines(bytes.value, 0).flatMap(({ value }) =>
    value && 'step' in value ? [value as unknown as StepLine] : [],
  )
}

/** Of an attempt as it is now, to be shown: what its job has recorded so far, while one measures it. */
export function stepsToShow(attempt: string): StepLine[] {
  const steps = readSteps(stepsFile(attempt))
  return steps.length > 0 ? steps : readSteps(stepsOfJob(attempt))
}

export const samplesOf = (steps: StepLine[]): Sample[] =>
  steps.flatMap((line) => (line.step === 'sample' ? [line.sample] : []))
export const gatesOf = (steps: StepLine[]): GateResult[] =>
  steps.flatMap((line) => (line.step === 'gate' ? [line.gate] : []))

/** What binds the verdict to its steps. */
export function stepsDigest(file: string): Result<{ sha256: string; lines: number }> {
  const bytes = readFrom(file, 0)
  if (!bytes.ok) return bytes
  return ok({
    sha256: createHash('sha256').update(bytes.value).digest('hex'),
    lines: splitLines(bytes.value, 0).length,
  })
}
