/** `meta due` and `meta apply`: what the meta controller is asked, and the edits that it hands in. */
import { counted } from '../evaluate/figure.ts'
import { applyEdits, type DueAnswer, metaDue } from '../loop/meta/apply.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { Context, Parsed, VerbAnswer } from '../terminal/command.ts'
import { plain } from '../text.ts'
import { badInput, onRun, readInput, textsField } from './verb.ts'

const SHAPE =
  '{"edits":[{"kind":"knob","knob":"width","value":2,"rationale":"…","evidence":"exp_0007"}],"alerts":[],"tick":3}'

export const run = onRun((opened, args, context) => {
  return args.sub === 'apply' ? apply(context, args, opened) : due(args, opened)
})

async function due(args: Parsed, opened: OpenRun): Promise<Result<VerbAnswer>> {
  const answer = await metaDue(opened, args.text('claim'))
  return answer.ok ? ok({ data: answer.value, text: () => describe(answer.value) }) : answer
}

async function apply(context: Context, args: Parsed, opened: OpenRun): Promise<Result<VerbAnswer>> {
  const input = await readInput(context, args, SHAPE)
  if (!input.ok) return input
  const { edits } = input.value
  if (!Array.isArray(edits)) return badInput('"edits" is missing or not a list', SHAPE)
  const { tick } = input.value
  const done = await applyEdits(opened, {
    edits,
    alerts: textsField(input.value, 'alerts'),
    tick: typeof tick === 'number' ? tick : null,
    key: args.key,
  })
  if (!done.ok) return done
  const { applied, refused } = done.value
  return ok({
    data: done.value,
    text: () => [
      ...applied.map(
        ({ id, kind, rationale }) => `${id} (${kind}) from the next round on: ${plain(rationale, 200)}`,
      ),
      ...refused.map(
        ({ index, reason, message }) => `edit ${index + 1} refused (${reason}): ${plain(message, 300)}`,
      ),
    ],
  })
}

function describe({ every_ms, due, facts, edits }: DueAnswer): string[] {
  return [
    every_ms === null
      ? 'the meta controller is off (loop.meta.on)'
      : `${due ? 'it is time to ask' : 'it is not time yet'}; ${counted(facts.length, 'new fact')}, ${counted(edits.length, 'edit')}`,
    ...facts.map(({ name, message }) => `  ${plain(name, 100)}: ${plain(message, 500)}`),
  ]
}
