/** What an agent call cost, as the host reports it. */

import type { HostAnswer } from '../hosts/host.ts'
import type { TaskCard } from '../hosts/task-card.ts'
import type { OpenRun } from './open.ts'

export function recordUsage(
  run: OpenRun,
  {
    call,
    host,
    model,
    answer,
    ms,
  }: { call: TaskCard | null; host: string; model: string | null; answer: HostAnswer; ms: number },
): void {
  // If it cannot be written, the next command that must write reports why; the answer itself is not lost.
  run.ledger.propose<'usage'>(
    {
      type: 'usage',
      role: call?.role ?? 'agent',
      host,
      experiment: call?.experiment ?? null,
      round: call?.round ?? null,
      ...(model === null ? {} : { model }),
      ms: Math.round(ms),
      outcome: answer.outcome,
      usage: answer.usage,
    },
    run.clock(),
  )
}
