/** What a check answers. */
import type { Result } from '../result.ts'

export type Level = 'ok' | 'warning' | 'problem'

/** One finding as it leaves here; snake_case and plain JSON. */
export interface Finding {
  /** Stable snake_case name. */
  code: string
  level: Level
  /** One sentence. May hold text of users and agents, so it is escaped before a terminal sees it. */
  what: string
  /** null when nothing is wrong. */
  cause: string | null
  /** The next step; null when there is none to take. */
  repair: string | null
  /** Whether `--fix` mends it. */
  fixable: boolean
  at?: string
  /** Facts for programs. */
  data?: unknown
}

/** A finding with the hand that mends it. `fix` answers what it did; it looks again before it touches anything. */
export interface Found extends Omit<Finding, 'fixable'> {
  fix?: () => Promise<Result<string>>
}

export const fine = (code: string, what: string, data?: unknown): Found => ({
  code,
  level: 'ok',
  what,
  cause: null,
  repair: null,
  ...(data === undefined ? {} : { data }),
})

type Trouble = { what: string; cause: string; repair: string | null } & Pick<Found, 'at' | 'data' | 'fix'>

export const warning = (code: string, trouble: Trouble): Found => ({ code, level: 'warning', ...trouble })
export const problem = (code: string, trouble: Trouble): Found => ({ code, level: 'problem', ...trouble })
