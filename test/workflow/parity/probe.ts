/** What a probe is: one script (or several, one after the other) and what a host's own workflow tool made of it. */
import { META } from '../rig.ts'

export interface Probe {
  name: string
  /** The launches, one after the other; the last one is compared. */
  launches: [Launch, ...Launch[]]
  /** Files of the working folder by path; `../home/` is the user's own folder. */
  files?: Record<string, string>
  /** What agents answer; the first rule that fits. Without one they answer `ANSWER`. */
  agents?: AgentRule[]
  /** Limit of the part before the first await; the host's 30 s would be waited for. */
  firstSliceMs?: number
  expected: Expected
}

/** `script` is typed by an agent; `name` and `path` are looked up. `resume` reads the journal of the launch before. */
export type Launch = ({ script: string } | { name: string } | { path: string }) & {
  args?: unknown
  resume?: boolean
}

export interface AgentRule {
  prompt: RegExp
  /** Only calls with a schema. */
  structured?: boolean
  /** One for each time that the call is made; the last one stays. */
  answers: AgentAnswer[]
}
/** `after`: milliseconds; `fails`: the provider's own error. */
export type AgentAnswer = { text?: string; object?: unknown; after?: number; fails?: string; tokens?: number }

export const ANSWER = 'DEFAULT-AGENT-TEXT'

export type Expected =
  | { refused: string }
  | {
      status: 'completed' | 'failed'
      result?: unknown
      /** First line. */
      error?: string
      logs?: string[]
      phases?: string[]
      /** `agent()` calls. */
      agents?: number
      /** How many of them came from the journal. */
      replayed?: number
    }

/** A probe whose script is `body` after a plain meta. */
export function probe(
  name: string,
  body: string,
  expected: Expected,
  more: Partial<Omit<Probe, 'name' | 'expected'>> & { args?: unknown } = {},
): Probe {
  const { args, ...rest } = more
  const launch: Launch = { script: META + body, ...(args === undefined ? {} : { args }) }
  return { name, launches: [launch], expected, ...rest }
}

export const done = (
  result: unknown,
  more: Omit<Extract<Expected, { status: unknown }>, 'status'> = {},
): Expected => ({
  status: 'completed',
  result,
  ...more,
})

/** Collects what each attempt gave or threw; the script then returns `notes`. */
export const NOTES = `const notes = {}
const note = async (name, attempt) => {
  try {
    const value = await attempt()
    notes[name] = value === undefined ? '<undefined>' : value
  } catch (error) {
    notes[name] = 'THROW ' + (error && error.name) + ': ' + (error && error.message)
  }
}
`
