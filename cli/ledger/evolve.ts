/** Applies an event that `decide` lets pass: what it makes of the state. It refuses nothing. Pure. */
import { unreachable } from '../result.ts'
import { bestOf, forgetBest, watchBest } from './best.ts'
import { driveByProcess, endLeases, passLease, renewLease, setAutonomy, takeLease } from './driver.ts'
import type {
  Attributed,
  Audited,
  Calibration,
  Confirmed,
  Created,
  Dispatched,
  Event,
  GateAdded,
  GateRemoved,
  Idea,
  Judged,
  Machine,
  Noted,
  PlacedOnNode,
  RoundBriefed,
  RoundOpened,
  Sealed,
  Started,
  Status,
  UsageRecorded,
} from './events.ts'
import { beginRound, overrule, takeEdits, takeTick } from './meta.ts'
import {
  type Attempt,
  addedGates,
  attemptOf,
  BASELINE,
  type BacklogIdea,
  currentRound,
  type Experiment,
  holdsForTwins,
  JUDGE,
  lastAttempt,
  lastingDoubt,
  lastJudged,
  type Noise,
  nodeValue,
  pendingConfirmation,
  type Round,
  restsOn,
  type State,
  type Steer,
  withTraits,
} from './state.ts'
import { type LifecycleVerb, statusAfter } from './transitions.ts'

export function evolve(state: State, event: Event): void {
  if ('machine' in event && event.machine) noteMachine(state, event.machine)
  const looked = 'experiment' in event && event.experiment ? watchBest(state, event.experiment) : null
  apply(state, event)
  looked?.()
  state.seq++
  state.lastAt = event.at
  if (isOfLoop(state, event)) renewLease(state.driver, event.at)
  if (event.key !== undefined) state.keys.set(event.key, event)
}

/** That of a job is in each of its events. */
function noteMachine({ machines, seq }: State, machine: Machine): void {
  const last = machines.at(-1)?.machine
  if (JSON.stringify(last) !== JSON.stringify(machine)) machines.push({ since: seq, machine })
}

function apply(state: State, event: Event): void {
  switch (event.type) {
    case 'run_started':
      state.run = event
      state.knobs = event.knobs
      return
    case 'configured':
      if (state.knobs) state.knobs = { ...state.knobs, ...event.changes }
      state.configured.push(event)
      if (Object.keys(event.settings ?? {}).some((path) => /^gradient(\.learning_rate)?$/.test(path)))
        state.halvings = 0
      overrule(state.meta, Object.keys(event.changes))
      return
    case 'created':
      create(state, event)
      return
    case 'sealed':
      addAttempt(nodeOf(state, event), event)
      return
    case 'started':
      claim(state, nodeOf(state, event), event)
      return
    case 'dispatched':
    case 'placed':
      followJob(state, nodeOf(state, event), event)
      return
    case 'judged':
      judge(state, nodeOf(state, event), event)
      return
    case 'confirmed':
      confirm(state, nodeOf(state, event), event)
      return
    case 'confirmation_started': {
      const { id: started, experiment, attempt, confirmation, against, look, epoch, nonce, asked } = event
      state.confirming.push({
        ...{ experiment, attempt, confirmation, against, look, epoch, nonce, started },
        asked: asked ?? null,
        job: null,
      })
      return
    }
    case 'confirmation_ended':
      endConfirmation(state, event.experiment)
      return
    case 'audited':
      audit(state, nodeOf(state, event), event)
      return
    case 'discarded': {
      const node = nodeOf(state, event)
      node.why = event.why
      node.discard_class = event.failure_class
      move(state, node, 'discard')
      return
    }
    case 'pruned': {
      const node = nodeOf(state, event)
      node.why = event.why
      move(state, node, 'prune')
      unpin(state, event)
      return
    }
    case 'pinned':
      unpin(state, event)
      state.pins.push({ experiment: event.experiment, at: event.at, why: event.why })
      return
    case 'unpinned':
      unpin(state, event)
      return
    case 'restored':
      restore(state, nodeOf(state, event))
      return
    case 'gate_added':
    case 'gate_removed':
      changeGates(state, nodeOf(state, event), event)
      return
    case 'annotated':
      nodeOf(state, event).annotations.push(event)
      return
    case 'attribution_started':
      state.attributions.push({ started: event, tests: [], ended: null })
      return
    case 'attributed':
      answerTest(state, event)
      return
    case 'attribution_ended': {
      const attribution = state.attributions[event.attribution - 1]
      if (attribution) attribution.ended = event
      return
    }
    case 'conflicted':
      state.conflicts.push(event)
      return
    case 'epoch_opened':
      state.epoch = event.epoch
      forgetBest(state)
      state.judge.anchors = []
      state.trees = new Map()
      state.confirming = []
      return
    case 'isolated':
      state.isolation = event
      return
    case 'round_opened':
      openRound(state, event)
      return
    case 'round_briefed':
      roundOf(state).briefed = event
      takeIdeas(state, event)
      return
    case 'round_closed':
      roundOf(state).closed = event
      state.learnings.push(...event.learnings, ...event.suggestions)
      freeIdeas(state, event.round)
      return
    case 'task_answered':
      state.answers.set(event.task, event)
      if (typeof event.answer?.objection === 'string') state.objections.push(event)
      return
    case 'proposed':
      for (const idea of event.accepted) state.ideas.push(addedIdea(state.ideas.length + 1, idea, event.id))
      return
    case 'ideas_approved':
      for (const idea of ideasOf(state, event)) idea.approved = true
      return
    case 'ideas_dropped':
      for (const idea of ideasOf(state, event)) idea.dropped = event.why
      return
    case 'ideas_parked':
      for (const idea of ideasOf(state, event)) idea.told = true
      return
    case 'leased':
      passLease(state.driver, event)
      return
    case 'drove':
      state.activeMs += event.active_ms
      driveByProcess(state.driver, event)
      return
    case 'entrusted':
      setAutonomy(state.driver, event)
      return
    case 'usage':
      addUsage(state, event)
      nameAgent(state, event)
      return
    case 'stopped':
      state.stopped = event.why
      // The end needs no pause: what was begun has to finish.
      state.paused = null
      state.pausedAt = null
      endLeases(state.driver)
      return
    case 'paused':
      state.paused = event.why
      state.pausedAt = event.at
      return
    case 'resumed':
      state.stopped = null
      state.paused = null
      state.pausedAt = null
      state.streak = null
      state.resumedRound = state.rounds.length
      return
    case 'steered': {
      const { id, at, experiment, text } = event
      state.steers.push({ id, at, experiment, text, delivered: null })
      return
    }
    case 'steering_delivered':
      deliver(state, event.steering, { role: event.role, round: null, experiment: event.experiment })
      return
    case 'alerted':
      state.meta.alerts.push(event.text)
      return
    case 'meta_ticked':
      takeTick(state.meta, event)
      return
    case 'adjusted':
      takeEdits(state.meta, event)
      return
    case 'noted':
      state.notes.push(event)
      if (event.kind === 'objection') state.objections.push(event)
      return
    case 'healed':
      return
    default:
      unreachable(event)
  }
}

// ---------------------------------------------------------------- one experiment

function unpin(state: State, { experiment }: { experiment: string }): void {
  state.pins = state.pins.filter((pin) => pin.experiment !== experiment)
}

/** `decide` has seen that it is there. */
function nodeOf(state: State, { experiment }: { experiment: string }): Experiment {
  const node = state.experiments.get(experiment)
  if (!node) throw new Error(`an event of ${experiment} was applied, and there is no ${experiment}`)
  return node
}

/** As the table says; `decided`: what the event says where the table leaves it to the verb. */
const move = (state: State, node: Experiment, verb: LifecycleVerb, decided: Status = node.status): void =>
  enter(state, node, statusAfter(state, node, verb, decided))

function enter(state: State, node: Experiment, to: Status): void {
  const before = node.status
  state.counts[before]--
  state.counts[to]++
  node.status = to
  if (to === 'revoked') taint(state, node)
  else if (before === 'revoked') taintAgain(state)
}

/** An experiment falls, and all that rests on it. */
function taint(state: State, node: Experiment): void {
  const left = [node]
  const reduced = withTraits(state, ({ special }) => special).filter(({ created }) => created.reduces)
  for (let next = left.pop(); next; next = left.pop()) {
    if (state.tainted.has(next.id)) continue
    state.tainted.add(next.id)
    left.push(...next.children.flatMap((id) => state.experiments.get(id) ?? []))
    left.push(...reduced.filter(({ created }) => created.reduces?.experiment === next.id))
  }
  forgetBest(state)
}

/** One that fell stands again: parents come first, so one pass finds what is still below a revoked one. */
function taintAgain(state: State): void {
  state.tainted.clear()
  for (const node of state.experiments.values()) {
    if (node.status === 'revoked' || restsOn(node).some((one) => state.tainted.has(one)))
      state.tainted.add(node.id)
  }
  forgetBest(state)
}

function create(state: State, event: Created): void {
  const parents = event.parents ?? (event.parent === null ? [] : [event.parent])
  const above = parents.flatMap((id) => state.experiments.get(id) ?? [])
  for (const parent of above) {
    parent.children.push(event.experiment)
    if (event.arm === undefined) parent.tries++
  }
  state.experiments.set(event.experiment, {
    id: event.experiment,
    parent: event.parent,
    parents,
    children: [],
    generation: Math.max(-1, ...above.map(({ generation }) => generation)) + 1,
    status: 'open',
    hypothesis: event.hypothesis,
    created: event,
    attempts: [],
    verdict: null,
    used: 0,
    tries: 0,
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
  if (restsOn({ parents, created: event }).some((one) => state.tainted.has(one)))
    state.tainted.add(event.experiment)
  const { round, lane } = event
  const idea = state.ideas.find(({ taken }) => taken && taken.round === round && taken.lane === lane)
  // A lane that goes deeper makes further experiments: the first one carries the idea out.
  if (idea?.taken && event.depth === 1) idea.taken.experiment = event.experiment
}

// ---------------------------------------------------------------- the backlog

const addedIdea = (number: number, idea: Idea, added: string): BacklogIdea => ({
  ...idea,
  id: `idea_${String(number).padStart(4, '0')}`,
  added,
  approved: false,
  told: false,
  taken: null,
  dropped: null,
})

const ideasOf = (state: State, { ideas }: { ideas: readonly string[] }): BacklogIdea[] =>
  state.ideas.filter(({ id }) => ideas.includes(id))

function takeIdeas(state: State, { round, lanes }: RoundBriefed): void {
  for (const { lane, brief } of lanes) {
    const idea = state.ideas.find(({ id }) => id === brief.idea)
    if (idea) idea.taken = { round, lane, experiment: null }
  }
}

/** A lane that made no experiment has tried nothing. */
function freeIdeas(state: State, round: number): void {
  for (const idea of state.ideas)
    if (idea.taken?.round === round && idea.taken.experiment === null) idea.taken = null
}

function addAttempt(node: Experiment, event: Sealed): void {
  node.attempts.push({
    attempt: event.attempt,
    sealed: event,
    claim: null,
    judged: null,
    confirmed: [],
    audited: [],
  })
  if (event.hypothesis !== undefined) node.hypothesis = event.hypothesis
}

function claim(state: State, node: Experiment, event: Started): void {
  const attempt = lastAttempt(node)
  if (!attempt) return
  const { id, owner, at } = event
  if (event.takes_over !== undefined) {
    // A process that takes over continues with samples of the epoch in which they were taken.
    const before = attempt.claim
    attempt.claim = { id, owner, at, epoch: before?.epoch ?? state.epoch, nonce: before?.nonce ?? null }
    return
  }
  attempt.claim = { id, owner, at, epoch: state.epoch, nonce: event.nonce ?? null }
  node.used++
  if (node.id !== BASELINE) state.claims++
  move(state, node, 'run')
}

function followJob(state: State, node: Experiment, event: Dispatched | PlacedOnNode): void {
  const attempt =
    event.confirmation === undefined ? attemptOf(node, event.attempt) : pendingConfirmation(state, node.id)
  if (!attempt) return
  if (event.type === 'placed') {
    const { node, at, machine } = event
    if (attempt.job) attempt.job.placed = { node, at, ...(machine && { machine }) }
    return
  }
  const { executor, job_key: key, job: id, folder, config, as_of, at } = event
  const first = attempt.job
  attempt.job = { executor, key, id, folder, config, as_of, at, placed: null, ...(first && { first }) }
}

function judge(state: State, node: Experiment, event: Judged): void {
  const attempt = attemptOf(node, event.attempt)
  if (!attempt) return
  attempt.judged = event
  node.verdict = node.attempts.findLast(({ judged }) => judged)?.judged ?? null
  if (attempt.claim && event.failure_class === 'environment') node.used--
  node.value = event.value
  node.epoch = attempt.claim?.epoch ?? state.epoch
  node.judgedSeq = state.seq
  learnNoise(state, node, event)
  if (event.status === 'kept') {
    node.flagged = event.doubt ?? keptWithoutPairs(state, node, event)
    node.lostTo = event.lost_to ?? null
  }
  if (event.aborted) state.notes.push(stopNote(event, event.aborted.fix))
  move(state, node, 'judge', event.status)
  count(state, node, attempt, event)
  if (
    node.created.text?.by === 'gradient' &&
    event.status !== 'kept' &&
    event.failure_class !== 'environment'
  )
    state.halvings++
  const round = state.rounds.at(-1)
  // A round that was open when the epoch changed has to be judged by the scores of the new one.
  if (node.id === BASELINE && round && !round.closed && event.status === 'kept')
    round.bestAtOpen = { experiment: node.id, value: node.value }
}

/** Why an experiment was aborted, and what has to be mended, reaches the next rounds as a note. */
const stopNote = ({ v, id, at, experiment, message }: Judged, fix: string | null): Noted => ({
  v,
  id,
  at,
  type: 'noted',
  kind: 'infrastructure',
  experiment,
  text: `${experiment} was stopped: ${message}${fix === null ? '' : `. Fix: ${fix}`}`,
})

function count(state: State, node: Experiment, attempt: Attempt, event: Judged): void {
  if (event.status === 'failed') {
    if (event.failure_class !== 'environment') state.failures++
    const same = state.streak?.signature === event.signature && event.signature !== null
    // What the CLI put together and measures once more is no further failure in a row: it says nothing that the first one did not.
    const isRepeated = (node.created.merge || node.created.reduces) && node.used > 1
    state.streak =
      event.signature === null
        ? null
        : {
            signature: event.signature,
            count: same ? (state.streak?.count ?? 0) + (isRepeated ? 0 : 1) : 1,
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
  if (state.driver.process === null && attempt.claim) state.activeMs += event.wall_ms
}

function endConfirmation(state: State, experiment: string): void {
  state.confirming = state.confirming.filter((one) => one.experiment !== experiment)
}

function confirm(state: State, node: Experiment, event: Confirmed): void {
  attemptOf(node, event.attempt)?.confirmed.push(event)
  if (event.confirmation !== undefined) endConfirmation(state, node.id)
  learnNoise(state, node, event)
  if (event.passed && node.lostTo === event.against) node.lostTo = null
  if (event.aside) return
  const why = event.message ?? `a fresh measurement did not confirm it against ${event.against}`
  if (event.passed) {
    node.flagged = lastingDoubt(node)
    // What was kept in an earlier epoch becomes comparable again by being measured in this one.
    if (node.epoch !== state.epoch) Object.assign(node, { epoch: state.epoch, value: event.value })
  } else if (event.comparison.outcome === 'inconclusive' && event.differences) node.flagged = why
  else revoke(state, node, why)
}

function audit(state: State, node: Experiment, event: Audited): void {
  attemptOf(node, event.attempt)?.audited.push(event)
  // A pruned node is no parent, but it may be the best.
  if (node.status !== 'kept' && node.status !== 'pruned') return
  const why = event.findings.map((finding) => finding.message).join('; ')
  if (event.outcome === 'revoked') revoke(state, node, why)
  else if (event.outcome === 'flagged') node.flagged = `an audit flagged it: ${why}`
}

function revoke(state: State, node: Experiment, why: string): void {
  node.why = why
  enter(state, node, 'revoked')
}

function restore(state: State, node: Experiment): void {
  node.flagged = null
  const before = node.status
  move(state, node, 'restore', lastJudged(node)?.status ?? 'open')
  if (node.status === before) return
  node.why = null
  node.discard_class = null
}

function changeGates(state: State, node: Experiment, event: GateAdded | GateRemoved): void {
  if (event.type === 'gate_added') {
    node.droppedGates = node.droppedGates.filter((name) => name !== event.gate.name)
    node.gates.push(event.gate)
    return
  }
  node.gates = node.gates.filter(({ name }) => name !== event.name)
  // One from above ends here, also the one that an own gate stood in for.
  if (addedGates(state, node.id).some(({ name }) => name === event.name)) node.droppedGates.push(event.name)
}

function answerTest(state: State, event: Attributed): void {
  state.attributions[event.attribution - 1]?.tests.push(event)
  learnNoise(state, nodeOf(state, event), event)
  if (state.driver.process === null) state.activeMs += event.wall_ms
}

// ---------------------------------------------------------------- the loop: rounds, who drives, what people said, what agents cost

function openRound(state: State, event: RoundOpened): void {
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
  takeLease(state.driver, event.by ?? null, event.at)
}

function roundOf(state: State): Round {
  const round = currentRound(state)
  if (!round) throw new Error('an event of a round was applied, and no round is open')
  return round
}

/** Events that show that the loop continues. What a person tries by hand beside it is in no round. */
function isOfLoop(state: State, event: Event): boolean {
  if (event.type === 'round_briefed' || event.type === 'round_closed' || event.type === 'task_answered')
    return true
  if (event.type === 'leased') return event.how === 'kept'
  if (event.type === 'created') return event.round !== null
  if (event.type !== 'sealed' && event.type !== 'started' && event.type !== 'judged') return false
  return (state.experiments.get(event.experiment)?.created.round ?? null) !== null
}

/** The first delivery counts. */
function deliver(state: State, ids: readonly string[], to: NonNullable<Steer['delivered']>): void {
  for (const steer of state.steers) if (ids.includes(steer.id)) steer.delivered ??= to
}

function nameAgent(state: State, { role, host, model, experiment }: UsageRecorded): void {
  const node = state.experiments.get(experiment ?? '')
  if (node && (role === 'implement' || role === 'revise'))
    node.agent = model === undefined ? host : `${host} ${model}`
}

function addUsage(state: State, event: UsageRecorded): void {
  const { role, usage } = event
  if (role === JUDGE) addJudged(state, event)
  state.usage.calls++
  state.usage.tokensIn += usage.tokens_in ?? 0
  state.usage.tokensOut += usage.tokens_out ?? 0
  state.usage.usd += usage.usd ?? 0
  if (usage.usd === null) state.usage.unknown++
  const cost = state.costs.get(role) ?? {
    highest: { tokens: null, usd: null },
    unknown: { tokens: 0, usd: 0 },
  }
  const whole =
    usage.tokens_in === null || usage.tokens_out === null ? null : usage.tokens_in + usage.tokens_out
  for (const [unit, amount] of [['tokens', whole] as const, ['usd', usage.usd] as const]) {
    if (amount === null) cost.unknown[unit]++
    else cost.highest[unit] = Math.max(cost.highest[unit] ?? 0, amount)
  }
  state.costs.set(role, cost)
}

/** Anchors that are kept: as many as `judge/anchors.ts` looks at. */
const ANCHORS = 24

function addJudged({ judge }: State, { usage, unscored, anchor }: UsageRecorded): void {
  judge.calls++
  judge.tokens += (usage.tokens_in ?? 0) + (usage.tokens_out ?? 0)
  judge.usd += usage.usd ?? 0
  if (unscored) judge.unscored++
  if (anchor) judge.anchors = [...judge.anchors, anchor].slice(-ANCHORS)
}

// ---------------------------------------------------------------- what is known of the noise
// What the state keeps of the noise: how the run compares, and what was seen of the spread.

/** Each gives a residual at least, and no comparison reads more of them than that. */
const STAGES = 200

/**
 * Takes in what a measurement shows. That a metric is free of noise is a hypothesis: one tree with two values ends it
 * for good, and what was kept under it has to be confirmed in pairs.
 */
export function learnNoise(state: State, node: Experiment, event: Judged | Confirmed | Attributed): void {
  const { noise } = state
  if (event.type === 'judged' && event.calibration && event.status === 'kept')
    state.noise = calibrated(noise, event.calibration)
  if (event.varied !== undefined && noise.mode === 'deterministic') {
    noise.mode = 'paired'
    forgetBest(state)
    for (const other of state.experiments.values()) {
      // What a verdict or a confirmation of its own shows, its own consequence says.
      if (other.id === node.id && event.type !== 'attributed') continue
      if (other.id === BASELINE || other.epoch !== state.epoch) continue
      // A pruned node is no parent, but it may be the best.
      if (other.status !== 'kept' && other.status !== 'pruned') continue
      other.flagged ??= `it was kept before this was seen: ${event.varied}`
    }
  }
  const differences = event.type === 'attributed' ? {} : (event.differences ?? {})
  for (const stage of Object.values(differences)) if (stage.length >= 2) noise.stages.push(stage)
  noise.stages.splice(0, noise.stages.length - STAGES)
}

/**
 * What varied once varies, however equal the samples of a new epoch are: its benchmark is that of the run. What is known
 * of the spread begins again.
 */
const calibrated = (before: Noise, found: Calibration): Noise => ({
  ...found,
  mode: before.mode === 'paired' ? 'paired' : found.mode,
  varied: [...new Set([...before.varied, ...found.varied])],
  stages: [],
})

/**
 * Why a keep cannot stand although its verdict does: it was measured once, beside another that showed meanwhile that
 * the metric varies.
 */
export function keptWithoutPairs({ noise, epoch }: State, node: Experiment, event: Judged): string | null {
  if (node.id === BASELINE || node.epoch !== epoch || noise.mode === 'deterministic') return null
  return event.differences?.confirm
    ? null
    : 'it was kept without pairs, and the metric was seen to vary meanwhile'
}
