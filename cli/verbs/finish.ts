/** `finish`: the winner as a branch, with the text of its pull request. */

import { writeFileSync } from 'node:fs'
import { counted, gainText, shown } from '../evaluate/figure.ts'
import { type Finished, finish } from '../experiment/finish.ts'
import { branchName, isSnapshot } from '../git/branch.ts'
import {
  BASELINE,
  type Experiment,
  hasArtifacts,
  lastJudged,
  lineageOf,
  nodeValue,
  type State,
} from '../ledger/state.ts'
import { learningsOf } from '../loop/open.ts'
import { declaredArtifacts } from '../measure/artifacts.ts'
import { gatesOn } from '../measure/gates.ts'
import { call, next, type Said } from '../next.ts'
import { pullRequestFile } from '../paths.ts'
import { redact } from '../redact.ts'
import { ok, type Result } from '../result.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { nextMerge } from '../search/merge.ts'
import { mergePlan, notIn } from '../search/unmerged.ts'
import { plain, shellWord } from '../text.ts'
import { attributionView, placeOf, worthOf } from '../view/attribution.ts'
import { objectionsOf } from '../view/objections.ts'
import { inMessage, pullRequest } from '../view/pull-request.ts'
import { onRun } from './verb.ts'

const SUBJECT = 72

export const run = onRun(async (opened, args) => {
  const branch = branchName(args.text('branch') ?? `assay/${opened.started.name}`)
  const words = (steps: readonly Experiment[]) => wordsOf(opened, steps)
  const [squash, reduced] = [args.on('squash'), args.on('reduced')]
  const file = pullRequestFile(opened.paths)
  let text = ''
  let isDirty = false
  const describe = async (finished: Finished): Promise<Result<void>> => {
    const snapshot = await isSnapshot(opened.site, finished.base)
    if (!snapshot.ok) return snapshot
    isDirty = snapshot.value
    text = redact(textOf(opened, finished, isDirty))
    writeFileSync(file, text)
    return ok(undefined)
  }
  const done = await finish(opened, { branch, squash, reduced, words, describe, key: args.key })
  if (!done.ok) return done
  const { fresh, changes, ...rest } = done.value
  const objections = objectionsOf(opened.ledger.state)
  const files = changes.map(({ path, status, added, removed }) => ({ path, status, added, removed }))
  const smaller = smallerOf(opened.ledger.state, done.value.experiment)
  const unmerged = notIn(opened.ledger.state, done.value.experiment).map(({ id }) => id)
  const isTried = nextMerge(mergePlan(opened.ledger.state)) === null
  const list = `${unmerged.slice(0, 10).join(', ')}${unmerged.length > 10 ? ` and ${unmerged.length - 10} more` : ''}`
  return ok({
    data: {
      ...rest,
      dirty_base: isDirty,
      fresh,
      files,
      ...(objections.length === 0 ? {} : { objections }),
      ...(smaller && { smaller }),
      unmerged,
      text,
      file,
    },
    text: () => [
      `${branch}: ${counted(rest.commits.length, 'commit')} on ${rest.base.slice(0, 10)}; your files and branches are as they were`,
      ...(isDirty ? ['  it begins with the uncommitted work that the run began with'] : []),
      ...signingLines(done.value),
      `  ${plain(fresh.message, 500)}`,
      ...(rest.shortfall === null ? [] : [`  Warning: ${plain(rest.shortfall, 500)}`]),
      ...objections.map(
        ({ experiment, text: said }) =>
          `  objection${experiment === null ? '' : ` on ${experiment}`}, read it before you merge: ${plain(said, 300)}`,
      ),
      ...offerOf(opened, done.value.experiment),
      ...(unmerged.length === 0
        ? []
        : [
            isTried
              ? `  ${done.value.experiment} does not contain these kept experiments: ${list}. Assay tried to merge them: they conflict, or the result was not better`
              : next`  ${done.value.experiment} does not contain these kept experiments: ${list}; to see whether their gains add up: ${call('merge')}`,
          ]),
      `  look at it: git log -p ${shellWord(`${rest.base.slice(0, 10)}..refs/heads/${branch}`)}`,
      `  the text of its pull request is in ${file}:`,
      '',
      text,
    ],
  })
})

/** Whether a smaller diff gives the same gain, or how that is found out. */
function offerOf({ spec, ledger: { state } }: OpenRun, experiment: string): Said[] {
  const node = state.experiments.get(experiment)
  if (!node || node.created.reduces || spec.judge || hasArtifacts(node)) return []
  const found = attributionView(state, experiment)
  if (found === null)
    return [
      next`  which parts of ${experiment} pay, and whether fewer lines do: ${call('attribute', experiment)}`,
    ]
  const smaller = smallerOf(state, experiment)
  if (smaller === null) return [`  ${plain(found.summary, 300)}`]
  return [
    next`  ${smaller.kept} of ${smaller.lines} lines give the same gain: ${smaller.experiment}; to take that one: ${call('finish', '--reduced', '--branch', 'NAME')}`,
  ]
}

/** The kept experiment with less of the diff and the same gain; null when there is none. */
function smallerOf(
  state: State,
  experiment: string,
): { experiment: string; kept: number; lines: number } | null {
  const found = attributionView(state, experiment)
  if (found?.reduced?.status !== 'kept') return null
  return { experiment: found.reduced.experiment, kept: found.lines.kept, lines: found.lines.all }
}

/** What each part of a step that was tested is worth; of a reduced diff, the parts that it has. */
function partsOf(state: State, steps: readonly Experiment[]) {
  return steps.flatMap(({ id, created }) =>
    (attributionView(state, created.reduces?.experiment ?? id)?.parts ?? []).flatMap((part) =>
      created.reduces && part.state === 'dead_weight'
        ? []
        : [{ experiment: id, part: placeOf(part), worth: worthOf(part) }],
    ),
  )
}

/** Protected branches refuse commits that are not signed, so the user learns it when git would have signed them. */
function signingLines({ signing, branch, base }: Finished): string[] {
  if (signing === null) return []
  if (signing.signed) return ['  the commits are signed with your key']
  return [
    `  the commits are NOT signed, although commit.gpgSign is set: ${plain(signing.problem ?? '', 500)}`,
    `  to sign them: git rebase --force-rebase --gpg-sign ${base.slice(0, 10)} ${shellWord(branch)}`,
  ]
}

function wordsOf(run: OpenRun, steps: readonly Experiment[]): { subject: string; body: string } {
  const { metric } = run.started
  const [only] = steps
  const said = only && steps.length === 1 ? (only.id === BASELINE ? 'The benchmark' : only.hypothesis) : ''
  const subject = inMessage(said, SUBJECT) || `Improve ${inMessage(metric.name, 50)}`
  const name = inMessage(metric.name, 200)
  const lines = steps.flatMap((step) => {
    const judged = lastJudged(step)
    if (step.id === BASELINE) return [`${step.id}: ${name} ${shown(nodeValue(step))}`]
    const gain =
      judged?.improvement == null
        ? ''
        : `, ${gainText(judged.improvement, judged.parent_value, nodeValue(step))}`
    const against = `${name} ${shown(judged?.parent_value ?? null)} → ${shown(nodeValue(step))}${gain}`
    return [`${step.id} on ${step.parents.join(', ')}: ${against}`, `  ${inMessage(step.hypothesis, 500)}`]
  })
  return { subject, body: [...lines, '', `Assay-Run: ${run.run}`].join('\n') }
}

function textOf(run: OpenRun, done: Finished, dirtyBase: boolean): string {
  const { spec, started, ledger } = run
  const { state } = ledger
  const { fresh } = done
  const baseline = state.experiments.get(BASELINE)
  const winner = state.experiments.get(done.experiment)
  const { setup, build } = spec.worktree
  const steps = lineageOf(state, done.experiment)
  const hasMerge = steps.some(({ parents }) => parents.length > 1)
  return pullRequest({
    name: started.name,
    goal: liveSpec(run).goal,
    metric: started.metric,
    run: run.run,
    branch: done.branch,
    base: done.base,
    dirtyBase,
    baseline: { value: baseline ? nodeValue(baseline) : null },
    winner: { ...fresh, paired: state.noise.mode === 'paired' },
    steps: steps.map((node) => ({
      experiment: node.id,
      value: nodeValue(node),
      hypothesis: node.id === BASELINE ? '' : node.hypothesis,
      ...(hasMerge && node.parents.length > 0 ? { parents: node.parents } : {}),
    })),
    gates: gatesOn(run, done.experiment).map(({ name, command }) => ({ name, command: line(command) })),
    constraints: [
      ...spec.constraints.map(({ metric, op, value }) => `${metric} ${op} ${value}`),
      ...spec.protected.map(({ metric }) => `${metric} did not get worse`),
      ...(spec.controls ?? []).map((metric) => `${metric}, which the change cannot touch, did not move`),
    ],
    commands: [setup?.command, build?.command, spec.measure.command].flatMap((one) =>
      one === undefined ? [] : [line(one)],
    ),
    folder: started.prefix,
    files: done.changes,
    artifacts: winner
      ? Object.entries(declaredArtifacts(winner)).map(([label, one]) => ({ label, ...one }))
      : [],
    learnings: learningsOf(state),
    parts: partsOf(state, steps),
  })
}

const line = (command: string | readonly string[]): string =>
  typeof command === 'string' ? command : command.map(shellWord).join(' ')
