import { type ConfirmAnswer, confirm } from '../measure/confirm.ts'
import { ok, type Result } from '../result.ts'
import { keepingTurn } from '../run/driver.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { idOf, theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const experiment = idOf(args)
  const how = { against: args.text('against'), key: args.key }
  const done = await keepingTurn(opened.value, experiment, () => confirm(opened.value, experiment, how))
  if (!done.ok) return done
  const { passed, status, message, epoch } = done.value
  return ok({
    data: done.value,
    text: () => [
      `${experiment} ${passed ? `is confirmed in epoch ${epoch}` : `is ${status}`}`,
      `  ${plain(message, 500)}`,
      ...(passed && !done.value.flagged ? [] : [`  ${standing(done.value)}`]),
    ],
  })
}

function standing({ experiment, status, flagged }: ConfirmAnswer): string {
  if (status === 'revoked') return `A person may bring it back: assay restore ${experiment}`
  return flagged
    ? `In doubt, so no parent. A person may clear it: assay restore ${experiment}`
    : 'That changes nothing about its standing'
}
