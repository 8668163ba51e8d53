/** The prompt of an open task: what the agent must know of the run, depending on its role. `drive.ts` asks for it, and the verb `task`. */

import { mayEdit } from '../hosts/rights.ts'
import type { TaskAnswered } from '../ledger/events.ts'
import { directionsOf } from '../ledger/meta.ts'
import { currentRound, type Experiment, lastJudged, type Round, type State } from '../ledger/state.ts'
import {
  editTask,
  laidRecord,
  lastWord,
  placeOfTask,
  roundPlace,
  scanTask,
  sealedRecord,
  stepTask,
  turnOfTask,
  verifyTask,
} from '../ledger/task-id.ts'
import { artifactPlaces } from '../measure/artifacts.ts'
import { ensureWorktree } from '../measure/worktree.ts'
import { artifactsFolder, worktreePath } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { textsOf } from '../text.ts'
import { agendaOf, type Ideator, type Task } from './agenda.ts'
import { ANSWERS_OF, bounded } from './answer-schemas.ts'
import { type LaneReport, reportsOf } from './close.ts'
import { checkFindings, type ScanFinding } from './findings.ts'
import { factsOfTick, metaDue } from './meta/apply.ts'
import { answeredBefore, factsOf, notOpen } from './next-tasks.ts'
import { type RoundAnswer, roundAnswer } from './open.ts'
import { type Against, metaPrompt, type PromptLane, type PromptTask, promptOf } from './prompts.ts'
import { gradientPromptOf } from './suite/gradient.ts'

export interface TaskAnswer extends Task {
  prompt: string
  /** JSON Schema. */
  answer: object
}

/** The task with its prompt and the schema of its answer. Problem if the task was answered before, or is not open. */
export async function taskOf(run: OpenRun, id: string): Promise<Result<TaskAnswer>> {
  const before = run.ledger.state.answers.get(id)
  if (before) return fail(answeredBefore(id, before))
  const agenda = agendaOf(run.ledger.state, liveSpec(run), factsOf(run))
  const task = agenda.tasks.find((one) => one.id === id)
  const round = currentRound(run.ledger.state)
  if (!task || !round) return fail(notOpen(id, agenda.tasks))
  // A process that was killed may have left the experiment without its folder.
  const made =
    task.experiment !== null && mayEdit(task.role) ? await ensureWorktree(run, task.experiment) : null
  if (made?.ok === false) return made
  const answer = ANSWERS_OF[task.role]
  if (task.role === 'gradient') {
    const prompt = await gradientPromptOf(run, task)
    return prompt.ok ? ok({ ...task, prompt: prompt.value, answer }) : prompt
  }
  if (task.role !== 'meta')
    return ok({ ...task, prompt: promptOf(inputsOf(run, { ...task, role: task.role }, round)), answer })
  const seen = await metaDue(run, null)
  if (!seen.ok) return seen
  const { facts, knobs, phases, edits } = seen.value
  const own = liveSpec(run).loop.prompts?.meta
  const prompt = metaPrompt({
    ...{ id, run: run.run, round: round.round, goal: liveSpec(run).goal, knobs, phases, edits },
    facts: factsOfTick(run.ledger.state, facts),
    ...(own ? { own } : {}),
  })
  return ok({ ...task, prompt, answer })
}

function inputsOf(run: OpenRun, task: Task & { role: PromptTask['role'] }, round: Round): PromptTask {
  const { state } = run.ledger
  const turn = roundAnswer(run, round, null)
  const lane = laneOf(run, task, round)
  const { id, role } = task
  const inputs: PromptTask = {
    id,
    role,
    round: {
      run: run.run,
      round: round.round,
      goal: turn.goal,
      metric: turn.metric,
      parents: turn.parents,
      width: turn.width,
      ideate: turn.ideate,
      direction: turn.direction,
      steering: lane?.arm ? [] : turn.steering,
      prompts: turn.prompts,
      capsule: capsuleOf(turn, lane?.arm !== undefined),
      skills: turn.skills,
      own: liveSpec(run).loop.prompts ?? {},
    },
    answer: ANSWERS_OF[role],
    ...(lane ? { lane } : {}),
  }
  const last = lastWord(id)
  switch (role) {
    case 'scan':
      return { ...inputs, batch: factsOf(run).batches[Number(last) - 1] ?? [] }
    case 'ideate':
      return {
        ...inputs,
        author: last as Ideator,
        findings: findingsOf(run, round),
      }
    case 'brief': {
      const { proposals, repairable, retests, patterns, combine } = turn
      const refused = textsOf(
        state.answers.get(laidRecord(`${roundPlace(round.round)}/brief`))?.answer?.refused,
      )
      const findings = findingsOf(run, round)
      const offered = combine ? { combine } : {}
      return { ...inputs, refused, findings, proposals, repairable, retests, patterns, ...offered }
    }
    case 'step': {
      const step = turn.steps.find(({ edit }) => edit === last)
      return step ? { ...inputs, text: step.text, seam: step.seam } : inputs
    }
    case 'verify':
      return { ...inputs, claim: claimOf(state, id) }
    case 'revise':
      return { ...inputs, ...againstOf(state, task) }
    case 'collect':
      return { ...inputs, ...lanesOfRound(state, round) }
    default:
      return inputs
  }
}

function laneOf(run: OpenRun, { experiment, lane: number }: Task, round: Round): PromptLane | null {
  const lane = round.briefed?.lanes.find((one) => one.lane === number)
  const node = experiment === null ? undefined : run.ledger.state.experiments.get(experiment)
  if (!lane || !node) return null
  return {
    lane: lane.lane,
    depth: node.created.depth ?? 1,
    experiment: node.id,
    parent: node.parent ?? '',
    worktree: worktreePath(run.site, run.run, node.id),
    artifacts: artifactsFolder(run.paths, node.id),
    parentArtifacts: node.parent === null ? null : artifactsFolder(run.paths, node.parent),
    ...startOf(run, node),
    brief: lane.brief,
    ...(lane.arm ? { arm: lane.arm } : {}),
  }
}

/** What an experiment starts from beside its parent: artifacts of another one, an experiment to repair, or a second parent. */
function startOf(run: OpenRun, node: Experiment): Pick<PromptLane, 'seed' | 'repair' | 'combine'> {
  const { seed } = artifactPlaces(run, node)
  const broken = run.ledger.state.experiments.get(node.created.repair ?? '')
  const [, combine] = node.parents
  return {
    ...(combine === undefined ? {} : { combine }),
    ...(seed ? { seed: seed.path } : {}),
    ...(broken
      ? { repair: { experiment: broken.id, why: lastJudged(broken)?.message ?? broken.why ?? '' } }
      : {}),
  }
}

/** What the prompt says of the run. It tells an agent of the baseline arm (`arm`) nothing of what the search found. */
function capsuleOf(turn: RoundAnswer, arm: boolean): Record<string, unknown> {
  const { goal, metric, best, skills, learnings, rules, notes, steering } = turn
  const blank = { best: null, learnings: [], notes: [], steering: [] }
  return { goal, metric, best, skills, learnings, rules, notes, steering, ...(arm ? blank : {}) }
}

/** The most that is quoted of the answer to one step. */
const OF_STEP = { items: 10, characters: 1000 }

/** What the steps and the scanners of the round found. Findings of scanners count only if the stored outputs prove them. */
function findingsOf(run: OpenRun, { round }: Round): { message: string }[] {
  const given = [...run.ledger.state.answers.values()]
  const { steps: all } = directionsOf(run.ledger.state.meta, round)
  const steps = all.flatMap(({ edit, seam }) =>
    textsOf(run.ledger.state.answers.get(stepTask(round, edit))?.answer?.findings)
      .slice(0, OF_STEP.items)
      .map((message) => ({ kind: seam, message: message.slice(0, OF_STEP.characters) })),
  )
  const scanned = given
    .filter(({ task }) => task.startsWith(scanTask(round, '')))
    .flatMap(({ answer }) => (answer?.findings ?? []) as ScanFinding[])
  return [...steps, ...checkFindings(run, scanned).findings]
}

function claimOf(state: State, id: string): Record<string, unknown> {
  const at = placeOfTask(id)?.at ?? ''
  const said = state.answers.get(editTask(at, turnOfTask(id)))?.answer ?? {}
  // A person reads objections; a verifier judges the change.
  const { objection: _, ...claim } = said
  return bounded(claim, 1000, 20) as Record<string, unknown>
}

function againstOf(state: State, { id, experiment }: Task): { against: Against[]; build: boolean } {
  const before = turnOfTask(id) - 1
  const at = placeOfTask(id)?.at ?? ''
  const sealed = state.answers.get(sealedRecord(at, before))?.answer
  const node = experiment === null ? undefined : state.experiments.get(experiment)
  const judged = node && lastJudged(node)
  if (judged && judged.attempt === (sealed?.attempt ?? judged.attempt))
    return { against: [{ message: judged.message }], build: true }
  const checked = findingsIn(sealed)
  const read = findingsIn(state.answers.get(verifyTask(at, before))?.answer)
  const against = checked.length > 0 ? checked : read
  return {
    against: against.length > 0 ? against : [{ message: 'the verifier did not pass it' }],
    build: false,
  }
}

const findingsIn = (answer: TaskAnswered['answer'] | undefined): Against[] =>
  ((answer?.findings ?? []) as Against[]).map((finding) => bounded(finding, 1000, 20) as Against)

function lanesOfRound(state: State, { round, briefed }: Round): { lost: string[]; lanes: unknown[] } {
  const nodes = [...state.experiments.values()].filter(
    ({ created }) => created.round === round && !created.merge,
  )
  const of = (node: (typeof nodes)[number]) => ({
    experiment: node.id,
    status: node.status,
    reason: lastJudged(node)?.reason ?? null,
  })
  const lost = nodes
    .filter(({ status }) => status !== 'kept')
    .map(of)
    .map(({ experiment, reason, status }) => `${experiment} (${reason ?? status})`)
  const reports = reportsOf(state, round)
  const lanes = (briefed?.lanes ?? []).map(({ lane }) => ({
    lane,
    experiments: nodes.filter(({ created }) => created.lane === lane).map(of),
    ...(bounded(reports.find((report) => report.lane === lane) ?? {}, 1000, 20) as Partial<LaneReport>),
  }))
  return { lost, lanes }
}
