/**
 * Starts a worker: a process (`assay run ID`) that judges an experiment and outlives its caller. `run --detach` and the loop ask for
 * it. `assay worker`, which a job of an executor starts on its node, is something else (`measure/on-node.ts`).
 */

import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Attempt, type Experiment, lastAttempt } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { workerLog } from '../paths.ts'
import { isAlive, startDetached } from '../process.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import { judgedElsewhere, whenLedger } from './wait.ts'

/** How long to wait for the claim. A worker claims before it does anything that takes long, so only a very busy machine needs this time. */
const BEGIN_MS = 60_000

/** Returns when the worker has its claim or its verdict, or with the problem that it ended with. */
export async function startWorker(
  run: OpenRun,
  experiment: string,
  { key, asSealed }: { key: string | null; asSealed: boolean },
): Promise<Result<void>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  // A worker judges it already: this call is a repetition, and answers as quickly as the first.
  const claim = node.value.status === 'running' ? lastAttempt(node.value)?.claim : null
  const far = judgedElsewhere(node.value)
  if (far) return fail(far)
  if (claim && isAlive(claim.owner)) return ok(undefined)
  const before = run.ledger.state.seq
  const log = workerLog(run.paths, experiment, run.random(4))
  mkdirSync(dirname(log), { recursive: true })
  const entry = process.argv[1] ?? ''
  const worker = startDetached({
    argv: [
      process.execPath,
      entry,
      'run',
      experiment,
      '--run',
      run.run,
      '--json',
      '--quiet',
      ...(key === null ? [] : ['--key', key]),
      ...(asSealed ? ['--sealed'] : []),
    ],
    cwd: run.cwd,
    env: run.env,
    logFile: log,
  })
  const begun = await whenLedger(run, performance.now() + BEGIN_MS, () => {
    if (isBegun(node.value, claim ?? null, before)) return 'begun'
    return worker.exited() ? 'ended' : null
  })
  if (!begun.ok) return begun
  if (begun.value === 'begun') return ok(undefined)
  return problemIn(log, experiment)
}

/** Whether the worker has claimed or judged the experiment. `dead`: the claim of an earlier process; it stays in the record until the worker replaces it. */
function isBegun(node: Experiment, dead: Attempt['claim'], before: number): boolean {
  if ((node.judgedSeq ?? -1) >= before) return true
  const claim = node.status === 'running' ? lastAttempt(node)?.claim : null
  return claim != null && nameOf(claim) !== (dead && nameOf(dead))
}

const nameOf = ({ owner }: NonNullable<Attempt['claim']>): string =>
  `${owner.host} ${owner.pid} ${owner.started}`

function problemIn(log: string, experiment: string): Result<void> {
  const text = readFileSync(log, 'utf8')
  const line = text.split('\n').findLast((one) => one.startsWith('{"ok":'))
  const answer = line ? (JSON.parse(line) as { ok: boolean; problem?: Problem }) : null
  // A verdict that stood already is repeated without an event.
  if (answer?.ok) return ok(undefined)
  const problem = answer?.problem
  if (problem) return fail({ ...problem, kind: 'refused' })
  return fail({
    kind: 'refused',
    code: 'worker_died',
    message: `the process that was to judge ${experiment} ended without an answer`,
    hint: next`run it in the foreground to see why: ${call('run', experiment)}`,
    at: log,
  })
}
