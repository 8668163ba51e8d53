/** `traces`: what the benchmark wrote for the tasks of an experiment. */
import { shown } from '../evaluate/figure.ts'
import { traceOf, traces } from '../experiment/traces.ts'
import { call, next } from '../next.ts'
import { ok } from '../result.ts'
import { printable } from '../terminal/output.ts'
import { plain } from '../text.ts'
import { onExperiment } from './verb.ts'

const LIMIT = 100

export const run = onExperiment((opened, node, args) => {
  const task = args.positionals[1]
  if (task === undefined) {
    const found = traces(opened, node, args.integer('limit') ?? LIMIT)
    if (!found.ok) return found
    const { experiment, attempt, sample, traces: list, truncated } = found.value
    return ok({
      data: found.value,
      text: () => [
        `${experiment}, attempt ${attempt}, sample ${sample}`,
        ...list.map((one) => `  ${plain(headline(one), 300)}`),
        ...(truncated ? ['  … more: --limit'] : []),
        next`One of them in full: ${call('traces', experiment, 'TASK')}`,
      ],
    })
  }
  const found = traceOf(opened, node, task)
  if (!found.ok) return found
  const { experiment, attempt, log, cut } = found.value
  return ok({
    data: found.value,
    text: () => [
      plain(`${experiment}, attempt ${attempt}: ${headline(found.value)}`, 500),
      ...(cut ? ['… only the end of its log'] : []),
      printable(log),
    ],
  })
})

function headline(trace: {
  task: string
  score: number | null
  status: string | null
  reason: string | null
}): string {
  const { task, score, status, reason } = trace
  const parts = [
    score === null ? 'no score' : shown(score),
    ...(status ? [status] : []),
    ...(reason ? [reason] : []),
  ]
  return `${task}: ${parts.join(', ')}`
}
