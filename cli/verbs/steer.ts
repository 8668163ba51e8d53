import type { Steer } from '../ledger/state.ts'
import { fail, ok, type Result } from '../result.ts'
import { steer } from '../run/steer.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { textAt, theRun } from './verb.ts'

const LIMIT = 50

/** Without TEXT it lists. */
export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const first = textAt(args, 0)
  const experiment = first !== null && /^exp_\d+$/.test(first) ? first : null
  const text = textAt(args, experiment === null ? 0 : 1)
  if (experiment === null && args.positionals.length > 1) {
    return fail({
      kind: 'usage',
      code: 'bad_value',
      message: `${plain(args.positionals[0] ?? '', 40)} is no experiment`,
      hint: 'put the words in quotes: assay steer exp_0007 "Leave the parser alone"',
    })
  }
  if (text === null) {
    const found = opened.value.ledger.state.steers.filter(
      (one) => experiment === null || one.experiment === experiment,
    )
    const shown = found.slice(-LIMIT)
    return ok({
      data: { steering: shown, truncated: found.length > shown.length },
      text: () => (found.length === 0 ? 'nobody has steered this run: assay steer TEXT' : shown.map(line)),
    })
  }
  const said = steer(opened.value, { experiment, text, key: args.key })
  return said.ok ? ok({ data: said.value, text: () => `said; ${whereTo(said.value)}` }) : said
}

const line = (one: Steer): string => `${one.at.slice(0, 16)}  ${whereTo(one)}: ${plain(one.text, 300)}`

function whereTo({ experiment, delivered }: Steer): string {
  if (delivered === null)
    return experiment === null ? 'waits for the next round' : `waits for the next agent of ${experiment}`
  return delivered.round === null
    ? `delivered to ${plain(delivered.role, 40)} of ${delivered.experiment}`
    : `delivered to round ${delivered.round}`
}
