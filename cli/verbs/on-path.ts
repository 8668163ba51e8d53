/** Whether typing a name starts a certain program. */
import { realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether the first `name` on PATH is the file `program`, links followed. */
export function onPath(env: NodeJS.ProcessEnv, name: string, program: string): boolean {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const found = realOrNull(join(folder || '.', name))
    if (found !== null) return found === realOrNull(program)
  }
  return false
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
