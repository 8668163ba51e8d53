import type { HostCall } from './host.ts'

/** Set for every agent that Assay starts. */
const MARK = 'ASSAY_HOST_CALL'

/** The environment of a call's agent: the caller's without `GIT_*`, and what Assay tells it. */
export function agentEnvironment(request: HostCall): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.env)) {
    // A caller inside a git hook has GIT_DIR set; the agent must see its own worktree.
    if (value !== undefined && !name.startsWith('GIT_')) env[name] = value
  }
  env.ASSAY_ROLE = request.role
  env[MARK] = '1'
  if (request.model !== null) env.ASSAY_MODEL = request.model
  if (request.effort !== null) env.ASSAY_EFFORT = request.effort
  return env
}

/** Whether this process was started by an agent that Assay itself started: one must not ask agents of its own. */
export const isInsideAgent = (env: NodeJS.ProcessEnv): boolean => env[MARK] === '1'
