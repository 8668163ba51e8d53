/** Ends an unfinished line of a ledger, as the next writer would. */
import { endUnfinished, type Torn } from '../ledger/append.ts'
import { FORMAT_NAME } from '../ledger/events.ts'
import { ok, type Result } from '../result.ts'
import type { Surroundings } from './open.ts'

/** null when there is nothing to heal. */
export function repairTail(
  file: string,
  { clock, random }: Pick<Surroundings, 'clock' | 'random'>,
): Result<Torn | null> {
  const done = endUnfinished(file, (torn) =>
    JSON.stringify({ v: FORMAT_NAME, id: random(9), at: clock().toISOString(), type: 'healed', ...torn }),
  )
  return done.ok ? ok(done.value) : done
}
