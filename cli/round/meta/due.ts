/** `meta due`: whether it is time, and what there is to look at. */
import type { Knobs } from '../../ledger/events.ts'
import { type Directions, directionsOf } from '../../ledger/meta.ts'
import type { State } from '../../ledger/state.ts'
import { ok, type Result } from '../../result.ts'
import type { OpenRun } from '../../run/open.ts'
import { type EditView, viewOf } from './apply.ts'
import type { Fact } from './fact.ts'
import { factsOf } from './facts.ts'

export interface DueAnswer {
  /** null: the spec has no `loop.meta`, so it is never due. */
  every_ms: number | null
  due: boolean
  /** Number of the turn that was taken; null when none was. */
  tick: number | null
  /** That nobody was asked about yet. */
  facts: Fact[]
  knobs: Knobs | null
  phases: Directions['phases']
  edits: EditView[]
  alerts: string[]
  /** Experiments that were stopped in its name. */
  stops: { experiment: string; reason: string; fix: string | null }[]
}

/** What a key of the script's `abort` begins with. */
const STOPPED_BY = 'meta/'
const RECENT = { edits: 100, alerts: 100, stops: 100 }

/**
 * Looks, and with `claim` takes the turn in that name: a fact is told to one asker only, and none is asked again within
 * the interval. Without facts nothing is recorded. The same name gets its own turn again.
 */
export async function metaDue(run: OpenRun, claim: string | null): Promise<Result<DueAnswer>> {
  const { state } = run.ledger
  const { meta } = state
  const every = run.spec.loop.meta?.every ?? null
  const all = await factsOf(run)
  const last = meta.lastTick
  const again = claim !== null && last?.by === claim
  const facts = all.filter(({ name }) => !meta.told.has(name))
  if (every === null) return ok(describe(state, { every, due: false, tick: null, facts }))
  const due = again || !last || run.clock().getTime() - Date.parse(last.at) >= every
  if (!due || claim === null || facts.length === 0 || again)
    return ok(describe(state, { every, due, tick: again ? meta.ticks : null, facts }))
  const proposal = run.ledger.propose<'meta_ticked'>(
    { type: 'meta_ticked', by: claim, every_ms: every, facts: facts.map(({ name }) => name) },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  if (!proposal.value.accepted) return ok(describe(state, { every, due: false, tick: null, facts: [] }))
  return ok(describe(state, { every, due, tick: meta.ticks, facts }))
}

function describe(
  state: State,
  { every, due, tick, facts }: { every: number | null; due: boolean; tick: number | null; facts: Fact[] },
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
      judged?.aborted && judged.key?.startsWith(STOPPED_BY)
        ? [{ experiment: id, reason: judged.message, fix: judged.aborted.fix }]
        : [],
    ),
  )
}
