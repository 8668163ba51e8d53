/** `wait`: answers when an experiment is judged, or when a round or the loop has ended, or when its time is over. */
import { counted, duration } from '../evaluate/figure.ts'
import { judgedElsewhere, settled, unattended, whenLedger } from '../experiment/wait.ts'
import { clearing, currentRound, lastAttempt, type State } from '../ledger/state.ts'
import { runAnswer } from '../measure/run-answer.ts'
import { type JudgingProgress, progressOf } from '../measure/steps.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { stopReason } from '../run/budget.ts'
import { livingDriver, otherSession } from '../run/driver.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import type { VerbAnswer } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { onRun } from './verb.ts'

const TIMEOUT_MS = 90_000
const TIMED_OUT = 124
/** A process that was started just now may not have its claim, or its first event, yet. */
const GRACE_MS = 2000

interface Waited {
  /** null: the experiment is not judged and no process is about to, or there never was a round or a loop. */
  event: string | null
  experiment: string | null
}

export const run = onRun(async (opened, args, context) => {
  const what = args.text('for') ?? ''
  const look = lookFor(opened, what)
  if (!look.ok) return look
  const deadline = performance.now() + (args.duration('timeout') ?? TIMEOUT_MS)
  const found = await whenLedger(opened, deadline, look.value)
  if (!found.ok) return found
  const experiment = what.startsWith('exp_') ? what : null
  const node = experiment === null ? undefined : opened.ledger.state.experiments.get(experiment)
  const idle = node && found.value?.event === null ? unattended(node) : null
  if (idle) return fail(idle)
  if (found.value?.event === null && experiment === null) return fail(neverWas(what))
  if (found.value) return ok(answerOf(opened, found.value))
  if (context.signal.aborted)
    return fail({ kind: 'interrupted', code: 'interrupted', message: 'interrupted while waiting' })
  const far = node && judgedElsewhere(node)
  if (far) return fail(far)
  const session = what === 'loop' ? drivingSession(opened) : null
  const attempt = node?.status === 'running' ? lastAttempt(node)?.attempt : undefined
  const progress = node === undefined || attempt === undefined ? null : progressOf(opened, node.id, attempt)
  return ok({
    data: {
      event: null,
      experiment,
      timed_out: true,
      ...(session ? { driven_by: session } : {}),
      ...(progress ? { progress } : {}),
    },
    text: () =>
      session
        ? printable(`a session of ${session.host} drives it: ${session.session}, last seen ${session.last}`)
        : progress
          ? `${what} is being judged: ${describe(progress)}`
          : `nothing has ended yet: ${what}`,
    exit: TIMED_OUT,
  })
})

function describe({ stage, done, most, seconds_left }: JudgingProgress): string {
  if (most === null) return `${stage}, ${counted(done, 'sample')} so far`
  const left =
    seconds_left === null ? '' : `, at most ${duration(seconds_left * 1000)} more for this comparison`
  return `pair ${done} of at most ${most}${left}`
}

function answerOf(run: OpenRun, { event, experiment }: Waited): VerbAnswer {
  const node = experiment === null ? undefined : run.ledger.state.experiments.get(experiment)
  const verdict = node && event === 'judged' ? runAnswer(run.ledger.state, node) : null
  return {
    data: { event, experiment, timed_out: false, ...(verdict ?? {}) },
    text: () =>
      node && verdict
        ? [
            printable(`${experiment} ${verdict.status}: ${verdict.message}`),
            ...(verdict.revoked === undefined
              ? []
              : [printable(`  it was revoked, so this verdict no longer stands: ${verdict.revoked}`)]),
            ...(verdict.doubt === null
              ? []
              : [
                  printable(`  in doubt, so not a parent yet: ${verdict.doubt}`),
                  next`  Next: ${clearing(node)}`,
                ]),
          ]
        : ended(event, experiment),
  }
}

function ended(event: Waited['event'], experiment: string | null): string {
  if (event === 'round_closed') return 'no round is open'
  if (event === 'loop_stopped') return 'no loop is running'
  return `${experiment}: ${event === 'lost' ? 'the process that judged it is gone' : event}`
}

/** null for the caller's own session, which would wait for itself, and once a stop rule holds, because then the loop is over. */
const drivingSession = (run: OpenRun) => (stopReason(run.ledger.state) === null ? otherSession(run) : null)

function lookFor(run: OpenRun, what: string): Result<() => Waited | null> {
  const { state } = run.ledger
  const since = performance.now()
  if (what === 'round') {
    const open = currentRound(state)
    if (state.rounds.length === 0) return fail(neverWas(what))
    return ok(() => (open && !open.closed ? null : { event: 'round_closed', experiment: null }))
  }
  if (what === 'loop') {
    return ok(() => {
      if (livingDriver(run) !== null || drivingSession(run) !== null) return null
      if (hasDriven(state)) return { event: 'loop_stopped', experiment: null }
      return performance.now() - since >= GRACE_MS ? { event: null, experiment: null } : null
    })
  }
  const node = nodeFor(run, what)
  if (!node.ok) return node
  const { id } = node.value
  return ok(() => {
    const event = settled(node.value)
    if (event) return { event, experiment: id }
    const idle = unattended(node.value) !== null && performance.now() - since >= GRACE_MS
    return idle ? { event: null, experiment: id } : null
  })
}

/** Whether a process or a session drove a loop of the run, as far as that left a trace. */
const hasDriven = ({ rounds, driver }: State): boolean =>
  rounds.length > 0 || driver.process !== null || driver.session !== null || driver.displaced !== null

const neverWas = (what: string): Problem => ({
  kind: 'refused',
  code: what === 'round' ? 'no_round' : 'no_loop',
  message:
    what === 'round'
      ? 'no round has been opened in this run'
      : 'no loop is running, and none has opened a round in this run',
  hint: next`start one: ${call('loop')}; or wait for an experiment by its id: ${call('wait', '--for', 'ID')}`,
})
