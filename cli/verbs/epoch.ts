import { openEpoch } from '../experiment/epoch.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { figure } from '../view/words.ts'
import { reasonOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const why = reasonOf(args, 'assay epoch open --reason "Another machine from here on"')
  if (!why.ok) return why
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const done = await openEpoch(opened.value, { why: why.value, key: args.key })
  if (!done.ok) return done
  const { epoch, baseline, outdated, outdated_count, verdict } = done.value
  const measured = verdict.status === 'kept'
  return ok({
    data: done.value,
    text: () => [
      measured
        ? `epoch ${epoch}: the baseline is ${figure(baseline.value)} (${figure(baseline.before)} before)`
        : `epoch ${epoch} is open, but its baseline could not be measured: ${plain(verdict.message, 500)}`,
      ...(measured ? [] : ['  mend the cause, then: assay run exp_0000']),
      ...(outdated_count === 0
        ? []
        : [
            `  ${outdated_count} kept in earlier epochs are neither parents nor best until they are measured again:`,
            ...outdated.slice(0, 10).map(({ experiment }) => `  assay confirm ${experiment}`),
          ]),
    ],
    exit: measured ? 0 : 4,
  })
}
