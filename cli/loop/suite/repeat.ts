/** A round of a suite without a gradient: its tasks are run once more with the same texts, which shows how they vary. */
import { bestOf } from '../../ledger/best.ts'
import { BASELINE } from '../../ledger/state.ts'
import { checkWiring } from '../../measure/dry-run.ts'
import { nodeFor } from '../../measure/seal.ts'
import { ok, type Result } from '../../result.ts'
import type { OpenRun } from '../../run/open.ts'
import type { Effect } from '../agenda.ts'
import { recordOwn } from '../record-answer.ts'

export async function repeat(
  run: OpenRun,
  { record }: Extract<Effect, { do: 'repeat' }>,
): Promise<Result<unknown>> {
  const node = nodeFor(run, bestOf(run.ledger.state)?.id ?? BASELINE)
  if (!node.ok) return node
  const checked = await checkWiring(run, node.value)
  if (!checked.ok) return checked
  const { value, tasks, problems } = checked.value
  const recorded = recordOwn(run, record, node.value.id, { loss: value, tasks: tasks ?? {}, problems })
  return recorded.ok ? ok({ loss: value, tasks }) : recorded
}
