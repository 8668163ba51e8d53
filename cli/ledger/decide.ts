/**
 * Every rule about whether an event counts, with what people read when it does not. The fold asks it for each line, and
 * writers ask it before they write. Pure, and it changes nothing.
 */
import { call, next, type Said } from '../next.ts'
import { unreachable } from '../result.ts'
import { describeConflict, hasLease, sessionAgainst } from './driver.ts'
import type { Draft, SessionName } from './events.ts'
import {
  addedGates,
  attemptOf,
  attemptsUsed,
  BASELINE,
  clearing,
  currentRound,
  type Experiment,
  isFree,
  isOutdatedBaseline,
  isSameSet,
  isSettled,
  lastAttempt,
  mergeOf,
  pendingConfirmation,
  type State,
  undermined,
} from './state.ts'
import { hintFor, type LifecycleVerb, TRANSITIONS } from './transitions.ts'

/** Why an event does not count. */
export interface Refusal {
  code: string
  message: string
  hint: Said
  data?: object
  /** Another event came first: a caller that reads again finds what it did, and answers by that. */
  raced?: true
}

/** An event as far as the rules read it: they know when it is written, not yet under which id. */
export type DatedDraft = Draft & { at: string }
type Of<T extends Draft['type']> = Extract<DatedDraft, { type: T }>

const refuse = (code: string, message: string, hint: Said): Refusal => ({ code, message, hint })
const raced = (code: string, message: string, hint: Said): Refusal => ({ code, message, hint, raced: true })

const NOT_STARTED = refuse('not_started', 'the run has not started', next`${call('init')}`)
const NOT_HELD = refuse(
  'not_driving',
  'this session does not drive the run, so it has no lease to renew',
  next`${call('round open')}`,
)

/** null when the event counts. */
export function decide(state: State, event: DatedDraft): Refusal | null {
  if (event.key !== undefined && state.keys.has(event.key))
    return raced(
      'repeated',
      `the key ${event.key} was used before`,
      'the first call with this key counts; give a new call a new key',
    )
  switch (event.type) {
    case 'run_started':
      return state.run ? raced('started', 'the run has started already', next`${call('status')}`) : null
    case 'configured':
      if (!state.knobs) return NOT_STARTED
      return event.after !== undefined && event.after !== state.configured.length
        ? raced(
            'stale_config',
            'a different call changed the configuration first',
            'run the same command again',
          )
        : null
    case 'created':
      return mayCreate(state, event)
    case 'sealed':
      return maySeal(state, event)
    case 'started':
      return mayStart(state, event)
    case 'dispatched':
    case 'placed':
      return mayRunJob(state, event)
    case 'judged':
      return mayJudge(state, event)
    case 'confirmed':
      return (
        allowed(state, event.experiment, 'confirm') ??
        (event.epoch !== undefined && event.epoch !== state.epoch
          ? raced('stale_epoch', 'a new epoch was opened while it was measured', 'confirm it again')
          : null) ??
        mayEndConfirmation(state, event)
      )
    case 'confirmation_started':
      return mayBeginConfirmation(state, event)
    case 'confirmation_ended':
      return mayEndConfirmation(state, event)
    case 'audited':
      return allowed(state, event.experiment, 'audit')
    case 'discarded':
      return allowed(state, event.experiment, 'discard')
    case 'pruned':
      return allowed(state, event.experiment, 'prune')
    case 'pinned':
      return mayBeParent(state, event.experiment)
    case 'unpinned':
      return exists(state, event.experiment)
    case 'restored':
      return allowed(state, event.experiment, 'restore')
    case 'gate_added':
    case 'gate_removed':
      return mayChangeGate(state, event)
    case 'noted':
      return event.experiment === null ? null : exists(state, event.experiment)
    case 'annotated':
      return exists(state, event.experiment)
    case 'attribution_started':
      return mayAttribute(state, event)
    case 'attributed':
      return mayAnswerTest(state, event)
    case 'attribution_ended':
      return openAttribution(state, event)
    case 'conflicted':
      return mayConflict(state, event)
    case 'epoch_opened':
      return event.epoch === state.epoch + 1
        ? null
        : raced('stale_epoch', 'a different call opened an epoch first', next`${call('status')}`)
    case 'round_opened':
      return (
        driven(state, event.by ?? null, event.at) ??
        (currentRound(state) ? raced('round_open', 'a round is open', next`${call('round close')}`) : null) ??
        (event.round === state.rounds.length + 1
          ? null
          : raced('stale_round', 'a different call opened a round first', 'run the same command again'))
      )
    case 'round_briefed':
    case 'round_closed':
      return mayWriteInRound(state, event)
    case 'task_answered':
      return state.answers.has(event.task)
        ? raced('answered', `${event.task} was answered before`, next`${call('round next')}`)
        : null
    case 'leased':
      if (event.how === 'kept') return hasLease(state.driver, event.by, event.at) ? null : NOT_HELD
      return event.how === 'taken' ? driven(state, event.by, event.at) : null
    case 'drove':
      return event.phase === 'start' ? driven(state, event.by ?? null, event.at) : null
    case 'steered':
      return event.experiment === null ? null : exists(state, event.experiment)
    case 'meta_ticked': {
      const last = state.meta.lastTick
      return last && Date.parse(event.at) - Date.parse(last.at) < event.every_ms
        ? raced('too_early', 'the meta controller was asked less than an interval ago', 'ask again later')
        : null
    }
    case 'adjusted':
      return event.after === state.meta.edits.length
        ? null
        : raced('stale_edits', 'a different call applied edits first', next`ask again: ${call('meta due')}`)
    case 'ideas_approved':
    case 'ideas_dropped':
      return maySettle(state, event)
    case 'isolated':
    case 'proposed':
    case 'ideas_parked':
    case 'entrusted':
    case 'usage':
    case 'stopped':
    case 'paused':
    case 'resumed':
    case 'steering_delivered':
    case 'alerted':
    case 'healed':
      return null
    default:
      return unreachable(event)
  }
}

/** A person decides only about ideas that no experiment has tried yet. */
function maySettle(state: State, { ideas }: Of<'ideas_approved' | 'ideas_dropped'>): Refusal | null {
  for (const id of ideas) {
    const idea = state.ideas.find((one) => one.id === id)
    if (!idea) return refuse('unknown_idea', `there is no ${id}`, next`see ${call('backlog')}`)
    if (idea.dropped !== null)
      return refuse('is_dropped', `${id} was dropped: ${idea.dropped}`, 'propose it again, in other words')
    if (idea.taken)
      return refuse(
        'is_taken',
        `${idea.taken.experiment ?? `lane ${idea.taken.lane} of round ${idea.taken.round}`} carries out ${id}`,
        next`see ${call('backlog --all')}`,
      )
  }
  return null
}

// ---------------------------------------------------------------- the life of one experiment

/** Why the table refuses a verb for an experiment; null when it does not. */
export function refusedBy(node: Experiment, verb: LifecycleVerb): Refusal | null {
  const rule = TRANSITIONS[verb][node.status]
  return 'refused' in rule
    ? refuse(`is_${node.status}`, `cannot ${verb} ${node.id}: ${rule.refused}`, hintFor(rule, node.id))
    : null
}

export const unknownExperiment = (run: string, id: string): Refusal =>
  refuse('unknown_experiment', `${run} has no experiment ${id}`, next`${call('tree')} lists them`)

const unknown = ({ run }: State, id: string): Refusal => unknownExperiment(run?.run ?? 'the run', id)

const exists = (state: State, id: string): Refusal | null =>
  state.experiments.has(id) ? null : unknown(state, id)

function allowed(state: State, id: string, verb: LifecycleVerb): Refusal | null {
  const node = state.experiments.get(id)
  return node ? refusedBy(node, verb) : unknown(state, id)
}

function mayCreate(state: State, event: Of<'created'>): Refusal | null {
  if (!state.run) return NOT_STARTED
  if (state.experiments.has(event.experiment))
    return raced('exists', `${event.experiment} exists`, 'take the next number')
  const parents = event.parents ?? (event.parent === null ? [] : [event.parent])
  for (const parent of parents) {
    const because = mayBeParent(state, parent)
    if (because) return because
  }
  const same = event.merge ? mergeOf(state, parents) : null
  return same
    ? raced('merged', `${same.id} merges these experiments`, next`look at it: ${call('show', same.id)}`)
    : null
}

/** Why nothing may be built on an experiment. */
export function mayBeParent(state: State, id: string): Refusal | null {
  const parent = state.experiments.get(id)
  if (!parent) return unknown(state, id)
  const rule = TRANSITIONS.new[parent.status]
  if ('refused' in rule)
    return refuse('bad_parent', `${id} cannot be a parent: ${rule.refused}`, hintFor(rule, id))
  if (parent.flagged)
    return refuse('bad_parent', `${id} cannot be a parent: ${parent.flagged}`, clearing(parent))
  return otherEpoch(state, parent)
}

function maySeal(state: State, event: Of<'sealed'>): Refusal | null {
  const node = state.experiments.get(event.experiment)
  if (!node) return unknown(state, event.experiment)
  const again = isOutdatedBaseline(state, node)
  const refused = (again ? null : refusedBy(node, 'seal')) ?? undermined(state, node)
  if (refused) return refused
  const last = lastAttempt(node)
  if (!last) return null
  if (event.attempt <= last.attempt)
    return raced(
      'stale_seal',
      `attempt ${event.attempt} was sealed by a different command`,
      'run the same command again',
    )
  // Commands at once seal the same files: the first seal, and its verdict, is the one that all of them mean. A seal
  // with a hypothesis of its own is meant as it is.
  const same = event.hypothesis === undefined && sameContent(last.sealed, event)
  if (!same || again) return null
  // What an artifact holds is no part of the seal, so it may have changed.
  const declares = Object.keys(last.judged?.artifacts ?? {}).length > 0
  if (isSettled(last) && !declares)
    return raced('judged', 'this content was judged already', next`${call('show', node.id)}`)
  if (!last.judged)
    return raced(
      'stale_seal',
      `the same content is sealed as attempt ${last.attempt}`,
      'run the same command again',
    )
  return null
}

type Content = Pick<Of<'sealed'>, 'tree' | 'secrets'>

/** A secret-looking file is never in the tree, so trees are compared only where there was none. */
const sameContent = (a: Content, b: Content): boolean =>
  a.tree === b.tree && a.secrets.length === 0 && b.secrets.length === 0

function mayStart(state: State, event: Of<'started'>): Refusal | null {
  const node = state.experiments.get(event.experiment)
  if (!node) return unknown(state, event.experiment)
  const attempt = lastAttempt(node)
  if (attempt?.attempt !== event.attempt)
    return raced('stale_seal', 'a newer seal exists', next`${call('run', node.id)}`)
  if (event.takes_over !== undefined) {
    return node.status === 'running' && attempt.claim?.id === event.takes_over
      ? null
      : raced('taken_over', 'a different command took it over first', next`${call('wait', '--for', node.id)}`)
  }
  if (attempt.judged) return raced('judged', 'this seal has its verdict', next`${call('show', node.id)}`)
  const parent = node.parent === null ? undefined : state.experiments.get(node.parent)
  return (
    (isOutdatedBaseline(state, node) ? null : refusedBy(node, 'run')) ??
    undermined(state, node) ??
    (parent ? otherEpoch(state, parent) : null) ??
    (node.id === BASELINE ? null : overCap(state, node))
  )
}

/** Caps are kept here and nowhere else: two commands at once cannot both pass the last place. */
function overCap(state: State, node: Experiment): Refusal | null {
  const knobs = state.knobs
  if (!knobs) return NOT_STARTED
  if (attemptsUsed(node) >= knobs.max_attempts) {
    return refuse(
      'max_attempts',
      `${node.id} has used its ${knobs.max_attempts} attempts`,
      'make a child of its parent',
    )
  }
  if (knobs.experiments !== null && state.claims >= knobs.experiments) {
    return refuse(
      'budget_experiments',
      `the budget of ${knobs.experiments} experiments is used`,
      next`raise budget.experiments, or finish: ${call('report')}`,
    )
  }
  if (knobs.failures !== null && state.failures >= knobs.failures) {
    return refuse(
      'budget_failures',
      `${state.failures} attempts failed, the budget allows ${knobs.failures}`,
      next`see what fails: ${call('tree')}, ${call('show', 'ID')}`,
    )
  }
  return null
}

function mayRunJob(state: State, event: Of<'dispatched'> | Of<'placed'>): Refusal | null {
  const node = state.experiments.get(event.experiment)
  if (!node) return unknown(state, event.experiment)
  const ended = mayEndConfirmation(state, event)
  if (ended) return ended
  const attempt = attemptOf(node, event.attempt)
  if (event.confirmation === undefined && (!attempt?.claim || attempt.judged))
    return raced(
      'judged',
      `attempt ${event.attempt} of ${node.id} is not running`,
      next`${call('show', node.id)}`,
    )
  const job = event.confirmation === undefined ? attempt?.job : pendingConfirmation(state, node.id)?.job
  const isNext =
    event.type === 'placed'
      ? job && job.placed === null
      : event.held_out
        ? job && job.first === undefined
        : !job
  return isNext
    ? null
    : raced('dispatched', 'a different command recorded this first', next`${call('wait', '--for', node.id)}`)
}

function mayBeginConfirmation(state: State, event: Of<'confirmation_started'>): Refusal | null {
  const refused = allowed(state, event.experiment, 'confirm')
  if (refused) return refused
  if (event.epoch !== state.epoch)
    return raced('stale_epoch', 'a new epoch was opened meanwhile', 'confirm it again')
  return pendingConfirmation(state, event.experiment)
    ? raced(
        'confirming',
        `a job confirms ${event.experiment} already`,
        next`${call('confirm', event.experiment)}`,
      )
    : null
}

/** null as well for what no confirmation by a job is about. */
function mayEndConfirmation(
  state: State,
  { experiment, confirmation }: { experiment: string; confirmation?: number | undefined },
): Refusal | null {
  return confirmation === undefined || pendingConfirmation(state, experiment)?.confirmation === confirmation
    ? null
    : raced(
        'not_confirming',
        `confirmation ${confirmation} of ${experiment} has ended`,
        next`${call('confirm', experiment)}`,
      )
}

function mayJudge(state: State, event: Of<'judged'>): Refusal | null {
  const node = state.experiments.get(event.experiment)
  if (!node) return unknown(state, event.experiment)
  const attempt = attemptOf(node, event.attempt)
  if (!attempt)
    return refuse('no_seal', `${node.id} has no attempt ${event.attempt}`, next`${call('seal', node.id)}`)
  if (attempt.judged)
    return raced('judged', 'this attempt was judged already', next`${call('show', node.id)}`)
  if (attempt.claim ? node.status !== 'running' : !isFree(event) || node.status === 'running') {
    return refuse(
      'not_claimed',
      `attempt ${event.attempt} of ${node.id} is not running`,
      next`${call('run', node.id)}`,
    )
  }
  return refusedBy(node, 'judge')
}

/** Scores of different epochs are never compared, so nothing is built on a node that has none of this epoch. */
function otherEpoch(state: State, parent: Experiment): Refusal | null {
  if (parent.epoch === state.epoch || parent.status !== 'kept') return null
  return refuse(
    'other_epoch',
    `${parent.id} was measured in epoch ${parent.epoch}, and this is epoch ${state.epoch}`,
    parent.id === BASELINE
      ? next`measure it again first: ${call('run', parent.id)}`
      : next`measure it again first: ${call('confirm', parent.id)}`,
  )
}

function mayChangeGate(state: State, event: Of<'gate_added'> | Of<'gate_removed'>): Refusal | null {
  const id = event.experiment
  if (!state.experiments.has(id)) return unknown(state, id)
  const wanted = event.type === 'gate_added' ? event.gate.name : event.name
  const binds = addedGates(state, id).some(({ name }) => name === wanted)
  if (event.type === 'gate_added')
    return binds
      ? refuse('gate_exists', `a gate ${wanted} binds ${id} already`, next`${call('gate list', id)}`)
      : null
  return binds
    ? null
    : refuse('no_gate', `no added gate ${wanted} binds ${id}`, next`${call('gate list', id)}`)
}

// ---------------------------------------------------------------- attributions

const STALE_ATTRIBUTION = raced(
  'stale_attribution',
  'a different call went on with this attribution first',
  'run the same command again',
)

function mayAttribute(state: State, event: Of<'attribution_started'>): Refusal | null {
  const node = state.experiments.get(event.experiment)
  if (!node) return unknown(state, event.experiment)
  if (event.epoch !== state.epoch) return STALE_ATTRIBUTION
  return (
    attributable(state, node) ??
    (event.attribution === state.attributions.length + 1 ? null : STALE_ATTRIBUTION)
  )
}

/** Why no part of an experiment can be tested; null when it can. */
export function attributable(state: State, node: Experiment): Refusal | null {
  if (node.id === BASELINE)
    return refuse(
      'is_baseline',
      'the baseline has no parent, so there is no gain to attribute',
      next`name a kept experiment: ${call('tree')}`,
    )
  if (node.status !== 'kept' && node.status !== 'pruned')
    return refuse(
      'not_kept',
      `${node.id} is ${node.status}: only the parts of a kept experiment can be tested`,
      next`name a kept experiment: ${call('tree')}`,
    )
  if (node.flagged !== null)
    return refuse('in_doubt', `${node.id} is in doubt: ${node.flagged}`, clearing(node))
  if (node.epoch !== state.epoch)
    return refuse(
      'other_epoch',
      `${node.id} was measured in epoch ${node.epoch}, and this is epoch ${state.epoch}`,
      next`measure it again first: ${call('confirm', node.id)}`,
    )
  const fallen = undermined(state, node)
  return fallen && refuse(fallen.code, fallen.message, fallen.hint)
}

function openAttribution(state: State, { attribution }: { attribution: number }): Refusal | null {
  const found = state.attributions[attribution - 1]
  return found && !found.ended && found.started.epoch === state.epoch ? null : STALE_ATTRIBUTION
}

function mayAnswerTest(state: State, event: Of<'attributed'>): Refusal | null {
  const tests = state.attributions[event.attribution - 1]?.tests.length ?? 0
  return openAttribution(state, event) ?? (event.test === tests + 1 ? null : STALE_ATTRIBUTION)
}

// ---------------------------------------------------------------- merges

function mayConflict(state: State, { experiments }: Of<'conflicted'>): Refusal | null {
  const missing = experiments.find((id) => !state.experiments.has(id))
  if (missing !== undefined) return unknown(state, missing)
  const known = state.conflicts.some((other) => isSameSet(other.experiments, experiments))
  return known ? raced('conflicted', 'this conflict is known', next`${call('merge')}`) : null
}

// ---------------------------------------------------------------- rounds, and who drives

function mayWriteInRound(state: State, event: Of<'round_briefed'> | Of<'round_closed'>): Refusal | null {
  const round = currentRound(state)
  if (round?.opened.token !== event.token)
    return raced('stale_round', 'the token does not belong to the open round', next`${call('round open')}`)
  // Briefs that became no lane may be written again: nothing rests on them.
  if (event.type === 'round_briefed' && round.briefed && round.briefed.lanes.length > 0)
    return raced(
      'repeated',
      'the round has its briefs',
      'the first call with this key counts; give a new call a new key',
    )
  return event.by ? driven(state, event.by, event.at) : null
}

/** A different session has the lease, or it was taken from this one. Whether a process drives is for the writer to look at. */
function driven({ driver }: State, session: SessionName | null, at: string): Refusal | null {
  const conflict = sessionAgainst(driver, session, at)
  return conflict && describeConflict(conflict)
}
