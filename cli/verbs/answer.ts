import { takeAnswer } from '../loop/answer.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { fromCommandLine } from '../text.ts'
import { describeNext } from './task.ts'
import { idOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const given = args.text('input')
  const text = args.on('none') ? null : given === null ? await context.stdin() : fromCommandLine(given)
  const taken = await takeAnswer(opened.value, idOf(args), text)
  if (!taken.ok) return taken
  const { task, repeated, ignored, findings, next: after } = taken.value
  return ok({
    data: taken.value,
    text: () => [
      printable(`${task}: ${repeated ? 'answered before, in the same words' : 'the answer is taken'}`),
      ...(ignored.length > 0 ? [printable(`not read: ${ignored.join(', ')}`)] : []),
      ...findings.map((message) => printable(`repair: ${message}`)),
      ...describeNext(after),
    ],
  })
}
