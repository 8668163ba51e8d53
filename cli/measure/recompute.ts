/** A verdict computed again from what was recorded: the same rules, with the record in place of the slot. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { Verdict } from '../evaluate/verdict.ts'
import type { Attributed, AttributionStarted, Judged } from '../ledger/events.ts'
import { Ledger } from '../ledger/ledger.ts'
import type { Attempt, Experiment } from '../ledger/state.ts'
import { call, next, type Said } from '../next.ts'
import { attemptFolder, attributionFolder, stepsFile } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun, RunRecord } from '../run/open.ts'
import { looseIn } from './artifacts.ts'
import { collect, noEvidence, testsIn } from './attempt.ts'
import { recomputeTest } from './attribution.ts'
import { choicesOfAttempt } from './random-choices.ts'
import { Recorder, RecordLost } from './steps.ts'
import { ATTEMPT, lacking, RecordedSource, type RunInTrial, type Trial } from './trial.ts'
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
  /** Tests of its parts that were measured; absent = none. `same` above holds for them too. */
  tests?: RecomputedTest[]
}

export interface RecomputedTest extends Pick<Recomputed, 'same' | 'differences' | 'record'> {
  attribution: number
  test: number
}

/** Fields of the event that the evidence does not decide. */
const NOT_DECIDED: readonly string[] = ['v', 'id', 'at', 'key', 'wall_ms', 'steps'] satisfies (keyof Judged)[]

/** Computes the last verdict again, and each test of its parts. Refused when the verdict does not rest on a measurement. */
export async function recompute(run: OpenRun, node: Experiment): Promise<Result<Recomputed>> {
  const verdict = await recomputeVerdict(run, node)
  if (!verdict.ok) return verdict
  const tests: RecomputedTest[] = []
  for (const { started, tests: answers } of run.ledger.state.attributions) {
    if (started.experiment !== node.id) continue
    for (const answer of answers) {
      const again = await recomputeAnswer(run, started, answer)
      if (!again.ok) return again
      if (again.value) tests.push(again.value)
    }
  }
  if (tests.length === 0) return verdict
  return ok({ ...verdict.value, same: verdict.value.same && tests.every(({ same }) => same), tests })
}

/** Fields of the event that the evidence decides. */
const DECIDED = ['outcome', 'pairs', 'estimate', 'interval', 'samples', 'message', 'varied'] as const

/** null when nothing was measured for it. */
async function recomputeAnswer(
  run: OpenRun,
  started: AttributionStarted,
  answer: Attributed,
): Promise<Result<RecomputedTest | null>> {
  const { attribution, test, steps, outcome, without, trees } = answer
  if (steps === null || outcome === 'same') return ok(null)
  const { file } = run.ledger
  const then = answer.placed ? Ledger.after(file, answer.placed.as_of) : Ledger.before(file, answer.id)
  if (!then.ok) return then
  const node = then.value.state.experiments.get(answer.experiment)
  if (!node) throw new Error(`the ledger has a test of ${answer.experiment}, and does not know it`)
  const { spec, started: begun, paths, env } = run
  const isWhole = trees.reference === started.trees.candidate
  const plan = { started, test, node, without, isWhole, paths: [] }
  const found = await recomputeTest(run, { ledger: then.value, spec, started: begun, paths, env }, plan)
  const folder = attributionFolder(run.paths, answer.experiment, { attribution, test })
  const record = recordHolds(stepsFile(folder), steps) ? ('intact' as const) : ('changed' as const)
  const about = { attribution, test, record }
  // With an intact record this is a bug of Assay's; a changed record is an answer to the question.
  if (!found.ok) return record === 'intact' ? found : ok({ ...about, same: false, differences: [] })
  const now = { ...found.value, message: found.value.message.slice(0, 500) }
  const differences = DECIDED.flatMap((field) => {
    const [was, is] = [answer[field] ?? null, now[field] ?? null]
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ field, recorded: was, recomputed: is }]
  })
  return ok({ ...about, same: differences.length === 0 && record === 'intact', differences })
}

async function recomputeVerdict(run: OpenRun, node: Experiment): Promise<Result<Recomputed>> {
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
  const measured = whenMeasured({ run: at, node: before }, run.ledger.file, attempt)
  if (!measured.ok) return measured
  const record = new Recorder(
    run,
    { experiment: node.id, folder: attemptFolder(run.paths, node.id, attempt.attempt) },
    { writes: false },
  )
  const trial: Trial = {
    ...measured.value,
    plan: ATTEMPT,
    choices: choicesOfAttempt(measured.value.run, measured.value.node, attempt.attempt),
    record,
    source: new RecordedSource(judged.artifacts ?? {}, record),
    evidence: noEvidence(measured.value.run, measured.value.node),
  }
  try {
    const found = await again(trial)
    return ok(compare(run, attempt, judged, { run: at, node: before, evidence: trial.evidence }, found))
  } catch (error) {
    if (!(error instanceof RecordLost)) throw error
    // With an intact record this is a bug of Assay's; a changed record is an answer to the question.
    if (isIntact(run, node.id, attempt.attempt, judged)) return fail(error.problem)
    const { message } = error.problem
    return ok({ ...answerOf(run, attempt, judged, []), same: false, message })
  }
}

/** The run and the candidate as the rules saw them that measured an attempt: a job knows nothing of what was recorded after it was packed. */
export function whenMeasured(
  now: Pick<Trial, 'run' | 'node'>,
  file: string,
  { job }: Pick<Attempt, 'job'>,
): Result<Pick<Trial, 'run' | 'node'>> {
  if (!job) return ok(now)
  const then = Ledger.after(file, job.as_of)
  if (!then.ok) return then
  const node = then.value.state.experiments.get(now.node.id)
  if (!node) throw new Error(`a job measured ${now.node.id}, and did not know it`)
  const { spec, started, paths, env } = now.run
  return ok({ run: { ledger: then.value, spec, started, paths, env }, node })
}

async function again(trial: Trial): Promise<Verdict> {
  await collectRecorded(trial)
  return verdictOn(trial.evidence)
}

/** Fills the evidence with what the record of an attempt says, by the rules that judged it or that judge it now. */
export async function collectRecorded(trial: Trial): Promise<void> {
  const { record, evidence } = trial
  const prepared = record.decided('prepared').at(-1)
  if (!prepared) throw lacking('the build')
  await collect(trial, prepared.preparation)
  const { tampered = [], beside = false, by = null } = record.decided('tampered').at(-1) ?? {}
  Object.assign(evidence, { tampered, beside, by })
  evidence.tests = testsIn(record)
  evidence.loose = looseIn(record)
}

function compare(
  run: OpenRun,
  attempt: Attempt,
  judged: Judged,
  { run: then, node, evidence }: Pick<Trial, 'run' | 'node' | 'evidence'>,
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

const isIntact = (run: RunRecord, experiment: string, attempt: number, { steps }: Judged): boolean =>
  recordHolds(stepsFile(attemptFolder(run.paths, experiment, attempt)), steps)

/** Whether the first lines of a record, as many as there were, are those that were digested. */
export function recordHolds(file: string, steps: Judged['steps']): boolean {
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
