import type { Direction } from '../ledger/events.ts'
import { betterBy } from './compare.ts'

export interface TieBreaker {
  metric: string
  direction: Direction
}

type Metrics = Readonly<Record<string, number | boolean>>

/** The first tie-breaker on which the two differ decides; null when none does. A metric that either lacks is passed over. */
export function breakTie(
  breakers: readonly TieBreaker[],
  candidate: Metrics,
  other: Metrics,
): { metric: string; better: boolean; message: string } | null {
  for (const { metric, direction } of breakers) {
    const [mine, theirs] = [candidate[metric], other[metric]]
    if (typeof mine !== 'number' || typeof theirs !== 'number' || mine === theirs) continue
    const better = betterBy(direction, mine, theirs) > 0
    return {
      metric,
      better,
      message: `${metric} ${theirs} → ${mine} ${better ? 'breaks the tie' : 'is worse'}`,
    }
  }
  return null
}
