/**
 * Measures a candidate once, without an attempt: setup, build, gates and one sample, and a list of what does not work. It
 * costs nothing of the budget and records no event. `run --check` asks it to test the spec and the benchmark before an attempt; a
 * round that only repeats a suite asks it for the loss of the same texts once more.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tailOf } from '../evaluate/command.ts'
import { incomparable } from '../evaluate/comparable.ts'
import { checkConstraints } from '../evaluate/constraints.ts'
import { inWords } from '../evaluate/crowd.ts'
import { unfitFor } from '../evaluate/plausible.ts'
import type { GatePhase, Sample } from '../ledger/events.ts'
import { BASELINE, type Experiment } from '../ledger/state.ts'
import { checksFolder } from '../paths.ts'
import { redact } from '../redact.ts'
import { ok, type Result } from '../result.ts'
import { firstItems, readItems } from '../run/items.ts'
import type { OpenRun, RunRecord } from '../run/open.ts'
import { doErrand, type ErrandKind } from './errand.ts'
import { gatesOn } from './gates.ts'
import type { GateDone, Seat } from './session.ts'
import { baselineSample } from './steps.ts'
import {
  type CurrentCandidate,
  currentCandidate,
  type ExtraMeasurement,
  failedPreparation,
  measureWithoutAttempt,
  type NumberedFolder,
  numberedFolder,
} from './without-attempt.ts'

export interface CheckAnswer {
  experiment: string
  /** Its record: `exp/0007/checks/<check>/`. */
  check: number
  /** Name of the machine, where a job measured it; absent = this one. */
  node?: string
  passed: boolean
  /** What does not work, in the order in which it was found; empty when it passed. */
  problems: string[]
  /** The tree that was checked; `sealed` when the worktree may no longer change. */
  looked_at: 'worktree' | 'sealed'
  tree: string
  gates: { name: string; phase: GatePhase; passed: boolean; output: string }[]
  /** What was read of the benchmark's answer; null when nothing was. */
  value: number | null
  metrics: Record<string, number | boolean>
  units: Record<string, string>
  tasks: Record<string, number> | null
  wall_ms: number | null
  exit: number | null
  /** The end of the output of the benchmark, or else of the step that failed. */
  output: string
}

const TAIL = 2000
const TASKS = 200

export async function runCheck(run: OpenRun, node: Experiment): Promise<Result<CheckAnswer>> {
  const looked = await currentCandidate(run, node)
  if (!looked.ok) return looked
  const at = numberedFolder(checksFolder(run.paths, node.id))
  const { commit, tree, fromWorktree, secrets } = looked.value
  const asked = { number: at.number, fromWorktree, secrets }
  const given = { node, asked, candidates: [{ commit, tree }] }
  const done = await doErrand(run, CHECK, { ...given, home: at.folder, about: `the check of ${node.id}` })
  if (!done.ok) return done
  const { found, job } = done.value
  const answer = { ...found, ...(job?.placed && { node: job.placed.node }) }
  writeFileSync(join(at.folder, 'check.json'), `${redact(JSON.stringify(answer))}\n`)
  return ok(answer)
}

type Asked = Pick<NumberedFolder, 'number'> & Pick<CurrentCandidate, 'fromWorktree' | 'secrets'>

export const CHECK: ErrandKind<Asked, CheckAnswer> = {
  name: 'check',
  take: (run, { node, asked, candidates: [candidate], folder }) =>
    measureWithoutAttempt(run, { folder, about: node.id }, async (looking) => {
      if (!candidate) throw new Error('a check needs a candidate')
      const seat = await looking.put({ experiment: node.id, ...candidate }, 'b')
      if (!seat.ok) return seat
      const looked = { ...asked, tree: candidate.tree }
      return ok(await measureOnce(run, node, looked, folder, looking, seat.value))
    }),
}

async function measureOnce(
  run: OpenRun,
  node: Experiment,
  looked: Asked & Pick<CurrentCandidate, 'tree'>,
  folder: string,
  { session, choices }: ExtraMeasurement,
  seat: Seat,
): Promise<CheckAnswer> {
  const answer: CheckAnswer = {
    experiment: node.id,
    check: looked.number,
    passed: false,
    problems: looked.secrets.map(({ path, reason }) => `${path} looks like a secret (${reason})`),
    looked_at: looked.fromWorktree ? 'worktree' : 'sealed',
    tree: looked.tree,
    gates: [],
    value: null,
    metrics: {},
    units: {},
    tasks: null,
    wall_ms: null,
    exit: null,
    output: '',
  }
  const failed = failedPreparation(seat)
  if (failed) {
    const { step, fault } = failed
    answer.problems.push(`worktree.${step} failed: ${fault.message}`)
    answer.output = tailOf(join(folder, `${step}.out`), TAIL)
    return answer
  }
  const rules = gatesOn(run, node.id)
  const { site, started, spec } = run
  const sets =
    spec.judge && (await readItems({ site, tree: looked.tree, prefix: started.prefix }, spec.judge))
  if (sets && !sets.ok) {
    answer.problems.push(sets.problem.message)
    return answer
  }
  const sample = await session.sample(seat, {
    stage: 'check',
    side: 'candidate',
    pair: 0,
    seed: choices.seed('check', 0),
    items: sets && firstItems(sets.value).map(({ id }) => id),
    folder,
    reference: baselineSample(run),
  })
  const gates: GateDone[] = []
  for (const rule of rules) gates.push(await session.gate(seat, rule))
  readSample(run, node, answer, sample, folder)
  answer.gates = gates.map(({ name, phase, passed, output }) => ({
    name,
    phase,
    passed,
    output: passed ? '' : output.slice(-TAIL),
  }))
  for (const gate of gates) {
    if (gate.passed) continue
    const how = gate.timed_out ? 'reached its time limit' : `exit ${gate.exit ?? gate.signal ?? 'unknown'}`
    answer.problems.push(`gate ${gate.name} did not pass: ${gate.fault?.message ?? how}`)
  }
  answer.passed = answer.problems.length === 0
  return answer
}

function readSample(run: RunRecord, node: Experiment, answer: CheckAnswer, sample: Sample, folder: string) {
  const tasks = sample.tasks && Object.entries(sample.tasks).slice(0, TASKS)
  Object.assign(answer, {
    value: sample.value,
    metrics: sample.metrics,
    units: sample.units,
    tasks: tasks && Object.fromEntries(tasks.map(([task, { score }]) => [task, score])),
    wall_ms: Math.round(sample.wall_ms),
    exit: sample.exit,
    output: tailOf(join(folder, sample.stderr), TAIL) || tailOf(join(folder, sample.stdout), TAIL),
  })
  if (sample.fault) {
    answer.problems.push(`no value: ${sample.fault.message}`)
    return
  }
  const different = incomparable(node.id === BASELINE ? null : baselineSample(run), sample)
  if (different !== null) answer.problems.push(different)
  const unfit = unfitFor({ controls: run.spec.controls ?? [], metric: run.spec.metric }, sample)
  if (unfit !== null && node.id === BASELINE) answer.problems.push(unfit)
  answer.problems.push(...checkConstraints(run.spec.constraints, [sample]).map(inWords))
}
