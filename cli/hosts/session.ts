import { parseJson, recordOf } from '../json.ts'

/** Sessions of agent programs: how a command learns in which one it runs, and what the programs tell their hooks. */

export interface HostSession {
  host: string
  id: string
}

/** What each program sets for the commands that its model starts; others name no session. */
const VARIABLES = {
  'claude-code': 'CLAUDE_CODE_SESSION_ID',
  codex: 'CODEX_THREAD_ID',
  copilot: 'COPILOT_AGENT_SESSION_ID',
} as const

/** Programs whose hooks were seen to work; their variable equals the `session_id` of the hook. */
export const HOOKED_HOSTS: readonly string[] = ['claude-code', 'codex']

/** The session around this process; null when no program names one. */
export function sessionAround(env: NodeJS.ProcessEnv): HostSession | null {
  for (const [host, variable] of Object.entries(VARIABLES)) {
    const id = env[variable]
    if (id) return { host, id }
  }
  return null
}

/** One call of a hook, as far as it matters here. */
export interface HookCall {
  session: string
  /** Absolute. */
  cwd: string
  /** The call is of an agent that the session started, not of the session itself. */
  lane: boolean
  /** Paths that the tool would write, as the call names them: absolute, or relative to `cwd`. */
  files: string[]
  /** A background job of the session still runs and will wake it. */
  busy: boolean
}

type Fields = Record<string, unknown>

/** Null when the text is not the input of a hook. */
export function readHookCall(text: string): HookCall | null {
  const call = recordOf(parseJson(text))
  const { session_id: session, cwd } = call
  if (typeof session !== 'string' || typeof cwd !== 'string') return null
  return {
    session,
    cwd,
    lane: typeof call.agent_id === 'string' || typeof call.agent_type === 'string',
    files: filesIn(recordOf(call.tool_input)),
    busy: Array.isArray(call.background_tasks) && call.background_tasks.map(recordOf).some(wakes),
  }
}

const PATHS = ['file_path', 'notebook_path', 'path', 'filePath'] as const
/** Of a patch in one text. */
const PATCHED = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm

function filesIn(input: Fields): string[] {
  const texts = (value: unknown) => (typeof value === 'string' ? [value] : [])
  const patches = [input.command, input.input, input.patch].flatMap(texts)
  return [
    ...PATHS.flatMap((name) => texts(input[name])),
    ...patches.flatMap((patch) => [...patch.matchAll(PATCHED)].map((found) => (found[1] ?? '').trim())),
  ]
}

/** A server that the user left running wakes no session; an `assay` command ends and does. */
const wakes = ({ type, command }: Fields): boolean =>
  (type !== 'shell' && type !== 'monitor') || (typeof command === 'string' && /\bassay\b/.test(command))

/** Text that the program puts into the model's context. */
export const goOn = (reason: string): string => JSON.stringify({ decision: 'block', reason })

export const deny = (reason: string): string =>
  JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  })
