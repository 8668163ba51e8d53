/** `new`: an id that nobody else has, an event that says so, and a worktree to edit. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { BASELINE, currentRound, type State } from '../ledger/state.ts'
import { experimentFolder, experimentId, type RunPaths, worktreePath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { artifactPlaces, type SeedName } from './artifacts.ts'
import { ensureWorktree } from './worktree.ts'

export interface NewExperiment {
  experiment: string
  parent: string
  worktree: string
  /** Folder for expensive outputs, which outlives attempts. */
  artifacts: string
  /** What `from_artifact` names. */
  seed_artifact?: string
  repeated?: true
}

export interface NewRequest {
  parent: string
  hypothesis: string
  key: string | null
  /** Where in the loop it belongs; the lane's first experiment takes the id that its briefs reserved. */
  place: { round: number; lane: number; depth: number } | null
  /** The artifact of another experiment that this one starts from. */
  fromArtifact?: SeedName | null
}

/**
 * Opens an experiment. The same key gives the same experiment. A crash between the event and the worktree leaves an
 * open experiment whose worktree the next command makes.
 */
export async function createExperiment(run: OpenRun, request: NewRequest): Promise<Result<NewExperiment>> {
  const known = request.key === null ? undefined : run.ledger.state.keys.get(request.key)
  // A folder is claimed only by a call that is not a repetition.
  const experiment = known
    ? BASELINE
    : (reserved(run.ledger.state, request) ?? claimId(run.paths, run.ledger.state))
  const recorded = run.ledger.record<'created'>(
    {
      type: 'created',
      experiment,
      parent: request.parent,
      hypothesis: request.hypothesis.slice(0, 2000),
      round: request.place?.round ?? null,
      lane: request.place?.lane ?? null,
      depth: request.place?.depth ?? null,
      ...(request.fromArtifact ? { from_artifact: request.fromArtifact } : {}),
    },
    run.clock(),
    request.key,
  )
  if (!recorded.ok) return recorded
  return withWorktree(run, recorded.value.event.experiment, recorded.value.repeated)
}

function reserved(state: State, { place, parent }: NewRequest): string | null {
  const round = currentRound(state)
  if (place?.depth !== 1 || round?.round !== place.round) return null
  const lane = round.briefed?.lanes.find(
    (candidate) => candidate.lane === place.lane && candidate.parent === parent,
  )
  return lane && !state.experiments.has(lane.experiment) ? lane.experiment : null
}

/**
 * A free number: whoever makes its folder has it. Ids begin at 0, so the count of experiments is never above the
 * next one; gaps are allowed.
 */
export function claimId(paths: RunPaths, state: State): string {
  for (let n = Math.max(1, state.experiments.size); ; n++) {
    const experiment = experimentId(n)
    const folder = experimentFolder(paths, experiment)
    try {
      mkdirSync(dirname(folder), { recursive: true })
      mkdirSync(folder)
      return experiment
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

async function withWorktree(
  run: OpenRun,
  experiment: string,
  repeated: boolean,
): Promise<Result<NewExperiment>> {
  const node = run.ledger.state.experiments.get(experiment)
  if (!node) throw new Error(`${experiment} was created and is not there`)
  const made = await ensureWorktree(run, experiment)
  if (!made.ok) return made
  const { own, seed } = artifactPlaces(run, node)
  return ok({
    experiment,
    parent: node.parent ?? BASELINE,
    worktree: worktreePath(run.site, run.run, experiment),
    artifacts: own,
    ...(seed === null ? {} : { seed_artifact: seed.path }),
    ...(repeated ? { repeated: true as const } : {}),
  })
}
