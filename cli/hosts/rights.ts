/** What an agent may do, by its role. Each host translates it into flags of its program. */

/**
 * - `read`: nothing but reading, and the commands of Assay that only read
 * - `edit`: also writing below its folder; more only inside a sandbox of the program's own
 * - `all`: whatever the user could do; only when the spec says so
 */
export type Rights = 'read' | 'edit' | 'all'

const READERS = new Set([
  ...['scan', 'ideate', 'brief', 'verify', 'audit', 'collect', 'meta', 'step', 'doctor', 'judge', 'gradient'],
])

export const mayEdit = (role: string): boolean => !READERS.has(role)

export const rightsOf = (role: string, permissions: 'safe' | 'unsafe'): Rights => {
  if (permissions === 'unsafe') return 'all'
  return mayEdit(role) ? 'edit' : 'read'
}

/** Roles that look for new directions may also search the web. */
export const mayUseWeb = (role: string): boolean => role === 'ideate'

/** Verbs of the CLI that prompts, and the guides that these begin with, ask agents to read with. */
export const READING_VERBS = [
  ...(['context', 'diff', 'discards', 'gate list', 'guide'] as const),
  ...(['path', 'show', 'status', 'traces', 'tree'] as const),
] as const
