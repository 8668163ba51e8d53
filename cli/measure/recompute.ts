/** A verdict computed again from what was recorded: the same rules, with the record in place of the slot. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { Verdict } from '../evaluate/verdict.ts'
import type { Judged } from '../ledger/events.ts'
import { Ledger } from '../ledger/ledger.ts'
import type { Attempt, Experiment } from '../ledger/state.ts'
import { call, next, type Said } from '../next.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun, RunRecord } from '../run/open.ts'
import { collect, noEvidence } from './judge.ts'
import { choicesOfAttempt } from './random-choices.ts'
import { lacking, RecordedSource } from './recorded-source.ts'
import { Recorder, RecordLost } from './steps.ts'
import { testsIn } from './tests-gone.ts'
import { ATTEMPT, type RunInTrial, type Trial } from './trial.ts'
import { verdictEvent, verdictOn } from './verdict-event.ts'

export interface Recomputed {
  attempt: number
  /** Whether the computed verdict equals that of the ledger. */
  same: boolean
  /** Fields that differ. */
  differences: { field: string; recorded: unknown; recomputed: unknown }[]
  /** Whether the record of the attempt is the one that the verdict was bound to. */
  record: 'intact' | 'changed'
  message: string
}

/** Fields of the event that the evidence does not decide. */
const NOT_DECIDED: readonly string[] = ['v', 'id', 'at', 'key', 'wall_ms', 'steps'] satisfies (keyof Judged)[]

/** Computes the last verdict again. Refused when the verdict does not rest on a measurement. */
export async function recompute(run: OpenRun, node: Experiment): Promise<Result<Recomputed>> {
  const attempt = node.attempts.findLast(({ judged }) => judged !== null)
  const judged = attempt?.judged
  if (!attempt || !judged)
    return refuse(`${node.id} has no verdict`, next`run it first: ${call('run', node.id)}`)
  if (!attempt.claim || judged.aborted || judged.reason === 'aborted')
    return refuse(`${node.id} was not measured: ${judged.message}`, 'only what was measured can be computed')
  const then = Ledger.before(run.ledger.file, judged.id)
  if (!then.ok) return then
  const before = then.value.state.experiments.get(node.id)
  if (!before) throw new Error(`the ledger has a verdict on ${node.id}, and does not know it`)
  const { spec, started, paths, env } = run
  const at: RunInTrial = { ledger: then.value, spec, started, paths, env }
  const record = new Recorder(
    run,
    { experiment: node.id, folder: attemptFolder(run.paths, node.id, attempt.attempt) },
    { writes: false },
  )
  const trial: Trial = {
    run: at,
    node: before,
    plan: ATTEMPT,
    choices: choicesOfAttempt(at, before, attempt.attempt),
    record,
    source: new RecordedSource(judged.artifacts ?? {}, record),
    evidence: noEvidence(at, before),
  }
  try {
    const found = await again(trial)
    return ok(compare(run, attempt, judged, trial, found))
  } catch (error) {
    if (!(error instanceof RecordLost)) throw error
    // With an intact record this is a bug of Assay's; a changed record is an answer to the question.
    if (isIntact(run, node.id, attempt.attempt, judged)) return fail(error.problem)
    const { message } = error.problem
    return ok({ ...answerOf(run, attempt, judged, []), same: false, message })
  }
}

async function again(trial: Trial): Promise<Verdict> {
  const { record, evidence } = trial
  const prepared = record.decided('prepared').at(-1)
  if (!prepared) throw lacking('the build')
  await collect(trial, prepared.preparation)
  const { tampered = [], beside = false } = record.decided('tampered').at(-1) ?? {}
  Object.assign(evidence, { tampered, beside })
  evidence.tests = testsIn(record)
  return verdictOn(evidence)
}

function compare(
  run: OpenRun,
  attempt: Attempt,
  judged: Judged,
  { run: then, node, evidence }: Trial,
  verdict: Verdict,
): Recomputed {
  const recomputed = verdictEvent(then, node, attempt, evidence, verdict)
  const [before, now] = [new Map(Object.entries(judged)), new Map(Object.entries(recomputed))]
  const changed = [...new Set([...before.keys(), ...now.keys()])].flatMap((field) => {
    if (NOT_DECIDED.includes(field)) return []
    const [was, is] = [before.get(field) ?? null, now.get(field) ?? null]
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ field, recorded: was, recomputed: is }]
  })
  return { ...answerOf(run, attempt, judged, changed), message: recomputed.message }
}

function answerOf(
  run: OpenRun,
  { attempt }: Attempt,
  judged: Judged,
  differences: Recomputed['differences'],
): Omit<Recomputed, 'message'> {
  const record = isIntact(run, judged.experiment, attempt, judged) ? 'intact' : 'changed'
  return { attempt, same: differences.length === 0 && record === 'intact', differences, record }
}

/** The first lines of the record, as many as there were. */
function isIntact(run: RunRecord, experiment: string, attempt: number, { steps }: Judged): boolean {
  const file = stepsFile(attemptFolder(run.paths, experiment, attempt))
  if (!existsSync(file)) return false
  const bytes = readFileSync(file)
  let end = 0
  for (let line = 0; line < steps.lines; line++) {
    const next = bytes.indexOf(10, end)
    if (next < 0) return false
    end = next + 1
  }
  return createHash('sha256').update(bytes.subarray(0, end)).digest('hex') === steps.sha256
}

const refuse = (message: string, hint: Said) =>
  fail({ kind: 'refused', code: 'nothing_to_recompute', message, hint })
