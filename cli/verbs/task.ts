import { type NextAnswer, taskOf } from '../loop/answer.ts'
import { call, next, type Said } from '../next.ts'
import { ok, type Result } from '../result.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { idOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<VerbAnswer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const task = await taskOf(opened.value, idOf(args))
  if (!task.ok) return task
  const { id, prompt } = task.value
  return ok({
    data: task.value,
    text: () => [
      ...printable(prompt).split('\n'),
      '',
      next`Your answer is one JSON object; "answer" above says which fields it has. Hand it in: ${call('answer', id, '--input', 'JSON')}`,
    ],
  })
}

/** For people: which tasks agents have to do now. */
export function describeNext({
  round,
  over,
  tasks,
  measuring,
  alerts,
}: Omit<NextAnswer, 'over' | 'alerts'> & Partial<Pick<NextAnswer, 'over' | 'alerts'>>): Said[] {
  if (over) return [over === 'until' ? 'no further round is opened' : `the loop is over: ${over}`]
  return [
    `round ${round ?? '-'}`,
    ...tasks.map(({ id, label }) => next`${label}: ${call('task', id)}`),
    ...(measuring.length > 0 ? [`being measured: ${measuring.join(', ')}`] : []),
    ...(alerts ?? []).map((alert) => printable(`warning: ${alert}`)),
  ]
}
