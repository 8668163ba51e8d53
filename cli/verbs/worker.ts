/** `worker FOLDER`: measures an attempt on a node. The script of a job starts it; no person needs to call it. */
import { resolve } from 'node:path'
import { measureOnNode } from '../measure/on-node.ts'
import { ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const folder = resolve(context.cwd, args.positionals[0] ?? '')
  const done = await measureOnNode(context, folder)
  return done.ok ? ok({ data: done.value, text: () => `${done.value.key} was measured` }) : done
}
