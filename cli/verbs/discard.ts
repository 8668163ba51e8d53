import { discard } from '../experiment/settle.ts'
import type { FailureClass } from '../ledger/events.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { idOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const done = discard(opened.value, idOf(args), {
    why: args.text('reason') ?? '',
    failureClass: args.text('failure-class') as FailureClass | null,
    key: args.key,
  })
  return done.ok ? ok({ data: done.value, text: () => `${done.value.experiment} is discarded` }) : done
}
