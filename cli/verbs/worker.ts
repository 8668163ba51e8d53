/** `worker FOLDER`: does the work of a job on a node. The script of a job starts it; no person needs to call it. */
import { resolve } from 'node:path'
import { CANARY } from '../diagnose/canary.ts'
import { GATES } from '../experiment/gate.ts'
import { LOOSER } from '../measure/choose-isolation.ts'
import type { ErrandKind } from '../measure/errand.ts'
import { measureOnNode } from '../measure/on-node.ts'
import { PART_TEST } from '../measure/part-test.ts'
import { CHECK } from '../measure/run-check.ts'
import { ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'

/** By the names that a job gives. */
const ERRANDS: readonly ErrandKind[] = [PART_TEST, CANARY, LOOSER, GATES, CHECK]

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const folder = resolve(context.cwd, args.positionals[0] ?? '')
  const done = await measureOnNode(context, folder, ERRANDS)
  return done.ok ? ok({ data: done.value, text: () => `${done.value.key} was measured` }) : done
}
