import type { Usage } from '../ledger/events.ts'

/** What a run's calls used. Fields sum what is known; `at_least` is true when some call did not report. */
export type TotalUsage = Usage & { at_least: boolean }

export interface Spending {
  /** null: the call ended without a report. */
  add(usage: Usage | null): void
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
