/** `answer`: an agent, or the driver for it, hands in the answer to a task of the loop. */
import { takeAnswer } from '../loop/take-answer.ts'
import { ok } from '../result.ts'
import { printable } from '../terminal/output.ts'
import { fromCommandLine } from '../workflow/input.ts'
import { describeNext } from './task.ts'
import { idOf, onRun } from './verb.ts'

export const run = onRun(async (opened, args, context) => {
  const given = args.text('input')
  const text = args.on('none') ? null : given === null ? await context.stdin() : fromCommandLine(given)
  const taken = await takeAnswer(opened, idOf(args), text)
  if (!taken.ok) return taken
  const { task, repeated, ignored, findings, next: after } = taken.value
  return ok({
    data: taken.value,
    text: () => [
      printable(`${task}: ${repeated ? 'was answered before with the same text' : 'the answer is recorded'}`),
      ...(ignored.length > 0 ? [printable(`fields that are ignored: ${ignored.join(', ')}`)] : []),
      ...findings.map((message) => printable(`repair: ${message}`)),
      ...describeNext(after),
    ],
  })
})
