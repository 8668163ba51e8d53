/** One `agent()` call as the runtime hands it to a host. */
export interface AgentCall {
  prompt: string
  label: string
  phase: string | null
  /** A JSON Schema that compiles (draft-07, no formats). The runtime validates the answer of every host. */
  schema: object | null
  model: string | null
  effort: string | null
  agentType: string | null
  isolation: string | null
  /** As the script asked; the runtime watches it. */
  stallMs: number | null
  /** Number of the call in this run, from 1. */
  index: number
  /** Path of the `parallel`/`pipeline` slots around it; `` at top level. */
  thread: string
  /** Aborts when the run ends, or this attempt stalled. The call must then settle soon: the run waits for it. */
  signal: AbortSignal
  /** To be called when the agent shows life; it restarts the stall clock. */
  progress(): void
}

/** What a call used; null where the host did not tell. */
export interface CallUsage {
  tokens_in: number | null
  tokens_out: number | null
  usd: number | null
}

/**
 * What came of a call. Must not reject.
 *
 * - `ok`: with a schema, `object` is the answer; without `object` the runtime looks for one in `text`.
 * - `null`: a terminal failure of the provider, or a person skipped it; the script continues with null.
 * - `error`: thrown in the script.
 */
export type AgentReply =
  | { outcome: 'ok'; text: string; object?: unknown; usage: CallUsage }
  | { outcome: 'null'; message: string; usage: CallUsage }
  | { outcome: 'error'; message: string; usage?: CallUsage }

/** What a run of a script tells while it works. */
export type ScriptNotice =
  | { type: 'warning' | 'log'; message: string }
  | { type: 'phase'; title: string }
  | {
      type: 'agent'
      state: 'started' | 'done' | 'failed' | 'replayed'
      label: string
      phase: string | null
      ms: number
      message?: string
    }

export type TellOfScript = (fact: ScriptNotice) => void
