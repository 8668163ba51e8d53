/** `abort`: stops the judging of an experiment, and records why. */
import { type AbortAnswer, abort } from '../experiment/abort.ts'
import { call, next, type Said } from '../next.ts'
import { unreachable } from '../result.ts'
import { plain } from '../text.ts'
import { verb } from './verb.ts'

export const { run } = verb('abort', {
  run: (run, { positionals: [id], flags, key }) =>
    abort(run, id, {
      ifRunning: flags['if-running'],
      // A stop from outside says nothing about the idea, unless the caller names a class.
      failureClass: flags['failure-class'] ?? 'environment',
      why: flags.reason,
      fix: flags.fix,
      key,
    }),
  say: describe,
})

function describe({ experiment, aborted, attempt, process, fix, message }: AbortAnswer): Said[] {
  if (!aborted) return [`${experiment} was not aborted: ${plain(message, 500)}`]
  return [
    `${experiment}: attempt ${attempt} is aborted; ${fateOf(process)}`,
    fix === null
      ? '  the next rounds are given this reason'
      : `  the next rounds are given this fix: ${plain(fix, 500)}`,
    next`  The loop does not try it again by itself. When the cause is repaired: ${call('run', experiment)}`,
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
      return 'its process runs on a different host: end it there'
    case 'alive':
      return 'its process could not be ended: it belongs to another user'
    default:
      return unreachable(process)
  }
}
