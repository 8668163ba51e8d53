/** What the CLI does by itself: the effects that the agenda names, for which no agent is needed. */

import { audit, findingCode } from '../experiment/audit.ts'
import { checkSeal } from '../experiment/check.ts'
import { createExperiment } from '../experiment/create.ts'
import { annotate, discard } from '../experiment/manual-decisions.ts'
import { hasFallen, makeMerge, sayConflict } from '../experiment/merge.ts'
import { judgedElsewhere } from '../experiment/wait.ts'
import { startWorker } from '../experiment/worker.ts'
import { refuseDamaged } from '../git/objects.ts'
import { bestOf } from '../ledger/best.ts'
import type { Finding, Idea } from '../ledger/events.ts'
import { directionsOf } from '../ledger/meta.ts'
import { BASELINE, currentRound, type Experiment, lastAttempt } from '../ledger/state.ts'
import { stepTask } from '../ledger/task-id.ts'
import { runCheck } from '../measure/run-check.ts'
import { differs, seal, snapshot, storedSeal } from '../measure/seal.ts'
import { baseOf, judgedCommit } from '../measure/worktree.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { stopReason } from '../run/budget.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import { textsOf } from '../text.ts'
import type { Effect } from './agenda.ts'
import { briefsOfBacklog, takeBriefs, type WrittenBrief } from './briefs.ts'
import { closeRound, OF_ALL, reportsOf } from './close.ts'
import { propose } from './ideas.ts'
import { applyMetaTick } from './meta/tick.ts'
import { recordOwn } from './record-answer.ts'
import { descend } from './suite/gradient.ts'

/** Carries out one effect of the agenda. After a problem, the effect may be done later, or another caller must do it. */
export async function carryOut(run: OpenRun, effect: Effect): Promise<Result<unknown>> {
  const { state } = run.ledger
  switch (effect.do) {
    case 'propose': {
      const { ideas } = state.answers.get(effect.task)?.answer ?? {}
      // What was tried elsewhere only a log can say.
      const written = ((ideas ?? []) as Idea[]).map(({ tried: _, ...idea }) => idea)
      return propose(run, written, effect.task)
    }
    case 'park':
      return run.ledger.record<'ideas_parked'>({ type: 'ideas_parked', ideas: effect.ideas }, run.clock())
    case 'brief':
      return lay(run, effect)
    case 'create': {
      const { lane, depth, parent, key, refused } = effect
      const round = currentRound(state)
      const made = await createExperiment(run, {
        parent,
        hypothesis: lane.brief.objective,
        key,
        place: { round: round?.round ?? 0, lane: lane.lane, depth },
      })
      return made.ok ? made : ends(run, refused, null, made.problem)
    }
    case 'seal':
      return sealOf(run, effect)
    case 'run': {
      const { experiment, record, lost } = effect
      const node = state.experiments.get(experiment)
      const far = node ? judgedElsewhere(node) : null
      // Its verdict counts when it comes, but it cannot be known here whether it comes.
      if (far) return recordOwn(run, record, experiment, { refused: far.message })
      // Its process said why only to its own log.
      const intact = lost && node ? await storeIntact(run, node) : ok(undefined)
      if (!intact.ok) return intact
      if (lost) recordOwn(run, record, experiment, {})
      const begun = await startWorker(run, experiment, { key: null, asSealed: true })
      return begun.ok || lost ? ok(undefined) : ends(run, record, experiment, begun.problem)
    }
    case 'merge':
      return mergeNext(run, effect)
    case 'audit': {
      const { findings } = state.answers.get(effect.task)?.answer ?? {}
      const read = (findings ?? []) as Partial<Finding>[]
      return audit(run, effect.experiment, read.map(findingOf), effect.task)
    }
    case 'discard': {
      const { experiment, why, class: failureClass } = effect
      const text = effect.findings.flatMap((one) => (one as Partial<Finding>).message ?? []).join('; ')
      // First, so that a driver that is killed in between does both again.
      const kept =
        text === ''
          ? ok(null)
          : annotate(run, experiment, { text, task: null, tag: 'verify', key: `${experiment}/turned-down` })
      if (!kept.ok) return kept
      return discard(run, experiment, { why, failureClass, key: null })
    }
    case 'steer':
      return applyMetaTick(run, effect.tick)
    case 'descend':
      return descend(run, effect)
    case 'repeat':
      return repeat(run, effect)
    case 'close':
      return close(run)
  }
}

/** A conflict is recorded, so that the agenda names the next set. What cannot be begun ends the merging of the round. */
async function mergeNext(
  run: OpenRun,
  { experiments, record }: Extract<Effect, { do: 'merge' }>,
): Promise<Result<unknown>> {
  const reason = stopReason(run.ledger.state)
  if (reason === 'user' || reason === 'budget')
    return recordOwn(run, record, null, {
      refused: reason === 'user' ? 'the user stopped the loop' : 'the budget is used up',
    })
  const made = await makeMerge(run, experiments, currentRound(run.ledger.state)?.round ?? null)
  if (!made.ok) {
    // The agenda names the next set.
    if (made.problem.raced || hasFallen(run, experiments)) return ok(undefined)
    return ends(run, record, null, made.problem)
  }
  if ('files' in made.value) {
    run.tell({ type: 'log', message: sayConflict(made.value.experiments, made.value.files) })
    return ok(undefined)
  }
  const { id } = made.value
  run.tell({ type: 'log', message: `${id} merges ${experiments.join(', ')}` })
  const begun = await startWorker(run, id, { key: null, asSealed: true })
  return begun.ok ? ok(undefined) : ends(run, record, id, begun.problem)
}

/** What a person must repair first: the loop ends, its round stays open, and nothing counts against a candidate. */
const BROKEN = ['disk_full', 'objects_damaged']

/** What a broken machine or a lost turn refuses may be done later; anything else ends the lane. */
function ends(run: OpenRun, task: string, experiment: string | null, problem: Problem): Result<unknown> {
  if ([...BROKEN, 'driven', 'worker_died'].includes(problem.code)) return fail(problem)
  return recordOwn(run, task, experiment, { refused: problem.message })
}

const findingOf = ({ code, message, path }: Partial<Finding>): Finding => ({
  code: findingCode(code),
  message: message ?? '',
  ...(path ? { path } : {}),
})

async function lay(
  run: OpenRun,
  { task, record }: Extract<Effect, { do: 'brief' }>,
): Promise<Result<unknown>> {
  const { state } = run.ledger
  const round = currentRound(state)
  if (!round) return ok(undefined)
  const given = state.answers.get(task)
  // An author that gave no answer is asked once more, before a round without lanes is recorded.
  if (given?.answer === null && !task.endsWith('/again')) return recordOwn(run, record, null, { refused: [] })
  const { token } = round.opened
  const isOfBacklog = given === undefined && state.knobs?.briefs === 'backlog'
  const written = isOfBacklog
    ? briefsOfBacklog(state, round)
    : ((given?.answer?.briefs ?? []) as Partial<WrittenBrief>[])
  const briefs = written.map((brief) => ({
    parent: null,
    kind: 'edit',
    objective: '',
    boundaries: [],
    pointers: [],
    hard: false,
    ...brief,
  }))
  const laid = await takeBriefs(run, { token, round: round.round }, briefs)
  if (!laid.ok) return laid
  return recordOwn(run, record, null, { refused: laid.value.refused.map(({ message }) => message) })
}

async function sealOf(
  run: OpenRun,
  { experiment, record, answer }: Extract<Effect, { do: 'seal' }>,
): Promise<Result<unknown>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const given = run.ledger.state.answers.get(answer)
  const last = lastAttempt(node.value)
  const found = (data: Record<string, unknown>) => recordOwn(run, record, experiment, data)
  const stands = async () => {
    if (!given && last && !last.judged) return storedSeal(run, node.value, last)
    const taken = await snapshot(run, node.value)
    if (!taken.ok) return taken
    // An agent that left nothing says nothing about the idea. What it left is paid for, whatever came after it.
    if (given?.answer === null && !differs(taken.value, last)) return ok(null)
    const said = given?.answer?.hypothesis
    return seal(run, node.value, taken.value, typeof said === 'string' && said.trim() !== '' ? said : null)
  }
  const sealed = await stands()
  if (!sealed.ok) {
    const { code, message, hint } = sealed.problem
    if (BROKEN.includes(code)) return sealed
    if (code === 'parent_revoked') return found({ attempt: null, refused: 'what it is built on was revoked' })
    // Why it cannot be sealed is a finding. No attempt has the number 0.
    return found({ attempt: 0, findings: [{ message: hint ? `${message}: ${String(hint)}` : message }] })
  }
  if (sealed.value === null) return found({ attempt: null, refused: 'its agent gave no answer' })
  const checked = await checkSeal(run, sealed.value)
  if (!checked.ok) return checked
  const findings = checked.value
  // What differs because the store was damaged is not the candidate's doing.
  const intact = findings.length > 0 ? await storeIntact(run, node.value) : ok(undefined)
  if (!intact.ok) return intact
  return found({ attempt: sealed.value.attempt, findings })
}

/** Problem `objects_damaged`: of what a trial of the experiment checks out. */
async function storeIntact(run: OpenRun, node: Experiment): Promise<Result<void>> {
  const best = bestOf(run.ledger.state)
  const commits = [
    lastAttempt(node)?.sealed.commit,
    baseOf(run, node.id).commit,
    best && judgedCommit(run, best.id)?.commit,
  ]
  for (const commit of new Set(commits)) {
    const intact = commit ? await refuseDamaged(run.site, commit) : ok(undefined)
    if (!intact.ok) return intact
  }
  return ok(undefined)
}

function close(run: OpenRun): Promise<Result<unknown>> | Result<unknown> {
  const { state } = run.ledger
  const round = currentRound(state)
  if (!round) return ok(undefined)
  const all = reportsOf(state, round.round)
  // First, so that they are not what a limit cuts off: the next round reads them among the learnings.
  const steps = directionsOf(state.meta, round.round).steps.flatMap(({ edit, seam }) =>
    seam === 'after-collect' ? textsOf(state.answers.get(stepTask(round.round, edit))?.answer?.findings) : [],
  )
  const lanes = [
    { lane: OF_ALL, learnings: steps, suggestions: [] },
    ...all.filter(({ lane }) => lane !== OF_ALL),
    ...all.filter(({ lane }) => lane === OF_ALL),
  ]
  return closeRound(run, { token: round.opened.token, round: round.round }, lanes)
}

/** A round of a suite without a gradient: its tasks are run once more with the same texts, which shows how they vary. */
async function repeat(run: OpenRun, { record }: Extract<Effect, { do: 'repeat' }>): Promise<Result<unknown>> {
  const node = nodeFor(run, bestOf(run.ledger.state)?.id ?? BASELINE)
  if (!node.ok) return node
  const checked = await runCheck(run, node.value)
  if (!checked.ok) return checked
  const { value, tasks, problems } = checked.value
  const recorded = recordOwn(run, record, node.value.id, { loss: value, tasks: tasks ?? {}, problems })
  return recorded.ok ? ok({ loss: value, tasks }) : recorded
}
