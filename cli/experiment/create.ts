/** `new`: an id that nobody else has, an event that says so, and a worktree to edit. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { refusal } from '../ledger/ledger.ts'
import { BASELINE, currentRound, type State } from '../ledger/state.ts'
import { experimentFolder, experimentId, type RunPaths, worktreePath } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { ensureWorktree } from './worktree.ts'

export interface NewExperiment {
  experiment: string
  parent: string
  worktree: string
  repeated?: true
}

export interface NewRequest {
  parent: string
  hypothesis: string
  key: string | null
  /** Where in the loop it belongs; the lane's first experiment takes the id that its briefs reserved. */
  place: { round: number; lane: number; depth: number } | null
}

/**
 * Opens an experiment. The same key gives the same experiment. A crash between the event and the worktree leaves an
 * open experiment whose worktree the next command makes.
 */
export async function createExperiment(run: OpenRun, request: NewRequest): Promise<Result<NewExperiment>> {
  const first = request.key === null ? null : answered(run.ledger.state, request.key)
  if (first !== null) return first.ok ? withWorktree(run, first.value, true) : first
  const experiment = reserved(run.ledger.state, request) ?? claimId(run.paths, run.ledger.state)
  const proposal = run.ledger.propose<'created'>(
    {
      type: 'created',
      experiment,
      parent: request.parent,
      hypothesis: request.hypothesis.slice(0, 2000),
      round: request.place?.round ?? null,
      lane: request.place?.lane ?? null,
      depth: request.place?.depth ?? null,
      ...(request.key === null ? {} : { key: request.key }),
    },
    run.clock(),
  )
  if (!proposal.ok) return proposal
  if (proposal.value.accepted) return withWorktree(run, experiment, false)
  const repeated = request.key === null ? null : answered(run.ledger.state, request.key)
  if (repeated?.ok) return withWorktree(run, repeated.value, true)
  return repeated ?? refusal(proposal.value.because)
}

/** The experiment that an earlier call with this key opened. */
function answered(state: State, key: string): Result<string> | null {
  const used = state.keys.get(key)
  if (!used) return null
  if (used.type === 'created' && used.experiment) return ok(used.experiment)
  return fail({
    kind: 'usage',
    code: 'key_reused',
    message: `the key ${key} was used by another verb`,
    hint: 'give every call a key of its own',
  })
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
  const made = await ensureWorktree(run, experiment)
  if (!made.ok) return made
  return ok({
    experiment,
    parent: node?.parent ?? BASELINE,
    worktree: worktreePath(run.site, run.run, experiment),
    ...(repeated ? { repeated: true as const } : {}),
  })
}
