/** The hosts of a run, the wanted one first. */

import type { Host } from './host.ts'
import type { ProgramEntry } from './program.ts'

/** Agent programs that Assay can drive: one line each. */
export const PROGRAMS = {
  'claude-code': { load: async () => (await import('./claude-code.ts')).claudeCode },
  codex: { load: async () => (await import('./codex.ts')).codex },
  copilot: { load: async () => (await import('./copilot.ts')).copilot },
  gemini: { load: async () => (await import('./gemini.ts')).gemini },
  opencode: { load: async () => (await import('./opencode.ts')).opencode },
  pi: { load: async () => (await import('./pi.ts')).pi },
  qwen: { load: async () => (await import('./qwen.ts')).qwen },
} satisfies Record<string, { load: () => Promise<ProgramEntry> }>

/** Every host. A host's own code is loaded when it is used. */
export const HOSTS = {
  command: { load: async () => (await import('./command.ts')).commandHost },
  tune: { load: async () => (await import('./tune.ts')).tune },
  ...PROGRAMS,
}

export type ProgramName = keyof typeof PROGRAMS
export type HostName = keyof typeof HOSTS
export const programNames = Object.keys(PROGRAMS) as ProgramName[]
export const hostNames = Object.keys(HOSTS) as HostName[]
export const isHostName = (name: string): name is HostName => Object.hasOwn(HOSTS, name)
export const isProgramName = (name: string): name is ProgramName => Object.hasOwn(PROGRAMS, name)

// ---------------------------------------------------------------- the hosts of a run, the wanted one first

/** Calls in a row that a host leaves unanswered before the next one takes over for good. */
const FAILURES = 3

export interface Chain {
  /** The host for calls that begin now, then the fallback hosts, in order. */
  hosts(): Host[]
  /** Reports the result of a call that began with this host. Answers the host that replaces it from now on; null when none does. */
  record(host: Host, answered: boolean): Host | null
}

export function chain(all: [Host, ...Host[]]): Chain {
  let first = 0
  let failures = 0
  return {
    hosts: () => all.slice(first),
    record(host, answered) {
      // A call may end after its host was replaced.
      if (host !== all[first]) return null
      failures = answered ? 0 : failures + 1
      const next = all[first + 1]
      if (failures < FAILURES || next === undefined) return null
      first += 1
      failures = 0
      return next
    },
  }
}
