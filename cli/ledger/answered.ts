import { ok, type Result } from '../result.ts'
import type { Event } from './events.ts'
import type { Recorded } from './ledger.ts'

/** What a verb answers about the event that it recorded; marked when an earlier call with the same key had done so. */
export function answered<T extends Event, Answer extends object>(
  recorded: Result<Recorded<T>>,
  tell: (event: T) => Answer,
): Result<Answer & { repeated?: true }> {
  if (!recorded.ok) return recorded
  const { event, repeated } = recorded.value
  return ok({ ...tell(event), ...(repeated ? { repeated: true as const } : {}) })
}
