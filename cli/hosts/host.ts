import type { Usage } from '../ledger/events.ts'
import type { Isolation } from '../process.ts'

/** One prompt for one agent. */
export interface HostCall {
  /** The whole prompt. It ends with a task card (see `card.ts`) when the loop sent it. */
  prompt: string
  /** JSON Schema (draft-07) of the answer; null asks for text. */
  schema: object | null
  /** What the agent is for (`implement`, `verify`, …); free text for scripts of a user's own. */
  role: string
  /** Where the agent works: the experiment's worktree, else the root of the checkout. */
  cwd: string
  /** Folders outside of `cwd` that the agent may write to as well, absolute. */
  folders: string[]
  /** What it sees of the machine; absent or null = all that this process sees. */
  isolation?: Isolation | null
  /** From the start of the call to its answer, all repairs of the answer included. */
  timeoutMs: number
  model: string | null
  effort: string | null
  /** The whole environment of the agent, before the host adds its own variables. */
  env: NodeJS.ProcessEnv
  signal: AbortSignal
  /** Told the file that the program prints to, at its start; the file is gone when it has ended. Must not throw. */
  printsTo?(file: string): void
  /** How often the agent is asked again when its answer does not satisfy the schema; absent = twice. */
  repairs?: number
  /**
   * Called when the agent's last message has no answer to the schema. It may give a substitute, because the work itself is
   * done; null asks the agent for its answer again. Absent = always ask again. Must not reject.
   */
  instead?(text: string): Promise<object | null>
}

/**
 * What came of a call.
 *
 * - `ok`: `text` is the agent's last message, unchanged. With a schema, `object` is the answer and satisfies it.
 * - `refused`: the host or its provider will not do this; the same call again gives the same answer.
 * - `retry_after`: overloaded or out of quota; the same call may be made again after `seconds`; null = unknown.
 * - `failed`: anything else; `again` says whether a second try could help.
 *
 * `usage` is what the host reports for the whole call; null is unknown, never 0.
 */
export type HostAnswer =
  | { outcome: 'ok'; text: string; object?: unknown; usage: Usage }
  | { outcome: 'refused'; message: string; usage: Usage }
  | { outcome: 'retry_after'; seconds: number | null; message: string; usage: Usage }
  | { outcome: 'failed'; message: string; again: boolean; usage: Usage }

/**
 * A program that answers prompts.
 *
 * `call` must not throw or reject: whatever happens is a `HostAnswer`. It may be called many times at once.
 * When `signal` aborts, everything that the call started is ended before it answers `failed`. It never retries
 * by itself, except to repair an answer that does not satisfy the schema (at most twice).
 */
export interface Host {
  name: string
  call(request: HostCall): Promise<HostAnswer>
}

/** How a host is made. The type of its settings lives in the host's own file. */
export interface HostEntry<Setup = unknown> {
  name: string
  /** Tokens and dollars: the host uses none, reports them, or does not report them. */
  usage: 'none' | 'reported' | 'unknown'
  open(setup: Setup): Host
}

export const UNKNOWN_USAGE: Usage = { tokens_in: null, tokens_out: null, usd: null }
export const NO_USAGE: Usage = { tokens_in: 0, tokens_out: 0, usd: 0 }

/** The sum is unknown when one side is unknown. */
export function sumUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | null, y: number | null) => (x === null || y === null ? null : x + y)
  return {
    tokens_in: sum(a.tokens_in, b.tokens_in),
    tokens_out: sum(a.tokens_out, b.tokens_out),
    usd: sum(a.usd, b.usd),
  }
}

export const failed = (message: string, again: boolean, usage = UNKNOWN_USAGE): HostAnswer => ({
  outcome: 'failed',
  message,
  again,
  usage,
})

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

/** Whether an agent that Assay started has started this process: such an agent must not ask further agents. */
export const isInsideAgent = (env: NodeJS.ProcessEnv): boolean => env[MARK] === '1'
