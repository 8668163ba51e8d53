/** The rules of one experiment's life, as the fold applies them: caps, claims, verdicts; and who holds the lease. Pure. */
import { call, next, type Said } from '../next.ts'
import type {
  Created,
  Drove,
  Event,
  Judged,
  Leased,
  Noted,
  ProcessIdentity,
  Sealed,
  SessionName,
  Started,
  Status,
} from './events.ts'
import { describeLease, describeOusted, heldAgainst, isLive, isOf, passOn } from './lease.ts'
import { keptWithoutPairs, learnNoise } from './noise.ts'
import {
  type Attempt,
  attemptsUsed,
  BASELINE,
  clearing,
  type Experiment,
  holdsForTwins,
  isFree,
  isOutdatedBaseline,
  isSettled,
  lastAttempt,
  type State,
  undermined,
} from './state.ts'
import { hintFor, TRANSITIONS, type Verb } from './transitions.ts'

/** Why an event changed nothing. */
export interface Void {
  code: string
  message: string
  hint: Said
  data?: object
}
export type Outcome = { accepted: true } | { accepted: false; because: Void }

export const accepted: Outcome = { accepted: true }
export const refuse = (code: string, message: string, hint: Said): Outcome => ({
  accepted: false,
  because: { code, message, hint },
})

export const notStarted = refuse('not_started', 'the run has not started', next`${call('init')}`)

export function created(state: State, event: Created): Outcome {
  if (!state.run) return notStarted
  if (state.experiments.has(event.experiment)) {
    return refuse('exists', `${event.experiment} exists`, 'take the next number')
  }
  let generation = 0
  if (event.parent !== null) {
    const parent = state.experiments.get(event.parent)
    if (!parent) return unknown(event.parent)
    const rule = TRANSITIONS.new[parent.status]
    if ('refused' in rule)
      return refuse(
        'bad_parent',
        `${event.parent} cannot be a parent: ${rule.refused}`,
        hintFor(rule, event.parent),
      )
    if (parent.flagged) {
      return refuse('bad_parent', `${event.parent} cannot be a parent: ${parent.flagged}`, clearing(parent))
    }
    const outdated = otherEpoch(state, parent)
    if (outdated) return outdated
    parent.children.push(event.experiment)
    generation = parent.generation + 1
  }
  state.experiments.set(event.experiment, {
    id: event.experiment,
    parent: event.parent,
    children: [],
    generation,
    status: 'open',
    hypothesis: event.hypothesis,
    created: event,
    attempts: [],
    value: null,
    epoch: state.epoch,
    gates: [],
    droppedGates: [],
    annotations: [],
    flagged: null,
    lostTo: null,
    why: null,
    discard_class: null,
    judgedSeq: null,
  })
  state.counts.open++
  return accepted
}

export function sealed(state: State, event: Sealed): Outcome {
  return withNode(state, event.experiment, 'seal', (node) => {
    const orphaned = onRevoked(state, node)
    if (orphaned) return orphaned
    const last = lastAttempt(node)
    if (last && event.attempt <= last.attempt) {
      return refuse('stale_seal', `attempt ${event.attempt} was sealed by another command`, 'ask again')
    }
    // Commands at once seal the same files: the first seal, and its verdict, is the one that all of them mean. A seal
    // with a hypothesis of its own is meant as it is.
    const same = last && event.hypothesis === undefined && sameContent(last.sealed, event)
    if (same && !isOutdatedBaseline(state, node)) {
      // What an artifact holds is no part of the seal, so it may have changed.
      const declares = Object.keys(last.judged?.artifacts ?? {}).length > 0
      if (isSettled(last) && !declares)
        return refuse('judged', 'this content has its verdict', next`${call('show', node.id)}`)
      if (!last.judged)
        return refuse('stale_seal', `the same content is sealed as attempt ${last.attempt}`, 'ask again')
    }
    node.attempts.push({
      attempt: event.attempt,
      sealed: event,
      claim: null,
      judged: null,
      confirmed: [],
      audited: [],
    })
    if (event.hypothesis !== undefined) node.hypothesis = event.hypothesis
    return accepted
  })
}

/** A secret-looking file is never in the tree, so trees are compared only where there was none. */
const sameContent = (a: Sealed, b: Sealed): boolean =>
  a.tree === b.tree && a.secrets.length === 0 && b.secrets.length === 0

export function started(state: State, event: Started): Outcome {
  const node = state.experiments.get(event.experiment)
  if (!node) return unknown(event.experiment)
  const attempt = lastAttempt(node)
  if (attempt?.attempt !== event.attempt)
    return refuse('stale_seal', 'a newer seal exists', next`${call('run', node.id)}`)
  const claim = {
    id: event.id,
    owner: event.owner,
    at: event.at,
    // Whoever takes over goes on with samples of the epoch in which they were taken.
    epoch: event.takes_over === undefined ? state.epoch : (attempt.claim?.epoch ?? state.epoch),
    nonce: event.takes_over === undefined ? (event.nonce ?? null) : (attempt.claim?.nonce ?? null),
  }
  if (event.takes_over !== undefined) {
    if (node.status !== 'running' || attempt.claim?.id !== event.takes_over) {
      return refuse(
        'taken_over',
        'another command took it over first',
        next`${call('wait', '--for', node.id)}`,
      )
    }
    attempt.claim = claim
    return accepted
  }
  if (attempt.judged) return refuse('judged', 'this seal has its verdict', next`${call('show', node.id)}`)
  const rule = TRANSITIONS.run[node.status]
  if ('refused' in rule && !isOutdatedBaseline(state, node))
    return refuse(`is_${node.status}`, `${node.id} cannot be run: ${rule.refused}`, hintFor(rule, node.id))
  const parent = node.parent === null ? undefined : state.experiments.get(node.parent)
  const refused =
    onRevoked(state, node) ??
    (parent && otherEpoch(state, parent)) ??
    (node.id === BASELINE ? null : overCap(state, node))
  if (refused) return refused
  attempt.claim = claim
  if (node.id !== BASELINE) state.claims++
  move(state, node, 'running')
  return accepted
}

/** Caps are kept here and nowhere else: two commands at once cannot both pass the last place. */
function overCap(state: State, node: Experiment): Outcome | null {
  const knobs = state.knobs
  if (!knobs) return notStarted
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

export function judged(state: State, event: Judged): Outcome {
  const node = state.experiments.get(event.experiment)
  if (!node) return unknown(event.experiment)
  const attempt = attemptOf(node, event.attempt)
  if (!attempt)
    return refuse('no_seal', `${node.id} has no attempt ${event.attempt}`, next`${call('seal', node.id)}`)
  if (attempt.judged) return refuse('judged', 'this attempt has its verdict', next`${call('show', node.id)}`)
  if (attempt.claim ? node.status !== 'running' : !isFree(event) || node.status === 'running') {
    return refuse(
      'not_claimed',
      `attempt ${event.attempt} of ${node.id} is not running`,
      next`${call('run', node.id)}`,
    )
  }
  const rule = TRANSITIONS.judge[node.status]
  if ('refused' in rule)
    return refuse(`is_${node.status}`, `${node.id} cannot be judged: ${rule.refused}`, hintFor(rule, node.id))
  attempt.judged = event
  node.value = event.value
  node.epoch = attempt.claim?.epoch ?? state.epoch
  node.judgedSeq = state.seq
  learnNoise(state, node, event)
  if (event.status === 'kept') {
    node.flagged = event.doubt ?? keptWithoutPairs(state, node, event)
    node.lostTo = event.lost_to ?? null
  }
  if (event.aborted?.fix) state.notes.push(fixNote(event, event.aborted.fix))
  move(state, node, event.status)
  count(state, node, attempt, event)
  const round = state.rounds.at(-1)
  // A round that was open when the epoch changed has to be judged by the scores of the new one.
  if (node.id === BASELINE && round && !round.closed && event.status === 'kept')
    round.bestAtOpen = { experiment: node.id, value: node.value }
  return accepted
}

/** What is built on something revoked can never count, so nothing more is paid for it. */
function onRevoked(state: State, node: Experiment): Outcome | null {
  const because = undermined(state, node)
  return because && { accepted: false, because }
}

/** Scores of different epochs are never compared, so nothing is built on a node that has none of this epoch. */
function otherEpoch(state: State, parent: Experiment): Outcome | null {
  if (parent.epoch === state.epoch || parent.status !== 'kept') return null
  return refuse(
    'other_epoch',
    `${parent.id} was measured in epoch ${parent.epoch}, and this is epoch ${state.epoch}`,
    parent.id === BASELINE
      ? next`measure it again first: ${call('run', parent.id)}`
      : next`measure it again first: ${call('confirm', parent.id)}`,
  )
}

/** What `abort` says has to be mended reaches the next rounds as a note. */
const fixNote = ({ v, id, at, experiment, message }: Judged, fix: string): Noted => ({
  v,
  id,
  at,
  type: 'noted',
  kind: 'infrastructure',
  experiment,
  text: `${experiment} was stopped: ${message}. Fix: ${fix}`,
})

function count(state: State, node: Experiment, attempt: Attempt, event: Judged): void {
  if (event.status === 'failed') {
    if (event.failure_class !== 'environment') state.failures++
    const same = state.streak?.signature === event.signature && event.signature !== null
    state.streak =
      event.signature === null
        ? null
        : {
            signature: event.signature,
            count: same ? (state.streak?.count ?? 0) + 1 : 1,
            message: event.message,
          }
  } else if (attempt.claim) {
    state.streak = null
  }
  if (holdsForTwins(event) && node.epoch === state.epoch) {
    const { tree } = attempt.sealed
    const twin = { experiment: node.id, attempt: attempt.attempt }
    state.trees.set(tree, [...(state.trees.get(tree) ?? []), twin])
  }
  if (state.driver === null && attempt.claim) state.activeMs += event.wall_ms
}

export function onNode(state: State, id: string, then: (node: Experiment) => Outcome): Outcome {
  const node = state.experiments.get(id)
  return node ? then(node) : unknown(id)
}

/** As `onNode`, if the table allows the verb. A new epoch begins with the baseline sealed and measured again. */
export function withNode(state: State, id: string, verb: Verb, then: (node: Experiment) => Outcome): Outcome {
  return onNode(state, id, (node) => {
    const rule = TRANSITIONS[verb][node.status]
    if ('refused' in rule && !(verb === 'seal' && isOutdatedBaseline(state, node))) {
      return refuse(`is_${node.status}`, `cannot ${verb} ${id}: ${rule.refused}`, hintFor(rule, id))
    }
    return then(node)
  })
}

export function revoke(state: State, node: Experiment, why: string): void {
  node.why = why
  move(state, node, 'revoked')
}

export function move(state: State, node: Experiment, to: Status): void {
  state.counts[node.status]--
  state.counts[to]++
  node.status = to
}

export const attemptOf = (node: Experiment, n: number): Attempt | undefined =>
  node.attempts.find((a) => a.attempt === n)

const unknown = (id: string): Outcome =>
  refuse('unknown_experiment', `there is no ${id}`, next`see ${call('tree')}`)

// ---------------------------------------------------------------- the lease of a session, as the fold applies it

/** Why this caller must not drive then: another session has the lease, or it was taken from this one; null when it may. */
export function drivenBecause({ lease, ousted }: State, by: SessionName | null, at: string): Void | null {
  const holder = heldAgainst(lease, by, at)
  if (holder) return describeLease(holder)
  return ousted && isOf(ousted, by) && isLive(ousted, at) ? describeOusted(ousted) : null
}

export function driven(state: State, by: SessionName | null, at: string): Outcome | null {
  const because = drivenBecause(state, by, at)
  return because && { accepted: false, because }
}

export function leased(state: State, event: Leased): Outcome {
  const { by, at, how } = event
  if (how === 'kept') return holds(state, by, at) ? accepted : notHeld
  const other = how === 'taken' ? driven(state, by, at) : null
  if (other) return other
  // Of two words of a person, the newer one.
  if (how === 'taken_over' && state.entrusted?.session !== by?.session) state.entrusted = null
  if (how === 'taken_over')
    state.ousted = by === null && state.lease ? { ...state.lease, since: at, last: at } : null
  state.lease = passOn(state.lease, event)
  return accepted
}

const notHeld = refuse('not_driving', 'this session has no lease to keep', next`${call('round open')}`)

/** Whether this caller has the lease then: one that nobody took since it lapsed is nobody's. */
export const holds = ({ lease }: State, by: SessionName | null, at: string): boolean =>
  lease !== null && isOf(lease, by) && isLive(lease, at)

/** A process that was given up, and wakes, has its time counted; only a start makes a driver of it again. */
export function drove(state: State, { driver, owner, phase, at, waiting }: Drove): void {
  if (phase !== 'start' && state.driver && !isSame(state.driver.owner, owner)) return
  state.driver = phase === 'stop' ? null : { driver, owner, since: at, ...(waiting ? { waiting } : {}) }
}

const isSame = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid && one.started === other.started && one.host === other.host

/** What the loop does keeps the lease, and keeps out whom it was taken from. */
export function renew(state: State, event: Event): void {
  if (!isOfLoop(state, event)) return
  for (const one of [state.lease, state.ousted]) if (one) one.last = event.at
}

/** Events by which the loop is seen to go on. What a person tries by hand, besides it, is in no round. */
function isOfLoop(state: State, event: Event): boolean {
  if (event.type === 'round_briefed' || event.type === 'round_closed') return true
  if (event.type === 'leased') return event.how === 'kept'
  if (event.type === 'created') return event.round !== null
  if (event.type !== 'sealed' && event.type !== 'started' && event.type !== 'judged') return false
  return (state.experiments.get(event.experiment)?.created.round ?? null) !== null
}
