/**
 * What the script's process and ours tell each other. Messages travel in batches (arrays), in order. Values cross as JSON
 * text: the script's realm parses its own. Inside the process, the API of a script is made in the script's realm; it holds
 * functions of the process, and gives the script neither these nor what they throw (see `realm.ts`).
 */

/** A script that is ready to run: its meta is known and its body is wrapped (see `script.ts`). */
export interface Runnable {
  name: string
  /** Shown in stack frames. */
  file: string
  code: string
  /** Columns of the wrapper before the source's first one. */
  offset: number
}

/** The options of `agent()` as the script gave them; validation is the parent's. */
export interface CallOptions {
  label: string
  phase: string | null
  /** JSON text; null = none. */
  schema: string | null
  model: string | null
  effort: string | null
  agentType: string | null
  isolation: string | null
  stallMs: number | null
}

export type ToChild =
  | {
      type: 'start'
      script: Runnable
      phases: string[]
      /** JSON text; null = the script sees `undefined`. */
      args: string | null
      /** Read once when resuming; results in it answer without a round trip. */
      journal: string | null
      budget: { total: number | null; spent: number }
      /** null = unlimited. */
      maxAgents: number | null
      firstSliceMs: number
    }
  | { type: 'reply'; index: number; reply: Reply; spent: number }
  | { type: 'script'; id: number; found: { ok: true; script: Runnable } | { ok: false; message: string } }

/** How one `agent()` call ends for the script. */
export type Reply =
  | { kind: 'value'; json: string }
  | { kind: 'null' }
  | { kind: 'error'; name: string; message: string }

export type ToParent =
  | ({ type: 'call'; index: number; key: string; thread: string; prompt: string } & CallOptions)
  | { type: 'replayed'; label: string; phase: string | null }
  | { type: 'log'; text: string }
  | { type: 'phase'; title: string; current: boolean }
  | { type: 'failure'; text: string }
  | { type: 'find'; id: number; ref: { name: string } | { scriptPath: string } }
  | { type: 'damaged'; lines: number }
  | { type: 'end'; outcome: { ok: true; json: string | null } | { ok: false; error: string } }
