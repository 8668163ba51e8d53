import { findSeed, type SeedName } from '../experiment/artifacts.ts'
import { createExperiment } from '../experiment/create.ts'
import { bestOf } from '../ledger/best.ts'
import { BASELINE, type State } from '../ledger/state.ts'
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
  const wanted = args.text('from-artifact')
  const seed = wanted === null ? ok(null) : await findSeed(opened.value, wanted)
  if (!seed.ok) return seed
  const [round, lane, depth] = [args.integer('round'), args.integer('lane'), args.integer('depth')]
  const made = await createExperiment(opened.value, {
    parent: args.text('parent') ?? parentFor(opened.value.ledger.state, seed.value),
    hypothesis,
    key: args.key,
    place: round !== null && lane !== null ? { round, lane, depth: depth ?? 1 } : null,
    fromArtifact: seed.value,
  })
  if (!made.ok) return made
  const { experiment, parent, worktree, artifacts, seed_artifact } = made.value
  return ok({
    data: made.value,
    text: () => [
      `${experiment}, a child of ${parent}`,
      `Edit in ${worktree}`,
      `Expensive outputs go into ${artifacts}`,
      ...(seed_artifact === undefined ? [] : [`It starts from ${seed_artifact}`]),
      `Then: assay run ${experiment}`,
    ],
  })
}

/** A sibling of the experiment whose artifact it takes, or a child when that one is kept; else a child of the best. */
function parentFor(state: State, seed: SeedName | null): string {
  const from = seed && state.experiments.get(seed.experiment)
  if (from) return from.status === 'kept' ? from.id : (from.parent ?? BASELINE)
  return bestOf(state)?.id ?? BASELINE
}
