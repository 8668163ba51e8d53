/** Whether something else was measured beside an attempt, in another slot of this repository. */
import { statSync } from 'node:fs'
import { slotFacts, slotLock } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'
import type { Bench } from './bench.ts'

/** `since`: milliseconds of the clock. False in isolation, where other slots cannot be reached. */
export function othersMeasured(run: OpenRun, { slot, isolation }: Bench, since: number): boolean {
  if (isolation?.method) return false
  for (let other = 0; other < run.spec.measure.slots; other++) {
    if (other === slot) continue
    const files = [slotFacts(run.site, other, 'a'), slotFacts(run.site, other, 'b')]
    if (timeOf(slotLock(run.site, other)) !== null) return true
    if (files.some((file) => (timeOf(file) ?? 0) >= since)) return true
  }
  return false
}

function timeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null
}
