/** The facts of `assay context`: what an agent should know before it begins, every list bounded. Pure. */

import { repairable } from '../../ledger/ancestry.ts'
import { bestOf } from '../../ledger/best.ts'
import type { Brief, FailureClass, GatePhase, Pick, Reason, Status } from '../../ledger/events.ts'
import {
  attemptsUsed,
  currentRound,
  type Experiment,
  lastJudged,
  pathTo,
  type State,
  type Steer,
} from '../../ledger/state.ts'
import { plain } from '../../text.ts'
import { type Avoided, avoided } from './avoid.ts'

/** The first or last entries of something longer. */
export interface Listed<T> {
  items: T[]
  more: number
}

export interface Tried {
  experiment: string
  status: Status
  reason: Reason | null
  value: number | null
  hypothesis: string
}

export interface ContextFacts {
  /** `more`: characters that are left out here. */
  instructions: { text: string | null; file: string | null; more: number }
  rules: Listed<string>
  path: Listed<Tried>
  frontier: Listed<Pick>
  repairable: Listed<Tried & { attempts_left: number; failure_class: FailureClass | null; message: string }>
  retests: { failure_class: FailureClass; experiments: string[]; more: number }[]
  avoid: Listed<Avoided>
  /** Words of people: of this experiment, else those that wait for the next round or were told to the open one. */
  steering: Listed<string>
  learnings: Listed<string>
  patterns: Listed<string>
  gates: Listed<{ name: string; phase: GatePhase; from: string }>
  infrastructure: Listed<string>
  last: Listed<Tried>
  /** Only for one experiment. */
  experiment: Focus | null
}

export interface Focus extends Tried {
  message: string | null
  parent: Tried | null
  brief: Brief | null
  siblings: Listed<Tried>
}

/** What comes from other parts than the ledger's state. */
export interface Given {
  instructions: { text: string | null; file: string | null; rules: readonly string[] }
  picks: Pick[]
  /** Experiments that may become parents. */
  eligible: number
  patterns: readonly { message: string }[]
  learnings: readonly string[]
  gates: readonly { name: string; phase: GatePhase }[]
}

const MOST = { path: 6, repairable: 10, avoid: 20, texts: 20, gates: 20, last: 10, siblings: 20, named: 5 }
const LONG = 300
const WHOLE = 4000

export function contextFacts(state: State, given: Given, id: string | null): ContextFacts {
  const all = [...state.experiments.values()]
  const focus = id === null ? null : (state.experiments.get(id) ?? null)
  const best = bestOf(state)
  const open = repairable(state)
  const gates = gatesAt(state, given.gates, (focus ?? best)?.id ?? null)
  const infrastructure = state.notes.filter(({ kind }) => kind === 'infrastructure').map(({ text }) => text)
  const limit = state.knobs?.max_attempts ?? 0
  const facts: ContextFacts = {
    instructions: {
      file: given.instructions.file,
      text: given.instructions.text?.slice(0, WHOLE) ?? null,
      more: Math.max(0, (given.instructions.text?.length ?? 0) - WHOLE),
    },
    rules: first(given.instructions.rules, MOST.texts, (rule) => plain(rule, LONG)),
    path: collapsed(best ? pathTo(state, best.id).map(tried) : []),
    frontier: { items: given.picks, more: given.eligible - given.picks.length },
    repairable: latest(open, MOST.repairable, (node) => ({
      ...tried(node),
      attempts_left: limit - attemptsUsed(node),
      failure_class: lastJudged(node)?.failure_class ?? null,
      message: plain(lastJudged(node)?.message ?? '', LONG),
    })),
    retests: retests(all),
    avoid: first(avoided(all), MOST.avoid, (group) => ({
      ...group,
      hypothesis: plain(group.hypothesis, LONG),
      why: plain(group.why, LONG),
    })),
    steering: latest(steersFor(state, id), MOST.texts, (text) => plain(text, LONG)),
    learnings: latest(given.learnings, MOST.texts, (text) => plain(text, LONG)),
    patterns: first(given.patterns, MOST.texts, ({ message }) => plain(message, LONG)),
    gates: first(gates, MOST.gates, (gate) => ({ ...gate, name: plain(gate.name, 80) })),
    infrastructure: latest(infrastructure, MOST.texts, (text) => plain(text, LONG)),
    last: latest(all, MOST.last, tried),
    experiment: focus && focusOn(state, focus),
  }
  return focus?.created.arm === 'baseline' ? unaware(facts) : facts
}

const NONE = { items: [], more: 0 }

/** For the baseline arm, which must not know what the search found. */
function unaware({ experiment, ...facts }: ContextFacts): ContextFacts {
  return {
    ...facts,
    path: NONE,
    frontier: NONE,
    repairable: NONE,
    retests: [],
    avoid: NONE,
    learnings: NONE,
    patterns: NONE,
    last: NONE,
    experiment: experiment && { ...experiment, siblings: NONE },
  }
}

function steersFor(state: State, id: string | null): string[] {
  const open = currentRound(state)?.round ?? null
  const isFor = ({ experiment, delivered }: Steer) =>
    experiment === id && (id !== null || delivered === null || delivered.round === open)
  return state.steers.filter(isFor).map(({ text }) => text)
}

export function tried(node: Experiment): Tried {
  const judged = lastJudged(node)
  return {
    experiment: node.id,
    status: node.status,
    reason: judged?.reason ?? null,
    value: node.value,
    hypothesis: plain(node.hypothesis, LONG),
  }
}

function first<T, U>(list: readonly T[], most: number, make: (item: T) => U): Listed<U> {
  return { items: list.slice(0, most).map(make), more: Math.max(0, list.length - most) }
}

/** The newest first. */
function latest<T, U>(list: readonly T[], most: number, make: (item: T) => U): Listed<U> {
  return { items: list.slice(-most).reverse().map(make), more: Math.max(0, list.length - most) }
}

/** A long path loses its middle: where it began and what it came to says more. */
function collapsed(path: Tried[]): Listed<Tried> {
  if (path.length <= MOST.path) return { items: path, more: 0 }
  return { items: [...path.slice(0, 1), ...path.slice(1 - MOST.path)], more: path.length - MOST.path }
}

/** What could not be evaluated, by what stood in the way: it decides what to do next. */
function retests(all: readonly Experiment[]): ContextFacts['retests'] {
  const found = new Map<FailureClass, string[]>()
  for (const node of all) {
    const kind = lastJudged(node)?.failure_class
    if (node.status === 'failed' && kind) found.set(kind, [...(found.get(kind) ?? []), node.id])
  }
  return [...found].sort().map(([failure_class, ids]) => ({
    failure_class,
    experiments: ids.slice(-MOST.named).reverse(),
    more: Math.max(0, ids.length - MOST.named),
  }))
}

function gatesAt(state: State, own: Given['gates'], id: string | null) {
  const gates = new Map(own.map(({ name, phase }) => [name, { name, phase, from: 'spec' }]))
  for (const node of id === null ? [] : pathTo(state, id)) {
    for (const { name, phase } of node.gates) gates.set(name, { name, phase, from: node.id })
    for (const name of node.droppedGates) gates.delete(name)
  }
  return [...gates.values()]
}

function focusOn(state: State, node: Experiment): Focus {
  const parent = node.parent === null ? undefined : state.experiments.get(node.parent)
  const siblings = (parent?.children ?? []).flatMap((id) => {
    const sibling = id === node.id ? undefined : state.experiments.get(id)
    return sibling ? [sibling] : []
  })
  const { round, lane } = node.created
  const briefed = round === null ? null : state.rounds.find((one) => one.round === round)?.briefed
  const message = lastJudged(node)?.message ?? null
  return {
    ...tried(node),
    message: message === null ? null : plain(message, LONG),
    parent: parent ? tried(parent) : null,
    brief: briefed?.lanes.find((one) => one.lane === lane)?.brief ?? null,
    siblings: latest(siblings, MOST.siblings, tried),
  }
}
