import type { AgentConfig } from './spec.ts'

/** How an agent is asked. null = as its program does by itself. */
export interface Mind {
  model: string | null
  effort: string | null
  timeoutMs: number
}

/**
 * Of a role: as the spec says for a hard brief, for the role, for all. `hard`: its lane's brief asks for a stronger model,
 * which holds for the roles that work on it.
 */
export function mindOf(agent: AgentConfig, role: string, hard: boolean): Mind {
  const works = role === 'implement' || role === 'revise'
  const first = works && hard ? agent.roles.hard : undefined
  const second = agent.roles[role]
  return {
    model: first?.model ?? second?.model ?? agent.model,
    effort: first?.effort ?? second?.effort ?? agent.effort,
    // A spec that was stored before roles had limits has none.
    timeoutMs: first?.timeoutMs ?? second?.timeoutMs ?? agent.timeoutMs,
  }
}
