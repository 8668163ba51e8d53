/** `meta apply`: records the accepted edits; they hold from the next round on. */

import type { Edit, Knobs } from '../../ledger/events.ts'
import { type Directions, directionsOf, type HeldEdit } from '../../ledger/meta.ts'
import { currentRound, type State } from '../../ledger/state.ts'
import { META_TICKS } from '../../ledger/task-id.ts'
import { ok, type Result } from '../../result.ts'
import type { OpenRun } from '../../run/open.ts'
import { firstRefused } from '../record-answer.ts'
import { metaInterval } from '../round.ts'
import { type SiftedEdits, siftEdits } from './edits.ts'
import { type MetaFact, metaFactsOf } from './facts.ts'

export type EditView = Edit & {
  id: string
  /** The first round that it holds for; null = the next one. */
  from: number | null
  undone: boolean
}

export interface ApplyAnswer {
  applied: EditView[]
  refused: SiftedEdits['refused']
  repeated?: true
}

const viewOf = ({ id, edit, from, undone }: HeldEdit): EditView => ({ ...edit, id, from, undone })

const LIMITS = { alerts: 10, characters: 500 }
/** Another call between the judging and the recording: it is judged again. */
const TRIES = 5

export async function applyEdits(
  run: OpenRun,
  {
    edits,
    alerts,
    tick,
    key,
  }: { edits: readonly unknown[]; alerts: readonly string[]; tick: number | null; key: string | null },
): Promise<Result<ApplyAnswer>> {
  const { ledger } = run
  const facts = new Set((await metaFactsOf(run)).map(({ name }) => name))
  for (let tries = 1; ; tries++) {
    const { state } = ledger
    const { edits: taken, refused } = siftEdits(edits, state, facts, tick)
    const recorded = ledger.record<'adjusted'>(
      {
        type: 'adjusted',
        round: currentRound(state)?.round ?? null,
        tick,
        after: state.meta.edits.length,
        edits: taken,
        refused: firstRefused(refused),
        alerts: alerts.slice(0, LIMITS.alerts).map((text) => text.slice(0, LIMITS.characters)),
      },
      run.clock(),
      key,
    )
    if (!recorded.ok) {
      if (recorded.problem.raced && tries < TRIES) continue
      return recorded
    }
    const { event, repeated } = recorded.value
    return ok({
      applied: state.meta.edits.filter((one) => one.event === event.id).map(viewOf),
      refused: event.refused,
      ...(repeated ? { repeated: true as const } : {}),
    })
  }
}

// ---------------------------------------------------------------- `meta due`: whether it is time, and what there is to look at

export interface DueAnswer {
  /** null: it is off, so it is never due. */
  every_ms: number | null
  due: boolean
  /** Number of the turn that was taken; null when none was. */
  tick: number | null
  /** About which no agent was asked yet. */
  facts: MetaFact[]
  knobs: Knobs | null
  phases: Directions['phases']
  edits: EditView[]
  alerts: string[]
  /** Experiments that were stopped in its name. */
  stops: { experiment: string; reason: string; fix: string | null }[]
}

const RECENT = { edits: 100, alerts: 100, stops: 100 }

/**
 * Answers the facts that are due. With `claim`, it records a turn under that name: then no other caller gets these facts, and no
 * turn begins within the interval. Without facts it records nothing. A repeated call with the same name gets the same turn.
 */
export async function metaDue(run: OpenRun, claim: string | null): Promise<Result<DueAnswer>> {
  const { state } = run.ledger
  const { meta } = state
  const every = metaInterval(run)
  const all = await metaFactsOf(run)
  const last = meta.lastTick
  const again = claim !== null && last?.by === claim
  const facts = all.filter(({ name }) => !meta.told.has(name))
  if (every === null) return ok(describe(state, { every, due: false, tick: null, facts }))
  const due = again || !last || run.clock().getTime() - Date.parse(last.at) >= every
  if (again) return ok(describe(state, { every, due, tick: meta.ticks, facts: factsOfTick(state, facts) }))
  if (!due || claim === null || facts.length === 0)
    return ok(describe(state, { every, due, tick: null, facts }))
  const proposal = run.ledger.propose<'meta_ticked'>(
    {
      ...{ type: 'meta_ticked', by: claim, every_ms: every, facts: facts.map(({ name }) => name) },
      seen: facts.map(({ message, experiments }) => ({ message, experiments })),
    },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  if (!proposal.value.accepted) return ok(describe(state, { every, due: false, tick: null, facts: [] }))
  return ok(describe(state, { every, due, tick: meta.ticks, facts }))
}

/**
 * The facts about which the last turn was taken, as they were seen then: the sample that one is about may have ended since. The
 * record of an earlier version has only their names; then those of `now` are answered that have such a name.
 */
export function factsOfTick({ meta }: State, now: readonly MetaFact[]): MetaFact[] {
  const { facts = [], seen } = meta.lastTick ?? {}
  if (!seen) return now.filter(({ name }) => facts.includes(name))
  return seen.map((fact, index) => ({ name: facts[index] ?? '', ...fact }))
}

function describe(
  state: State,
  { every, due, tick, facts }: { every: number | null; due: boolean; tick: number | null; facts: MetaFact[] },
): DueAnswer {
  const { meta } = state
  return {
    every_ms: every,
    due,
    tick,
    facts,
    knobs: state.knobs,
    phases: directionsOf(meta, meta.round).phases,
    edits: meta.edits.slice(-RECENT.edits).map(viewOf),
    alerts: meta.alerts.slice(-RECENT.alerts),
    stops: stopsOf(state).slice(-RECENT.stops),
  }
}

function stopsOf(state: State): DueAnswer['stops'] {
  return [...state.experiments.values()].flatMap(({ id, attempts }) =>
    attempts.flatMap(({ judged }) =>
      judged?.aborted && judged.key?.startsWith(META_TICKS)
        ? [{ experiment: id, reason: judged.message, fix: judged.aborted.fix }]
        : [],
    ),
  )
}
