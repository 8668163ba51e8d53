/** `meta apply`: edits are recorded, and hold from the next round on. */
import type { Edit } from '../../ledger/events.ts'
import type { HeldEdit } from '../../ledger/meta.ts'
import { currentRound } from '../../ledger/state.ts'
import { ok, type Result } from '../../result.ts'
import type { OpenRun } from '../../run/open.ts'
import { firstRefused } from '../fit.ts'
import { factsOf } from './facts.ts'
import { type Judged, judgeEdits } from './judge.ts'

export type EditView = Edit & {
  id: string
  /** The first round that it holds for; null = the next one. */
  from: number | null
  undone: boolean
}

export interface ApplyAnswer {
  applied: EditView[]
  refused: Judged['refused']
  repeated?: true
}

export const viewOf = ({ id, edit, from, undone }: HeldEdit): EditView => ({ ...edit, id, from, undone })

const LIMITS = { alerts: 10, characters: 500 }
/** Another call between the judging and the recording: it is judged anew. */
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
  const facts = new Set((await factsOf(run)).map(({ name }) => name))
  for (let tries = 1; ; tries++) {
    const { state } = ledger
    const { edits: taken, refused } = judgeEdits(edits, state, facts, tick)
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
      if (recorded.problem.code === 'stale_edits' && tries < TRIES) continue
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
