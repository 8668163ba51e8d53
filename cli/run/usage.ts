/** What an agent call cost, as the host reports it. */

import type { TaskCard } from '../hosts/card.ts'
import type { HostAnswer } from '../hosts/host.ts'
import type { OpenRun } from './open.ts'

export function recordUsage(
  run: OpenRun,
  { call, host, answer, ms }: { call: TaskCard | null; host: string; answer: HostAnswer; ms: number },
): void {
  // What cannot be written is told by the next command that must write; the answer itself is not lost by it.
  run.ledger.propose<'usage'>(
    {
      type: 'usage',
      role: call?.role ?? 'agent',
      host,
      experiment: call?.experiment ?? null,
      round: call?.round ?? null,
      ms: Math.round(ms),
      outcome: answer.outcome,
      usage: answer.usage,
    },
    run.clock(),
  )
}
