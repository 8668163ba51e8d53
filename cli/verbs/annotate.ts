import { annotate } from '../experiment/settle.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { idOf, textAt, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const text = textAt(args, 1)
  if (text === null) {
    return fail({
      kind: 'usage',
      code: 'empty_text',
      message: 'an annotation needs its text',
      hint: 'example: assay annotate exp_0007 "Half of the time is spent in the lexer"',
    })
  }
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const done = annotate(opened.value, idOf(args), {
    text,
    task: args.text('task'),
    tag: args.text('tag'),
    key: args.key,
  })
  if (!done.ok) return done
  const { experiment, task } = done.value
  return ok({
    data: done.value,
    text: () => `noted on ${experiment}${task === null ? '' : `, task ${plain(task, 100)}`}`,
  })
}
