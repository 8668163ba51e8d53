/**
 * The one reader of events: `fold(state, event)` changes the state and says whether the event was accepted.
 * First in file order wins, so writers need no lock: they propose, and read here what became of it. Pure: the
 * same lines give the same state on every reader.
 */

import { call, next } from '../next.ts'
import { unreachable } from '../result.ts'
import { bestOf } from './best.ts'
import type { Event, UsageRecorded } from './events.ts'
import { taken } from './lease.ts'
import {
  accepted,
  attemptOf,
  created,
  driven,
  drove,
  judged,
  leased,
  move,
  notStarted,
  type Outcome,
  onNode,
  refuse,
  renew,
  revoke,
  sealed,
  started,
  withNode,
} from './lifecycle.ts'
import { beginRound, overrule, takeEdits, takeTick } from './meta.ts'
import { learnNoise } from './noise.ts'
import {
  addedGates,
  currentRound,
  lastingDoubt,
  lastJudged,
  nodeValue,
  type State,
  type Steer,
} from './state.ts'

export type { Outcome, Void } from './lifecycle.ts'

export function fold(state: State, event: Event): Outcome {
  if (event.key !== undefined && state.keys.has(event.key)) {
    return refuse('repeated', `the key ${event.key} was used before`, 'the first answer stands')
  }
  const outcome = apply(state, event)
  if (outcome.accepted) {
    state.seq++
    state.lastAt = event.at
    renew(state, event)
    if (event.key !== undefined) state.keys.set(event.key, event)
  }
  return outcome
}

function apply(state: State, event: Event): Outcome {
  switch (event.type) {
    case 'run_started':
      if (state.run) return refuse('started', 'the run has started already', next`${call('status')}`)
      state.run = event
      state.knobs = event.knobs
      return accepted
    case 'configured':
      if (!state.knobs) return notStarted
      state.knobs = { ...state.knobs, ...event.changes }
      state.configured.push(event)
      overrule(state.meta, Object.keys(event.changes))
      return accepted
    case 'created':
      return created(state, event)
    case 'sealed':
      return sealed(state, event)
    case 'started':
      return started(state, event)
    case 'judged':
      return judged(state, event)
    case 'confirmed':
      return withNode(state, event.experiment, 'confirm', (node) => {
        if (event.epoch !== undefined && event.epoch !== state.epoch)
          return refuse('stale_epoch', 'another epoch opened while it was measured', 'confirm it again')
        attemptOf(node, event.attempt)?.confirmed.push(event)
        learnNoise(state, node, event)
        if (event.passed && node.lostTo === event.against) node.lostTo = null
        if (event.aside) return accepted
        const why = event.message ?? `a fresh measurement did not confirm it against ${event.against}`
        if (event.passed) {
          node.flagged = lastingDoubt(node)
          // What was kept in an earlier epoch becomes comparable again by being measured in this one.
          if (node.epoch !== state.epoch) Object.assign(node, { epoch: state.epoch, value: event.value })
        } else if (event.comparison.outcome === 'inconclusive' && event.differences) node.flagged = why
        else revoke(state, node, why)
        return accepted
      })
    case 'audited':
      return withNode(state, event.experiment, 'audit', (node) => {
        attemptOf(node, event.attempt)?.audited.push(event)
        // A pruned node is no parent, but it may be the best.
        if (node.status !== 'kept' && node.status !== 'pruned') return accepted
        const why = event.findings.map((finding) => finding.message).join('; ')
        if (event.outcome === 'revoked') revoke(state, node, why)
        else if (event.outcome === 'flagged') node.flagged = `an audit flagged it: ${why}`
        return accepted
      })
    case 'discarded':
      return withNode(state, event.experiment, 'discard', (node) => {
        node.why = event.why
        node.discard_class = event.failure_class
        move(state, node, 'discarded')
        return accepted
      })
    case 'pruned':
      return withNode(state, event.experiment, 'prune', (node) => {
        node.why = event.why
        move(state, node, 'pruned')
        return accepted
      })
    case 'restored':
      return withNode(state, event.experiment, 'restore', (node) => {
        node.flagged = null
        if (node.status !== 'discarded' && node.status !== 'pruned' && node.status !== 'revoked')
          return accepted
        node.why = null
        node.discard_class = null
        move(state, node, lastJudged(node)?.status ?? 'open')
        return accepted
      })
    case 'gate_added':
      return onNode(state, event.experiment, (node) => {
        if (addedGates(state, node.id).some(({ name }) => name === event.gate.name)) {
          return refuse(
            'gate_exists',
            `a gate ${event.gate.name} binds ${node.id} already`,
            next`${call('gate list', node.id)}`,
          )
        }
        node.droppedGates = node.droppedGates.filter((name) => name !== event.gate.name)
        node.gates.push(event.gate)
        return accepted
      })
    case 'gate_removed':
      return onNode(state, event.experiment, (node) => {
        if (!addedGates(state, node.id).some(({ name }) => name === event.name)) {
          return refuse(
            'no_gate',
            `no added gate ${event.name} binds ${node.id}`,
            next`${call('gate list', node.id)}`,
          )
        }
        node.gates = node.gates.filter(({ name }) => name !== event.name)
        // One from above ends here, also the one that an own gate stood in for.
        if (addedGates(state, node.id).some(({ name }) => name === event.name))
          node.droppedGates.push(event.name)
        return accepted
      })
    case 'annotated':
      return onNode(state, event.experiment, (node) => {
        node.annotations.push(event)
        return accepted
      })
    case 'epoch_opened':
      if (event.epoch !== state.epoch + 1)
        return refuse('stale_epoch', 'another epoch opened first', next`${call('status')}`)
      state.epoch = event.epoch
      state.trees.clear()
      return accepted
    case 'isolated':
      state.isolation = event
      return accepted
    case 'round_opened': {
      const other = driven(state, event.by ?? null, event.at)
      if (other) return other
      if (currentRound(state)) return refuse('round_open', 'a round is open', next`${call('round close')}`)
      if (event.round !== state.rounds.length + 1)
        return refuse('stale_round', 'another round opened first', 'ask again')
      const best = bestOf(state)
      deliver(state, event.steering ?? [], { role: 'brief', round: event.round, experiment: null })
      if (state.knobs) state.knobs = beginRound(state.meta, state.knobs, event.round)
      state.rounds.push({
        round: event.round,
        opened: event,
        briefed: null,
        closed: null,
        openedSeq: state.seq,
        bestAtOpen: best && { experiment: best.id, value: nodeValue(best) },
      })
      state.lease = taken(state.lease, event.by ?? null, event.at)
      return accepted
    }
    case 'round_briefed': {
      const round = currentRound(state)
      if (round?.opened.token !== event.token)
        return refuse('stale_round', 'the token is not of the open round', next`${call('round open')}`)
      // Briefs that became no lane may be written again: nothing rests on them.
      if (round.briefed && round.briefed.lanes.length > 0)
        return refuse('repeated', 'the round has its briefs', 'the first answer stands')
      const other = event.by && driven(state, event.by, event.at)
      if (other) return other
      round.briefed = event
      return accepted
    }
    case 'round_closed': {
      const round = currentRound(state)
      if (round?.opened.token !== event.token)
        return refuse('stale_round', 'the token is not of the open round', next`${call('round open')}`)
      const other = event.by && driven(state, event.by, event.at)
      if (other) return other
      round.closed = event
      return accepted
    }
    case 'proposed':
      state.ideas.push(...event.accepted)
      return accepted
    case 'leased':
      return leased(state, event)
    case 'drove': {
      const other = event.phase === 'start' ? driven(state, event.by ?? null, event.at) : null
      if (other) return other
      // What a process drives, its death sets free at once.
      if (event.phase === 'start') state.lease = state.ousted = null
      state.activeMs += event.active_ms
      drove(state, event)
      return accepted
    }
    case 'entrusted': {
      const { session, host, at } = event
      state.entrusted = session === null ? null : { session, host, since: at }
      return accepted
    }
    case 'usage':
      addUsage(state, event)
      return accepted
    case 'stopped':
      state.stopped = event.why
      // The end needs no pause: what was begun has to finish.
      state.paused = null
      state.lease = state.ousted = null
      return accepted
    case 'paused':
      state.paused = event.why
      return accepted
    case 'resumed':
      state.stopped = null
      state.paused = null
      state.streak = null
      state.resumedRound = state.rounds.length
      return accepted
    case 'steered': {
      const { id, at, experiment, text } = event
      const push = (): Outcome => {
        state.steers.push({ id, at, experiment, text, delivered: null })
        return accepted
      }
      return experiment === null ? push() : onNode(state, experiment, push)
    }
    case 'steering_delivered':
      deliver(state, event.steering, { role: event.role, round: null, experiment: event.experiment })
      return accepted
    case 'alerted':
      state.meta.alerts.push(event.text)
      return accepted
    case 'meta_ticked':
      return takeTick(state.meta, event)
        ? accepted
        : refuse('too_early', 'the meta controller was asked less than an interval ago', 'ask again later')
    case 'adjusted':
      return takeEdits(state.meta, event)
        ? accepted
        : refuse('stale_edits', 'other edits came between', next`ask again: ${call('meta due')}`)
    case 'noted':
      state.notes.push(event)
      return accepted
    case 'healed':
      return accepted
    default:
      return unreachable(event)
  }
}

/** The first delivery counts. */
function deliver(state: State, ids: readonly string[], to: NonNullable<Steer['delivered']>): void {
  for (const steer of state.steers) if (ids.includes(steer.id)) steer.delivered ??= to
}

function addUsage(state: State, { role, usage }: UsageRecorded): void {
  state.usage.calls++
  state.usage.tokensIn += usage.tokens_in ?? 0
  state.usage.tokensOut += usage.tokens_out ?? 0
  state.usage.usd += usage.usd ?? 0
  if (usage.usd === null) state.usage.unknown++
  const cost = state.costs.get(role) ?? {
    dearest: { tokens: null, usd: null },
    unknown: { tokens: 0, usd: 0 },
  }
  const whole =
    usage.tokens_in === null || usage.tokens_out === null ? null : usage.tokens_in + usage.tokens_out
  for (const [unit, amount] of [['tokens', whole] as const, ['usd', usage.usd] as const]) {
    if (amount === null) cost.unknown[unit]++
    else cost.dearest[unit] = Math.max(cost.dearest[unit] ?? 0, amount)
  }
  state.costs.set(role, cost)
}
