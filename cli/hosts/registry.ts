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
  command: { load: async () => (await import('./command.ts')).command },
  tune: { load: async () => (await import('./tune.ts')).tune },
  ...PROGRAMS,
}

export type ProgramName = keyof typeof PROGRAMS
export type HostName = keyof typeof HOSTS
export const programNames = Object.keys(PROGRAMS) as ProgramName[]
export const hostNames = Object.keys(HOSTS) as HostName[]
export const isHostName = (name: string): name is HostName => Object.hasOwn(HOSTS, name)
export const isProgramName = (name: string): name is ProgramName => Object.hasOwn(PROGRAMS, name)
