/**
 * For a workflow script that this process runs: an agent call whose prompt only names a task (`Run assay task ID …`). The CLI
 * asks the host with the whole text of that task, and hands in the answer.
 */

import { askForObject, readSchema } from '../agents/schema.ts'
import { NO_USAGE } from '../hosts/host.ts'
import type { AgentCall, AgentReply } from '../workflow/call.ts'
import { type ClerkOptions, lineOf } from '../workflow/clerk.ts'

/** In the workflow tool of a host the agent itself runs both commands; hosts here give readers no command that writes. */
const PROMPT = /^Run `assay task (?<id>[\w./-]+)(?: --run (?<run>[\w-]+))?` and follow it\./

export interface NamedTask {
  id: string
  run: string | null
}

/** The task that a prompt hands over; null when it hands over none. */
export function taskIn(prompt: string): NamedTask | null {
  const { id, run } = PROMPT.exec(prompt)?.groups ?? {}
  return id === undefined ? null : { id, run: run ?? null }
}

/**
 * `text` is the line of JSON of the CLI's last command: what comes next, or why the task or its answer was refused. An agent
 * that gives no answer is a reply of its own, and nothing is handed in for it.
 */
export async function askTask(
  call: AgentCall,
  { id, run }: NamedTask,
  ask: (call: AgentCall) => Promise<AgentReply>,
  options: Omit<ClerkOptions, 'signal'>,
): Promise<AgentReply> {
  const cli = (verb: string, input: string | null) =>
    lineOf(
      { argv: [verb, id, ...(run === null ? [] : ['--run', run]), '--json'], input },
      { ...options, signal: call.signal },
    )
  const told = await cli('task', null)
  const { ok, data } = JSON.parse(told) as { ok: boolean; data?: { prompt: string; answer: object } }
  if (!ok || data === undefined) return { outcome: 'ok', text: told, usage: NO_USAGE }
  const wanted = await readSchema(JSON.stringify(data.answer))
  if (!wanted.ok) return { outcome: 'error', message: wanted.problem.message }
  const { schema } = wanted.value
  const reply = await askForObject(
    data.prompt,
    wanted.value,
    (prompt) => ask({ ...call, prompt, schema }),
    true,
  )
  if (reply.outcome !== 'ok') return reply
  const text = await cli('answer', JSON.stringify(reply.object))
  return { outcome: 'ok', text, usage: reply.usage }
}
