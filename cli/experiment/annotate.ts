import { answered } from '../ledger/ledger.ts'
import type { Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { nodeFor } from './seal.ts'

export interface AnnotateAnswer {
  experiment: string
  task: string | null
  tag: string | null
  text: string
  repeated?: true
}

/** A remark on an experiment, or on one of its tasks; any status will do. */
export function annotate(
  run: OpenRun,
  experiment: string,
  { text, task, tag, key }: { text: string; task: string | null; tag: string | null; key: string | null },
): Result<AnnotateAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const recorded = run.ledger.record<'annotated'>(
    {
      type: 'annotated',
      experiment,
      task: task?.slice(0, 200) ?? null,
      tag: tag?.slice(0, 100) ?? null,
      text: text.slice(0, 2000),
    },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => ({
    experiment: event.experiment,
    task: event.task,
    tag: event.tag,
    text: event.text,
  }))
}
