/** `new`: an id that nobody else has, an event that says so, and a worktree to edit. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { tainted } from '../ledger/best.ts'
import { BASELINE, currentRound, type State } from '../ledger/state.ts'
import { experimentFolder, experimentId, type RunPaths, worktreePath } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { stopReason } from '../run/stop.ts'
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
  const { state } = run.ledger
  const barren = isRepeated(state, request) ? null : barrenParent(state, request.parent)
  if (barren) return fail(barren)
  const over = request.place === null || isRepeated(state, request) ? null : noLaneMore(state)
  if (over) return fail(over)
  const arm = armOf(state, request.place)
  if (arm !== null && (request.parent !== BASELINE || request.place?.depth !== 1)) return fail(ONE_TRY)
  const experiment = idFor(run, request)
  if (!experiment.ok) return experiment
  const recorded = run.ledger.record<'created'>(
    {
      type: 'created',
      experiment: experiment.value,
      parent: request.parent,
      hypothesis: request.hypothesis.slice(0, 2000),
      round: request.place?.round ?? null,
      lane: request.place?.lane ?? null,
      depth: request.place?.depth ?? null,
      ...(arm === null ? {} : { arm }),
      ...(request.fromArtifact ? { from_artifact: request.fromArtifact } : {}),
    },
    run.clock(),
    request.key,
  )
  if (!recorded.ok) return recorded
  return withWorktree(run, recorded.value.event.experiment, recorded.value.repeated)
}

/** A folder is claimed only by a call that is not a repetition; the id of one that is plays no part. */
function idFor(run: OpenRun, request: NewRequest): Result<string> {
  const { state } = run.ledger
  if (isRepeated(state, request)) return ok(BASELINE)
  const given = reserved(state, request)
  return given === null ? claimId(run.paths, state) : ok(given)
}

/** The arm of a lane, when it is not the search's. */
function armOf(state: State, place: NewRequest['place']): 'baseline' | null {
  const round = place && state.rounds.find((one) => one.round === place.round)
  return round?.briefed?.lanes.find(({ lane }) => lane === place?.lane)?.arm ?? null
}

const ONE_TRY: Problem = {
  kind: 'refused',
  code: 'baseline_arm',
  message: 'a lane of the baseline arm makes one try, from the baseline',
  hint: 'let the lane end',
}

const isRepeated = (state: State, { key }: NewRequest): boolean => key !== null && state.keys.has(key)

/** A lane begins nothing more once a person ended the loop, or the budget is used; by hand one may still be opened. */
function noLaneMore(state: State): Problem | null {
  const reason = stopReason(state)
  if (reason !== 'user' && reason !== 'budget') return null
  return {
    kind: 'refused',
    code: 'loop_over',
    message:
      reason === 'user' ? `a person stopped the loop: ${state.stopped}` : 'the budget of the loop is used up',
    hint: 'let the lane end; what was begun is still judged',
  }
}

/** A kept parent whose children could never be parents themselves, nor the best: the fold would let it pass. */
function barrenParent(state: State, parent: string): Problem | null {
  const node = state.experiments.get(parent)
  if (node?.status !== 'kept') return null
  const refuse = (code: string, message: string, hint: string): Problem => ({
    kind: 'refused',
    code,
    message,
    hint,
  })
  if (tainted(state).has(parent)) {
    return refuse(
      'bad_parent',
      `${parent} cannot be a parent: one of its ancestors is revoked`,
      'take one of: assay frontier',
    )
  }
  if (node.epoch !== state.epoch) {
    const message = `${parent} was measured in epoch ${node.epoch}, and this is epoch ${state.epoch}`
    return refuse('other_epoch', message, `measure it again first: assay confirm ${parent}`)
  }
  return null
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
export function claimId(paths: RunPaths, state: State): Result<string> {
  for (let n = Math.max(1, state.experiments.size); ; n++) {
    const experiment = experimentId(n)
    const folder = experimentFolder(paths, experiment)
    try {
      mkdirSync(dirname(folder), { recursive: true })
      mkdirSync(folder)
      return ok(experiment)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') continue
      return fail({
        kind: 'failed',
        code: code === 'ENOSPC' || code === 'EDQUOT' ? 'disk_full' : 'not_written',
        message: `the folder of ${experiment} could not be made: ${message}`,
        hint: 'free some disk space or mend the permissions of .assay, then run the same command again',
        at: folder,
      })
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
