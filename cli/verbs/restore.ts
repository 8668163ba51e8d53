import { restore } from '../experiment/settle.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { idOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const done = restore(opened.value, idOf(args), { why: args.text('reason') ?? '', key: args.key })
  if (!done.ok) return done
  const { experiment, status, changed } = done.value
  return ok({
    data: done.value,
    text: () =>
      changed ? `${experiment} is ${status} again` : `${experiment} is ${status}: there is nothing to undo`,
  })
}
