/** How many agents work at once, and what they used. */
import type { CallUsage } from './call.ts'

/** At most `limit` holders at once, first come first served. */
export interface Permits {
  /** Resolves with the release; it must be called once. */
  take(): Promise<() => void>
}

/** `limit` is asked at each take and each release, so a new one holds from the next of these on. */
export function permits(limit: () => number): Permits {
  let held = 0
  const line: (() => void)[] = []
  const admit = () => {
    while (held < Math.max(1, limit())) {
      const next = line.shift()
      if (next === undefined) return
      held += 1
      next()
    }
  }
  const release = () => {
    held -= 1
    admit()
  }
  return {
    take: () =>
      new Promise((resolve) => {
        line.push(() => resolve(release))
        admit()
      }),
  }
}

/** What a run's calls used. Fields sum what is known; `at_least` is true when some call did not report. */
export type TotalUsage = CallUsage & { at_least: boolean }

export interface Spending {
  /** null: the call ended without a report. */
  add(usage: CallUsage | null): void
  total(): TotalUsage
}

export function spending(): Spending {
  const total: TotalUsage = { tokens_in: null, tokens_out: null, usd: null, at_least: false }
  return {
    add(usage) {
      for (const field of ['tokens_in', 'tokens_out', 'usd'] as const) {
        const value = usage?.[field] ?? null
        if (value === null) total.at_least = true
        else total[field] = (total[field] ?? 0) + value
      }
    },
    total: () => ({ ...total }),
  }
}
