import { createExperiment } from '../experiment/create.ts'
import { BASELINE, bestOf } from '../ledger/state.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from './command.ts'
import { theRun } from './verb.ts'

export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const hypothesis = args.text('message')
  if (hypothesis === null || hypothesis.trim() === '') {
    return fail({
      kind: 'usage',
      code: 'no_hypothesis',
      message: 'an experiment needs its hypothesis',
      hint: 'say what you expect: assay new -m "Cache the parsed header"',
    })
  }
  const [round, lane, depth] = [args.integer('round'), args.integer('lane'), args.integer('depth')]
  const made = await createExperiment(opened.value, {
    parent: args.text('parent') ?? bestOf(opened.value.ledger.state)?.id ?? BASELINE,
    hypothesis,
    key: args.key,
    place: round !== null && lane !== null ? { round, lane, depth: depth ?? 1 } : null,
  })
  if (!made.ok) return made
  const { experiment, parent, worktree } = made.value
  return ok({
    data: made.value,
    text: () => [
      `${experiment}, a child of ${parent}`,
      `Edit in ${worktree}`,
      `Then: assay run ${experiment}`,
    ],
  })
}
