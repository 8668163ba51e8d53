/** `new`: creates an experiment, with a worktree for its agent. */
import { duration } from '../evaluate/figure.ts'
import { createExperiment, type NewExperiment } from '../experiment/create.ts'
import { bestOf } from '../ledger/best.ts'
import { BASELINE, type State } from '../ledger/state.ts'
import { pickParents } from '../loop/frontier.ts'
import { type ArtifactName, findArtifact } from '../measure/artifacts.ts'
import { warnOfDiskSpace } from '../measure/disk-space.ts'
import { call, type Next, next } from '../next.ts'
import { fail, ok } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { onRun } from './verb.ts'

export const run = onRun(async (opened, args) => {
  const wanted = args.text('from-artifact')
  const seed = wanted === null ? ok(null) : await findArtifact(opened, wanted)
  if (!seed.ok) return seed
  const [round, lane, depth] = [args.integer('round'), args.integer('lane'), args.integer('depth')]
  const place = round !== null && lane !== null ? { round, lane, depth: depth ?? 1 } : null
  const parent = args.text('parent')
  const made = await createExperiment(opened, {
    parent: parent ?? parentFor(opened.ledger.state, seed.value),
    hypothesis: args.text('message') ?? '',
    key: args.key,
    place,
    fromArtifact: seed.value,
  })
  if (!made.ok) {
    if (parent !== null || made.problem.code !== 'bad_parent') return made
    const other = anotherParent(opened)
    const { hint } = made.problem
    if (other === null) return made
    return fail({ ...made.problem, hint: hint === undefined ? other : next`${other}; or ${hint}` })
  }
  const { experiment, parent: of, worktree, artifacts, seed_artifact } = made.value
  // A loop gets this warning once a round, when the round opens.
  const warnings = place === null ? warnOfDiskSpace(opened, 1) : []
  return ok({
    data: { ...made.value, ...(warnings.length > 0 ? { warnings } : {}) },
    text: () => [
      `${experiment}, a child of ${of}`,
      `Edit in ${worktree}${setupOf(made.value)}`,
      `Expensive outputs go into ${artifacts}`,
      ...(seed_artifact === undefined ? [] : [`It starts from ${seed_artifact}`]),
      next`Then: ${call('run', experiment)}`,
      ...warnings.map((warning) => `warning: ${warning}`),
    ],
  })
})

function setupOf({ setup_ms, setup_reused }: NewExperiment): string {
  if (setup_ms === undefined) return ''
  return setup_reused === undefined
    ? ` (set up in ${duration(setup_ms)})`
    : ` (reused the setup of ${setup_reused.from}: ${duration(setup_ms)} instead of ${duration(setup_reused.ms)})`
}

/** A parent that the next round would pick, since the best may be pruned or in doubt; null when no experiment may be a parent. */
function anotherParent(run: OpenRun): Next | null {
  const frontier = pickParents(run)
  const first = frontier.ok ? frontier.value.picks[0] : undefined
  return first
    ? next`name a different parent: ${call('new', '--parent', first.experiment, '-m', 'TEXT')}`
    : null
}

/** A sibling of the experiment whose artifact it takes, or a child when that one is kept; else a child of the best. */
function parentFor(state: State, seed: ArtifactName | null): string {
  const from = seed && state.experiments.get(seed.experiment)
  if (from) return from.status === 'kept' ? from.id : (from.parent ?? BASELINE)
  return bestOf(state)?.id ?? BASELINE
}
