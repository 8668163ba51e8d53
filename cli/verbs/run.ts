/** `run`: seals an experiment, has it measured and judged, and says what to do next. With `--check` it measures only, and records nothing. */
import { canaryFact } from '../diagnose/canary.ts'
import { isSpoilt } from '../evaluate/crowd.ts'
import { gainText, shown } from '../evaluate/figure.ts'
import { submit } from '../experiment/submit.ts'
import { startWorker } from '../experiment/worker.ts'
import { BASELINE, clearing, isOutdatedBaseline, lastJudged, repairable } from '../ledger/state.ts'
import { isolationWarnings, recordIsolation } from '../measure/choose-isolation.ts'
import { failingOutput } from '../measure/output.ts'
import type { RunAnswer } from '../measure/run-answer.ts'
import { runCheck } from '../measure/run-check.ts'
import { freeSlots } from '../measure/slot.ts'
import { call, type Next, next, type Said } from '../next.ts'
import { worktreePath } from '../paths.ts'
import { nameOfProcess } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import { keepingTurn } from '../run/driver.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import type { VerbAnswer } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { LEAVING } from '../terminal/progress.ts'
import { plain } from '../text.ts'
import { idOf, onRun } from './verb.ts'

export const run = onRun(async (opened, args, context) => {
  const experiment = idOf(args)
  if (args.on('check')) return check(opened, experiment)
  if (args.on('take-over')) {
    for (const owner of await freeSlots(opened))
      context.tell({ type: 'warning', message: `taken over from ${nameOfProcess(owner)}, which held a slot` })
  }
  const how = { key: args.key, asSealed: args.on('sealed') }
  if (args.on('detach')) {
    const begun = await startWorker(opened, experiment, how)
    if (!begun.ok) return begun
    return ok({
      data: { experiment, started: true },
      text: () => next`${experiment} is being judged; the verdict: ${call('wait', '--for', experiment)}`,
    })
  }
  context.onLeave(() => context.tell(LEAVING))
  const answer = await keepingTurn(opened, experiment, () => submit(opened, experiment, how))
  if (!answer.ok) return answer
  // If `assay abort` stopped it, it has a verdict; if its own caller did, it was interrupted.
  const node = opened.ledger.state.experiments.get(experiment)
  const stopped = node && lastJudged(node)?.aborted
  if (context.signal.aborted && answer.value.reason === 'aborted' && !stopped) {
    return fail({
      kind: 'interrupted',
      code: 'interrupted',
      message: `the judging of ${experiment} was interrupted`,
      hint: next`begin again: ${call('run', experiment)}`,
    })
  }
  const loosened = await loosenForBaseline(opened, answer.value)
  if (!loosened.ok) return loosened
  return ok({
    data: answer.value,
    text: () => [...describe(answer.value, opened), ...loosened.value, nextStep(answer.value, opened)],
    exit: answer.value.status === 'failed' ? 4 : 0,
  })
})

/** Loosens the isolation of a run whose baseline fails only because of it. Answers lines for the user; empty if nothing was loosened. */
async function loosenForBaseline(run: OpenRun, answer: RunAnswer): Promise<Result<Said[]>> {
  if (answer.experiment !== BASELINE || answer.status === 'kept') return ok([])
  const { looserIsolation } = await import('../experiment/baseline.ts')
  const looser = await looserIsolation(run, answer)
  if (!looser.ok || looser.value === null) return looser.ok ? ok([]) : looser
  const recorded = recordIsolation(run, looser.value)
  if (!recorded.ok) return recorded
  return ok([...isolationWarnings(run).map(printable), next`Judge it again: ${call('run', BASELINE)}`])
}

async function check(run: OpenRun, experiment: string): Promise<Result<VerbAnswer>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const done = await keepingTurn(run, experiment, () => runCheck(run, node.value))
  if (!done.ok) return done
  const { passed, problems, value, output } = done.value
  return ok({
    data: done.value,
    text: () => [
      `${experiment}: ${passed ? 'it can be measured' : 'it cannot be measured'}; ${run.spec.metric.name} = ${shown(value)}. No attempt, no charge`,
      ...problems.map((problem) => `  ${plain(problem, 500)}`),
      ...(passed || output === '' ? [] : [printable(output.trimEnd())]),
    ],
    exit: passed ? 0 : 4,
  })
}

function describe(answer: RunAnswer, opened: OpenRun): Said[] {
  const { experiment, status, reason, value, improvement, best, message } = answer
  const word = reason && reason !== 'improved' ? `${status} (${reason})` : status
  // What broke a rule has no value: the number may be of its own making.
  const says = value === null || reason === 'out_of_scope' ? '' : `  ${shown(value)}`
  const gain =
    says === '' || improvement === null ? '' : `  ${gainText(improvement, answer.parent_value, value)}`
  const mark = best && experiment !== BASELINE ? '  ← the best so far' : ''
  return [
    `${experiment} ${word}${says}${gain}${mark}`,
    `  ${printable(message)}`,
    ...(answer.revoked === undefined
      ? []
      : [`  it was revoked, so this verdict no longer stands: ${plain(answer.revoked, 500)}`]),
    ...(answer.doubt === null ? [] : [`  in doubt, so not a parent yet: ${plain(answer.doubt, 500)}`]),
    ...printed(answer, opened),
  ]
}

/** What the command that failed said; the verdict alone does not show what to repair. */
function printed({ experiment, attempt, status, reason, message }: RunAnswer, opened: OpenRun): Said[] {
  if (status === 'kept' || !(status === 'failed' || reason === 'gate')) return []
  const said = failingOutput(opened, experiment, attempt)
  if (said === null || message.includes(said.output.trim())) return []
  const lines = said.output.split('\n').filter((line) => line.trim() !== '')
  return [
    ...[`  $ ${said.command}`, ...lines.map((line) => `  | ${line}`)].map(printable),
    ...(said.more ? [next`  All that it printed: ${call('log', experiment)}`] : []),
  ]
}

function nextStep({ experiment, status, reason, failure_class: place }: RunAnswer, opened: OpenRun): Next {
  const { state } = opened.ledger
  if (status === 'kept') {
    const doubted = state.experiments.get(experiment)
    if (doubted?.flagged) return next`Next: ${clearing(doubted)}`
    const another = call('new', '-m', 'your idea')
    if (experiment !== BASELINE) return next`Next: ${call('diff', experiment)}, or ${another}`
    return canaryFact(opened) === null
      ? next`Next: ${call('init')}, which tests whether the benchmark reads what candidates change`
      : next`Next: ${another}`
  }
  const worktree = worktreePath(opened.site, opened.run, experiment)
  const node = state.experiments.get(experiment)
  const open = experiment === BASELINE || repairable(state).some(({ id }) => id === experiment)
  // Other faults of the environment at the baseline are for the author of the benchmark to repair.
  const sound =
    experiment === BASELINE
      ? isSpoilt({ reason, failure_class: place }) || (node && isOutdatedBaseline(state, node))
      : place === 'environment'
  if (open && sound)
    return next`Next: ${call('run', experiment)} again when that is over; the candidate needs no change`
  return open
    ? next`Next: repair it in ${printable(worktree)}, then ${call('run', experiment)}`
    : next`Next: ${call('new', '-m', 'another idea')}`
}
