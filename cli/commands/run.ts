import type { RunAnswer } from '../experiment/answer.ts'
import { submit } from '../experiment/submit.ts'
import { startWorker } from '../experiment/worker.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from './command.ts'
import { idOf, theRun } from './verb.ts'
import { figure, percent } from './words.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const experiment = idOf(args)
  if (args.on('detach')) {
    const begun = await startWorker(opened.value, experiment, args.key)
    if (!begun.ok) return begun
    return ok({
      data: { experiment, started: true },
      text: () => `${experiment} is being judged; the verdict: assay wait --for ${experiment}`,
    })
  }
  const answer = await submit(opened.value, experiment, args.key)
  if (!answer.ok) return answer
  return ok({
    data: answer.value,
    text: () => describe(answer.value),
    exit: answer.value.status === 'failed' ? 4 : 0,
  })
}

function describe(answer: RunAnswer): string[] {
  const { experiment, status, reason, value, improvement, best, message } = answer
  const word = reason && reason !== 'improved' ? `${status} (${reason})` : status
  const gain = improvement === null ? '' : `  ${percent(improvement)}`
  return [
    `${experiment} ${word}${value === null ? '' : `  ${figure(value)}`}${gain}${best ? '  ← the best so far' : ''}`,
    `  ${message}`,
  ]
}
