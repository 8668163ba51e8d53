const TRIES = 3

/** A clerk's call: its prompt is a command of this CLI. */
import { NO_USAGE } from '../hosts/host.ts'
import type { AgentReply } from './call.ts'
import { parseClerk, runClerk } from './clerk.ts'

export async function askClerk(
  prompt: string,
  options: { entry: string; cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<AgentReply> {
  const command = parseClerk(prompt)
  if (!command.ok) return { outcome: 'error', message: command.problem.message }
  let answer = await runClerk(command.value, options)
  // Killed by someone (a machine without memory, say), it says nothing of its verb: all verbs may be repeated.
  for (let tries = 1; answer.killed && tries < TRIES; tries++) answer = await runClerk(command.value, options)
  const { text } = answer
  return { outcome: 'ok', text, usage: NO_USAGE }
}
