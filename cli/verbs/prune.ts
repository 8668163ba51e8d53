import { prune } from '../experiment/settle.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { idOf, reasonOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const why = reasonOf(args, 'assay prune exp_0007 --reason "Five children, none better"')
  if (!why.ok) return why
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const done = prune(opened.value, idOf(args), { why: why.value, key: args.key })
  if (!done.ok) return done
  const { experiment } = done.value
  return ok({
    data: done.value,
    text: () =>
      `${experiment} is pruned: no parent any more; its score still counts. Undo: assay restore ${experiment}`,
  })
}
