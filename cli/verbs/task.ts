/** `task`: the whole text of a task of the loop, and how its agent hands in the answer. */
import { mayEdit } from '../hosts/rights.ts'
import type { NextAnswer } from '../loop/next-tasks.ts'
import { taskOf } from '../loop/task-prompt.ts'
import { call, next, type Said } from '../next.ts'
import { ok } from '../result.ts'
import { printable } from '../terminal/output.ts'
import { idOf, onRun } from './verb.ts'

export const run = onRun(async (opened, args) => {
  const task = await taskOf(opened, idOf(args))
  if (!task.ok) return task
  const { id, role, prompt } = task.value
  return ok({
    data: task.value,
    text: () => [
      ...printable(prompt).split('\n'),
      '',
      'Your answer is one JSON object; "answer" above says which fields it has. Hand it in, with JSON on one line, between single quotes:',
      next`  ${call('answer', id, '--run', opened.run, '--json', '--input', 'JSON')}`,
      `It has at most 9,000 characters, and plain spaces only. In it, write these as % and two digits, since shells and agent programs take them for more than text: ' %27, \\ %5C, \` %60, $ %24, ~ %7E, = %3D, < %3C, > %3E, % %25.`,
      'If it is refused, the refusal says why: correct it, and hand it in again.',
      ...(mayEdit(role)
        ? [
            'If `data.findings` of what it prints is not empty, repair them in the same folder, and hand in again: as the answer to the task in `data.next.tasks`.',
          ]
        : []),
    ],
  })
})

/** For people: which tasks agents have to do now. */
export function describeNext({
  round,
  over,
  tasks,
  measuring,
  alerts,
  line,
  paused,
  closed,
}: Pick<NextAnswer, 'round' | 'tasks' | 'measuring'> & Partial<NextAnswer>): Said[] {
  if (over === 'lane') return ['the lane has ended']
  const warnings = (alerts ?? []).map((alert) => printable(`warning: ${alert}`))
  if (over)
    return [over === 'until' ? 'no further round is opened' : `the loop is over: ${over}`, ...warnings]
  return [
    closed == null ? (line ?? `round ${round ?? '-'}`) : `round ${closed} has ended, no agent was needed`,
    ...(paused
      ? [
          next`paused since ${paused.since}: ${printable(paused.why)}; continue with: ${call('loop', 'resume')}`,
        ]
      : []),
    ...tasks.map(({ id, label }) => next`${label}: ${call('task', id)}`),
    ...(measuring.length > 0 ? [`being measured: ${measuring.join(', ')}`] : []),
    ...warnings,
  ]
}
