import type { Idea } from '../ledger/events.ts'
import { ok, type Result } from '../result.ts'
import { propose } from '../round/propose.ts'
import type { Answer, Context, Parsed } from '../terminal/command.ts'
import { listOf, readInput, textField, textsField, theRun } from './verb.ts'

const SHAPE =
  '{"ideas":[{"hypothesis":"…","parent":"exp_0003","kind":"…","uplift":0.05,"confidence":0.6,"sources":[]}]}'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const input = await readInput(context, args, SHAPE)
  if (!input.ok) return input
  const ideas = listOf(input.value, 'ideas', SHAPE, readIdea)
  if (!ideas.ok) return ideas
  const done = propose(opened.value, ideas.value, args.key)
  if (!done.ok) return done
  const { accepted, refused } = done.value
  return ok({
    data: done.value,
    text: () => [
      `${accepted.length} accepted`,
      ...refused.map(({ index, reason, message }) => `idea ${index + 1} refused (${reason}): ${message}`),
    ],
  })
}

function readIdea(item: Record<string, unknown>): Idea | string {
  const hypothesis = textField(item, 'hypothesis')
  if (hypothesis === null) return 'it needs a "hypothesis"'
  const [parent, kind] = [textField(item, 'parent'), textField(item, 'kind')]
  const number = (name: string) => (typeof item[name] === 'number' ? { [name]: item[name] as number } : {})
  return {
    hypothesis,
    ...(parent === null || parent === '' ? {} : { parent }),
    ...(kind === null ? {} : { kind }),
    ...number('uplift'),
    ...number('confidence'),
    ...(Array.isArray(item.sources) ? { sources: textsField(item, 'sources').slice(0, 10) } : {}),
  }
}
