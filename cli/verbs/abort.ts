import { type AbortAnswer, abort } from '../experiment/abort.ts'
import type { FailureClass } from '../ledger/events.ts'
import { ok, type Result, unreachable } from '../result.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { idOf, reasonOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const why = reasonOf(
    args,
    'assay abort exp_0007 --reason "The fixture is being downloaded again and again"',
  )
  if (!why.ok) return why
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const done = await abort(opened.value, idOf(args), {
    ifRunning: args.on('if-running'),
    // Stopped from outside says nothing about the idea unless somebody says so.
    failureClass: (args.text('failure-class') as FailureClass | null) ?? 'environment',
    why: why.value,
    fix: args.text('fix'),
    key: args.key,
  })
  return done.ok ? ok({ data: done.value, text: () => describe(done.value) }) : done
}

function describe({ experiment, aborted, attempt, process, fix, message }: AbortAnswer): string[] {
  if (!aborted) return [`${experiment} was not aborted: ${plain(message, 500)}`]
  return [
    `${experiment}: attempt ${attempt} is aborted; ${fateOf(process)}`,
    ...(fix === null ? [] : [`  fix, told to the next rounds: ${plain(fix, 500)}`]),
    `  It is not tried again by itself. When the cause is mended: assay run ${experiment}`,
  ]
}

function fateOf(process: AbortAnswer['process']): string {
  switch (process) {
    case 'asked':
      return 'its process has ended'
    case 'killed':
      return 'its process did not end when asked, and was killed'
    case 'gone':
    case null:
      return 'its process was gone already'
    case 'elsewhere':
      return 'its process runs on another host: end it there'
    case 'alive':
      return 'its process could not be ended: it belongs to another user'
    default:
      return unreachable(process)
  }
}
