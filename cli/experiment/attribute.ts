/**
 * `attribute`: which parts of a kept experiment's diff pay. The rule is in `attribute/eliminate.ts`; this file asks its tests
 * in a slot or by jobs, writes each answer down before the next test, and has what is left judged as a child of the same parent.
 */
import { type Answer, type Done, nextStep, type Part, pairsFor, type Test } from '../attribute/eliminate.ts'
import { composed, type DiffUnit, leastPromisingFirst, unitsNamed, unitsOf } from '../attribute/units.ts'
import { composeTree, type Parts, partsBetween } from '../git/parts.ts'
import { lookRef } from '../git/refs.ts'
import { pinCommit } from '../git/seal.ts'
import type { Pinned } from '../git/store.ts'
import { bestOf } from '../ledger/best.ts'
import { attributable } from '../ledger/decide.ts'
import type { Attributed, AttributedUnit, AttributionPlan, EditPlace } from '../ledger/events.ts'
import { refusal } from '../ledger/ledger.ts'
import { betterBy } from '../ledger/same-value.ts'
import {
  type Attribution,
  type Experiment,
  hasArtifacts,
  isTried,
  lastAttempt,
  lastJudged,
  lastKept,
  mayHaveFailedByChance,
  nodeValue,
  type State,
} from '../ledger/state.ts'
import { tryHold } from '../lock.ts'
import { nameOfLeft } from '../measure/attribution.ts'
import { confirmAgain, pathOfBest } from '../measure/confirm.ts'
import { measureTest } from '../measure/part-test.ts'
import { drawNonce } from '../measure/random-choices.ts'
import { sealComposedTree } from '../measure/seal.ts'
import { interrupted } from '../measure/slot.ts'
import { recordedSamples } from '../measure/steps.ts'
import { baseOf, judgedCommit } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { attributionLock, isExperimentId } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { hoursSpent } from '../run/budget.ts'

import { liveSpec, nodeFor, type OpenRun } from '../run/open.ts'
import type { Preconditions } from '../run/preconditions.ts'
import { frozenHash } from '../spec/hash.ts'

import { claimId } from './create.ts'
import { submit } from './submit.ts'
import { noSuite } from './text.ts'

export interface AttributeRequest {
  /** null = the best. */
  experiment: string | null
  /** null = as the spec says, else by the number of parts. */
  pairs: number | null
  careful: boolean
  interactions: boolean
}

/** What a test takes without noise, and with it: see `expectedPairs`. */
export interface AttributionOutlook {
  experiment: string
  parent: string
  /** In the order in which they are tried. */
  units: AttributedUnit[]
  plan: AttributionPlan
  /** Pairs when one part pays, the verdict on what is left included. */
  expected_pairs: number
  /** At the pace of the samples of its verdict, without setup, build and gates; null when there are none. */
  expected_ms: number | null
  /** A search for its parts that was begun and not ended; null when there is none. */
  goes_on: number | null
}

// ---------------------------------------------------------------- the parts of a diff, and trees that have some of them

interface Scene {
  run: OpenRun
  node: Experiment
  parent: Pinned
  whole: Pinned
  parts: Parts
  units: DiffUnit[]
}

async function sceneOf(run: OpenRun, node: Experiment): Promise<Result<Scene>> {
  const whole = judgedCommit(run, node.id)
  if (!whole) throw new Error(`${node.id} is kept and has no candidate`)
  const parent = baseOf(run, node.id)
  const parts = await partsBetween(run.site, parent.tree, whole.tree)
  if (!parts.ok) return parts
  const units = leastPromisingFirst(unitsOf(parts.value.changes, parts.value.renames), node.hypothesis)
  return ok({ run, node, parent, whole, parts: parts.value, units })
}

/** As the ledger keeps the parts: enough to see that a diff still gives the same ones. */
function recordedUnits(units: readonly DiffUnit[]): AttributedUnit[] {
  return units.map(({ id, lines, edits }) => ({
    id,
    lines,
    around: edits.flatMap((edit) => (edit.kind === 'hunk' ? edit.hunk.around.slice(0, 120) : []))[0] ?? '',
    edits: edits.map((edit): EditPlace => {
      const { path, kind } = edit
      if (edit.kind !== 'hunk') return { path, kind }
      const { before, old, lines, shift } = { ...edit.hunk, shift: shiftBefore(units, edit) }
      return { path, kind, old: [before + 1, old], new: [before + 1 + shift, lines.length] }
    }),
  }))
}

/** By how many lines the hunks above it move a hunk. */
function shiftBefore(
  units: readonly DiffUnit[],
  { path, hunk }: { path: string; hunk: { before: number } },
): number {
  let shift = 0
  for (const edit of units.flatMap(({ edits }) => edits))
    if (edit.kind === 'hunk' && edit.path === path && edit.hunk.before < hunk.before)
      shift += edit.hunk.lines.length - edit.hunk.old
  return shift
}

const treeWith = ({ run, parent, parts, units }: Scene, ids: readonly string[]): Promise<Result<string>> =>
  composeTree(
    run.site,
    parent.tree,
    composed(
      parts.changes,
      units.filter(({ id }) => ids.includes(id)),
    ),
  )

// ---------------------------------------------------------------- what is refused, and what is planned

function mayAttribute(run: OpenRun, node: Experiment): Result<void> {
  const because = attributable(run.ledger.state, node)
  if (because) return refusal(because)
  if (!hasArtifacts(node)) return ok(undefined)
  return refusal({
    code: 'has_artifacts',
    message: `${node.id} is more than its diff: it has artifacts, which cannot be left out part by part`,
    hint: next`name an experiment without artifacts: ${call('tree')}`,
  })
}

function subjectOf(run: OpenRun, wanted: string | null): Result<Experiment> {
  if (wanted !== null) return nodeFor(run, wanted)
  const best = bestOf(run.ledger.state)
  if (best) return ok(best)
  return refusal({
    code: 'nothing_better',
    message: 'there is no best experiment yet',
    hint: next`run the loop first: ${call('loop')}`,
  })
}

function planFor(run: OpenRun, units: number, asked: AttributeRequest): AttributionPlan {
  const { pairs = null, careful = false } = liveSpec(run).attribute ?? {}
  return {
    pairs: asked.pairs ?? pairs ?? pairsFor(units),
    careful: asked.careful || careful,
    interactions: asked.interactions,
  }
}

/** Simulated: 4.7 pairs for each part that is left out, 7 for each that pays, 14 for the verdict. */
const COST = { dead: 4.7, pays: 7, verdict: 14 } as const

function expectedPairs({ noise }: State, units: number): number {
  if (noise.mode === 'deterministic') return units
  return Math.round(COST.dead * (units - 1) + COST.pays + COST.verdict)
}

function outlook({ run, node, parent: _, units }: Scene, asked: AttributeRequest): AttributionOutlook {
  const { state } = run.ledger
  const attempt = lastKept(node)?.attempt
  const times =
    attempt === undefined ? [] : recordedSamples(run, node.id, attempt).map(({ wall_ms }) => wall_ms)
  const pairs = expectedPairs(state, units.length)
  const each = times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0) / times.length
  const going = goingOn(state, node)
  return {
    experiment: node.id,
    parent: node.parent ?? '',
    units: recordedUnits(units),
    plan: going?.started.plan ?? planFor(run, units.length, asked),
    expected_pairs: pairs,
    expected_ms: each === null ? null : Math.round(2 * pairs * each),
    goes_on: going?.started.attribution ?? null,
  }
}

/** One that was begun in this epoch and has no end yet. */
const goingOn = (state: State, node: Experiment): Attribution | null =>
  state.attributions.findLast(
    ({ started, ended }) => started.experiment === node.id && started.epoch === state.epoch && ended === null,
  ) ?? null

async function prepare(run: OpenRun, asked: AttributeRequest): Promise<Result<Scene>> {
  if (run.spec.judge)
    return refusal({
      code: 'judged_metric',
      message:
        'the parts of a diff cannot be tested where a judge scores: each part would cost as much as a candidate',
      hint: next`try a part as a candidate of its own: ${call('new')}`,
    })
  const node = subjectOf(run, asked.experiment)
  if (!node.ok) return node
  const may = mayAttribute(run, node.value)
  if (!may.ok) return may
  const scene = await sceneOf(run, node.value)
  if (!scene.ok) return scene
  const count = scene.value.units.length
  if (count > 1) return scene
  return refusal({
    code: 'one_part',
    message: `the diff of ${node.value.id} has ${count === 1 ? 'a single part, and that it pays is what its verdict says' : 'no part'}`,
    hint: next`look at it: ${call('diff', node.value.id)}`,
  })
}

/** What would be tested, and what it would cost. Changes nothing. */
export async function planAttribution(
  run: OpenRun,
  asked: AttributeRequest,
): Promise<Result<AttributionOutlook>> {
  const scene = await prepare(run, asked)
  return scene.ok ? ok(outlook(scene.value, asked)) : scene
}

// ---------------------------------------------------------------- the search: one test after the other, each recorded

/**
 * Tests the parts of a kept experiment until all are known or the pairs are used up, then has what is left judged. One that a
 * killed or interrupted process began goes on with the plan that it began with. `leaving`: whether to stop before the next test.
 */
export async function attribute(
  run: OpenRun,
  asked: AttributeRequest,
  leaving: () => boolean,
): Promise<Result<Attribution>> {
  const hold = tryHold(attributionLock(run.paths))
  if (!hold.held) {
    return fail({
      kind: 'refused',
      code: 'attribution_running',
      message: `process ${hold.owner.pid} on ${hold.owner.host} is testing the parts of an experiment`,
      hint: 'wait until it ends, or stop it with Ctrl-C: what it measured is kept, and the same command goes on',
    })
  }
  try {
    const read = run.ledger.refresh()
    if (!read.ok) return read
    const scene = await prepare(run, asked)
    if (!scene.ok) return scene
    const { node, units } = scene.value
    const plan = planFor(run, units.length, asked)
    const earlier = answeredBefore(run.ledger.state, node, plan)
    if (earlier) return ok(earlier)
    const begun = begin(scene.value, plan, asked)
    if (!begun.ok) return begun
    return await goOn(scene.value, begun.value, leaving)
  } finally {
    hold.release()
  }
}

/** The end of an earlier one in this epoch, when further tests would tell nothing new. */
function answeredBefore(
  { attributions, epoch }: State,
  { id }: Experiment,
  plan: AttributionPlan,
): Attribution | null {
  const last = attributions.findLast(({ started }) => started.experiment === id && started.epoch === epoch)
  if (!last?.ended) return null
  const { careful, interactions, pairs } = last.started.plan
  const more = last.ended.cut && plan.pairs > pairs
  return more || careful !== plan.careful || interactions !== plan.interactions ? null : last
}

function begin(scene: Scene, plan: AttributionPlan, asked: AttributeRequest): Result<Attribution> {
  const { run, node, parent, whole, units } = scene
  const { state } = run.ledger
  const recorded = recordedUnits(units)
  const going = goingOn(state, node)
  if (going) {
    const { started } = going
    if (JSON.stringify(started.units) !== JSON.stringify(recorded)) return fail(otherParts(going))
    const other =
      (asked.pairs !== null && asked.pairs !== started.plan.pairs) ||
      (asked.careful && !started.plan.careful) ||
      (asked.interactions && !started.plan.interactions)
    return other ? fail(otherPlan(going)) : ok(going)
  }
  const attribution = state.attributions.length + 1
  const begun = run.ledger.record<'attribution_started'>(
    {
      type: 'attribution_started',
      attribution,
      experiment: node.id,
      parent: node.parent ?? '',
      trees: { parent: parent.tree, candidate: whole.tree },
      epoch: state.epoch,
      units: recorded,
      plan,
      nonce: drawNonce(run),
    },
    run.clock(),
  )
  return begun.ok ? ok(attributionAt(state, attribution)) : begun
}

function attributionAt(state: State, attribution: number): Attribution {
  const found = state.attributions[attribution - 1]
  if (!found) throw new Error(`attribution ${attribution} was begun and is not there`)
  return found
}

const otherPlan = ({ started: { attribution, experiment, plan } }: Attribution): Problem => ({
  kind: 'refused',
  code: 'other_plan',
  message: `attribution ${attribution} of ${experiment} is not finished, and it was begun with ${plan.pairs} pairs${plan.careful ? ', --careful' : ''}${plan.interactions ? ', --interactions' : ''}`,
  hint: next`let it end first: ${call('attribute', experiment)}`,
})

const otherParts = ({ started: { attribution, experiment } }: Attribution): Problem => ({
  kind: 'refused',
  code: 'other_parts',
  message: `git divides the diff of ${experiment} in a different way now than when attribution ${attribution} began`,
  hint: 'use the version of git that it was begun with',
})

async function goOn(
  scene: Scene,
  attribution: Attribution,
  leaving: () => boolean,
): Promise<Result<Attribution>> {
  const { run, node, units } = scene
  const parts: Part[] = units.map(({ id, lines }) => ({ id, lines }))
  for (;;) {
    const step = nextStep(parts, attribution.started.plan, attribution.tests.map(answerOf))
    if (step.next === 'done') return end(scene, attribution, step)
    const because = attributable(run.ledger.state, node)
    if (because) return refusal(because)
    const spent = hoursSpent(run.ledger.state)
    if (spent) return fail(spent)
    if (leaving() || run.signal.aborted) return fail(stopped(attribution))
    const answered = await answer(scene, attribution, step)
    if (!answered.ok) return answered
  }
}

const answerOf = ({ without, outcome, pairs, estimate, interval, needs = [] }: Attributed): Answer => ({
  without,
  outcome,
  pairs,
  estimate,
  interval,
  needs,
})

const stopped = ({ started, tests }: Attribution): Problem => ({
  ...interrupted,
  message: `stopped after ${tests.length} tests; what was measured is kept`,
  hint: next`go on: ${call('attribute', started.experiment)}`,
})

/** Answers one test, and records the answer. */
async function answer(scene: Scene, { started, tests }: Attribution, step: Test): Promise<Result<void>> {
  const { run, node, units } = scene
  const { attribution, nonce } = started
  const { without } = step
  const test = tests.length + 1
  const isWhole = step.reference.length === units.length
  const began = performance.now()
  const reference = isWhole ? ok(scene.whole.tree) : await treeWith(scene, step.reference)
  if (!reference.ok) return reference
  const left = await treeWith(scene, step.left)
  if (!left.ok) return left
  const trees = { reference: reference.value, left: left.value }
  const known = knownAnswer(scene, trees, isWhole)
  run.tell({ type: 'preparing', what: `test ${test}: ${nameOfLeft({ node, without })}` })
  const found = known
    ? ok(known)
    : await measured(scene, { attribution, nonce }, { ...step, test, trees, isWhole })
  if (!found.ok) return found
  const way = pathOfBest(run.ledger.state)
  const recorded = run.ledger.record<'attributed'>(
    {
      type: 'attributed',
      attribution,
      experiment: node.id,
      test,
      without,
      trees,
      ...found.value,
      message: found.value.message.slice(0, 500),
      wall_ms: Math.round(performance.now() - began),
    },
    run.clock(),
  )
  if (!recorded.ok) return recorded
  run.tell({
    type: 'log',
    message: `${nameOfLeft({ node, without })}: ${SAID[found.value.outcome]}; ${found.value.message}`,
  })
  if (found.value.varied !== undefined) await confirmAgain(run, [...new Set([...way, node.id])])
  return ok(undefined)
}

/** What an answer says of the units that were left out. */
const SAID: Record<Attributed['outcome'], string> = {
  improved: 'the gain is smaller',
  not_better: 'no loss was found',
  inconclusive: 'the noise hides whether it loses',
  same: 'nothing differs',
  worse: 'it is better',
  broken: 'it does not work',
}

type Found = Omit<
  Attributed,
  'v' | 'id' | 'at' | 'key' | 'type' | 'attribution' | 'experiment' | 'test' | 'without' | 'trees' | 'wall_ms'
>

async function measured(
  scene: Scene,
  started: { attribution: number; nonce: string },
  step: Test & { test: number; trees: Attributed['trees']; isWhole: boolean },
): Promise<Result<Found>> {
  const { run, node, units } = scene
  const { test, trees, without, isWhole } = step
  const name = nameOfLeft({ node, without })
  const reference = isWhole ? ok(scene.whole) : await pinned(scene, trees.reference, `${node.id} reduced`)
  if (!reference.ok) return reference
  const left = await pinned(scene, trees.left, name)
  if (!left.ok) return left
  const paths = units.flatMap(({ id, edits }) => (without.includes(id) ? edits.map(({ path }) => path) : []))
  const plan = { started, test, node, without, isWhole, paths }
  const found = await measureTest(run, plan, { reference: reference.value, left: left.value })
  if (!found.ok) return found
  const { output, ...answer } = found.value
  const needs = answer.outcome === 'broken' ? unitsNamed(`${answer.message}\n${output}`, units, without) : []
  return ok({ ...answer, ...(needs.length > 0 ? { needs } : {}) })
}

async function pinned({ run, node, parent }: Scene, tree: string, message: string): Promise<Result<Pinned>> {
  const commit = await pinCommit(run.site, {
    tree,
    parents: [parent.commit],
    message,
    ref: lookRef(run.run, node.id, run.random(8)),
    at: run.clock(),
  })
  return commit.ok ? ok({ commit: commit.value, tree }) : commit
}

/** An answer that needs no measurement: the same two were compared before, or the value of what is left is known exactly. */
function knownAnswer({ run, node }: Scene, trees: Attributed['trees'], isWhole: boolean): Found | null {
  const { state } = run.ledger
  const none = { pairs: 0, samples: 0, steps: null }
  if (trees.reference === trees.left)
    return { ...none, outcome: 'same', estimate: null, interval: null, message: 'the files are the same' }
  for (const { started, tests } of state.attributions) {
    const same = tests.find((one) => one.trees.reference === trees.reference && one.trees.left === trees.left)
    if (!same || started.epoch !== state.epoch || same.known) continue
    const { outcome, estimate, interval, message } = same
    const known = { attribution: started.attribution, test: same.test }
    return {
      ...none,
      outcome,
      estimate,
      interval,
      message,
      known,
      ...(same.needs ? { needs: same.needs } : {}),
    }
  }
  const value = nodeValue(node)
  if (state.noise.mode !== 'deterministic' || !isWhole || value === null) return null
  for (const { experiment } of state.trees.get(trees.left) ?? []) {
    const twin = state.experiments.get(experiment)
    const judged = twin && lastJudged(twin)
    const plain = judged?.reason === 'improved' || judged?.reason === 'not_better' || judged?.reason === 'tie'
    const other = twin ? nodeValue(twin) : null
    if (!plain || other === null || Object.keys(judged?.artifacts ?? {}).length > 0) continue
    const better = betterBy(run.spec.metric.direction, value, other)
    const outcome = better > 0 ? 'improved' : better < 0 ? 'worse' : 'not_better'
    const estimate = other === 0 ? null : better / Math.abs(other)
    const message = `its files were judged as ${experiment}: ${run.spec.metric.name} = ${other}`
    return { ...none, outcome, estimate, interval: null, message, known: { experiment } }
  }
  return null
}

// ---------------------------------------------------------------- the end: what is left becomes a child of the parent, and is judged

async function end(scene: Scene, { started }: Attribution, done: Done): Promise<Result<Attribution>> {
  const { run, node, units } = scene
  const { attribution } = started
  const reduced = done.kept.length < units.length ? await judgeReduced(scene, attribution, done) : ok(null)
  if (!reduced.ok) return reduced
  const recorded = run.ledger.record<'attribution_ended'>(
    {
      type: 'attribution_ended',
      attribution,
      experiment: node.id,
      units: done.units.map((unit) => ({
        ...unit,
        interval: pairOf(unit.interval),
        together: [...unit.together],
      })),
      kept: done.kept,
      pairs: done.pairs,
      cut: done.cut,
      interactions: done.interactions.map(({ units: [a, b], beyond }) => ({ units: [a, b], beyond })),
      reduced: reduced.value,
    },
    run.clock(),
  )
  return recorded.ok ? ok(attributionAt(run.ledger.state, attribution)) : recorded
}

const pairOf = (interval: readonly [number, number] | null): [number, number] | null =>
  interval && [interval[0], interval[1]]

/** Answers the id of the experiment that was judged. A repetition goes on with the one that was made before. */
async function judgeReduced(scene: Scene, attribution: number, done: Done): Promise<Result<string>> {
  const { run, node } = scene
  const tree = await treeWith(scene, done.kept)
  if (!tree.ok) return tree
  const { state } = run.ledger
  const twin = (state.trees.get(tree.value) ?? []).find(({ experiment }) => {
    const found = state.experiments.get(experiment)
    return found?.parent === node.parent && found.status === 'kept'
  })
  if (twin) return ok(twin.experiment)
  const child = childOf(scene, attribution, done)
  if (!child.ok) return child
  if (isTried(run.ledger.state, child.value)) return ok(child.value.id)
  const sealed = lastAttempt(child.value)
    ? ok(undefined)
    : await sealComposedTree(run, child.value, tree.value)
  if (!sealed.ok) return sealed
  run.tell({ type: 'preparing', what: `the verdict on ${child.value.id}, which is what is left` })
  const first = await submit(run, child.value.id, { asSealed: true })
  const again = first.ok && mayHaveFailedByChance(run.ledger.state, child.value)
  const answer = again ? await submit(run, child.value.id, { asSealed: true }) : first
  if (!answer.ok) return answer
  const { reason, message } = answer.value
  if (isTried(run.ledger.state, child.value)) return ok(child.value.id)
  return fail({
    kind: reason === 'aborted' ? 'interrupted' : 'failed',
    code: 'not_measured',
    message: `what is left, ${child.value.id}, could not be judged: ${message}`,
    hint: next`remove the cause, then go on: ${call('attribute', node.id)}`,
  })
}

function childOf({ run, node, units }: Scene, attribution: number, { kept }: Done): Result<Experiment> {
  const { experiments } = run.ledger.state
  const made = [...experiments.values()].find(({ created }) => created.reduces?.attribution === attribution)
  if (made) return ok(made)
  const id = claimId(run.paths, run.ledger.state)
  if (!id.ok) return id
  const recorded = run.ledger.record<'created'>(
    {
      type: 'created',
      experiment: id.value,
      parent: node.parent,
      hypothesis:
        `${kept.length} of the ${units.length} parts of ${node.id} give its gain: ${node.hypothesis}`.slice(
          0,
          2000,
        ),
      round: null,
      lane: null,
      depth: null,
      reduces: { experiment: node.id, attribution },
    },
    run.clock(),
  )
  return recorded.ok ? nodeFor(run, id.value) : recorded
}

// ---------------------------------------------------------------- one task of a suite, from the texts of an experiment, in a run of its own: `init --target EXP:TASK`

/** Where a run of one task begins. */
export interface NarrowedFrom {
  run: OpenRun
  experiment: string
  task: string
  /** As the experiment was judged. */
  base: { commit: string; tree: string }
}

/** `exp_0003:extract` → its two parts. Problem `bad_arguments`. */
export function readTarget(text: string): Result<Pick<NarrowedFrom, 'experiment' | 'task'>> {
  const at = text.indexOf(':')
  const [experiment, task] = [text.slice(0, at), text.slice(at + 1)]
  if (at > 0 && isExperimentId(experiment) && task !== '') return ok({ experiment, task })
  return fail({
    kind: 'usage',
    code: 'bad_arguments',
    message: `--target needs an experiment and a task of its suite, and is ${text}`,
    hint: next`for example: ${call('init', '--target', 'exp_0003:extract')}`,
  })
}

/** Problems `no_suite`, `unknown_task`, `no_verdict`, or those of an unknown experiment. */
export function narrowedFrom(
  run: OpenRun,
  { experiment, task }: Pick<NarrowedFrom, 'experiment' | 'task'>,
): Result<NarrowedFrom> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const { suite } = run.spec.measure
  if (suite === undefined) return fail(noSuite(run))
  const names = suite.tasks.map(({ name }) => name)
  if (!names.includes(task))
    return fail({
      kind: 'usage',
      code: 'unknown_task',
      message: `the suite ${suite.name} has no task ${task}`,
      hint: `its tasks are: ${names.join(', ')}`,
    })
  const judged = judgedCommit(run, experiment)
  if (lastJudged(node.value) && judged) return ok({ run, experiment, task, base: judged })
  return fail({
    kind: 'refused',
    code: 'no_verdict',
    message: `${experiment} has no verdict, so its texts were never measured`,
    hint: next`measure it: ${call('run', experiment)}`,
  })
}

/**
 * The ground of the new run: the spec as it is, with this task alone. The suite has a name of its own, so that versions of texts that
 * are learnt for one task are not taken for those of the suite. Problem `spec_changed`.
 */
export function narrowed(ground: Preconditions, from: NarrowedFrom): Result<Preconditions> {
  const { spec } = ground
  const { suite } = spec.measure
  const { started, run } = from.run
  if (suite === undefined || frozenHash(spec) !== started.frozen_hash)
    return fail({
      kind: 'refused',
      code: 'spec_changed',
      message: `the spec says something else than when ${run} began, so its experiments are measured otherwise now`,
      hint: next`put it back as it was: ${call('status')} names what differs; or start from it as it is: ${call('init', '--new')}`,
      at: ground.specFile,
    })
  const tasks = suite.tasks.filter(({ name }) => name === from.task)
  const one = { ...suite, name: `${suite.name}: ${from.task}`, tasks }
  return ok({ ...ground, spec: { ...spec, measure: { ...spec.measure, suite: one } } })
}
