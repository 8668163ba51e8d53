/** `new`: an id that no other experiment has, the event that records it, and a worktree to edit. */

import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { removeWorktree } from '../git/worktrees.ts'
import { mayBeParent } from '../ledger/decide.ts'
import type { Brief, MadeText } from '../ledger/events.ts'
import {
  BASELINE,
  currentRound,
  type Experiment,
  hadNoRoom,
  lastAttempt,
  NO_ROOM,
  roundAt,
  type State,
  tainted,
} from '../ledger/state.ts'
import { type ArtifactName, artifactPlaces } from '../measure/artifacts.ts'
import { diskFull, noDiskSpace } from '../measure/disk-space.ts'
import type { ReusedSetup } from '../measure/kept-setup.ts'
import { ensureWorktree, readWorktreeFacts } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { experimentFolder, experimentId, type RunPaths, worktreePath } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { stopReason } from '../run/budget.ts'
import type { OpenRun } from '../run/open.ts'
import { discard, restore } from './manual-decisions.ts'

export interface NewExperiment {
  experiment: string
  parent: string
  worktree: string
  /** How long `worktree.setup`, or its copy, took in that worktree, in milliseconds; absent without one. */
  setup_ms?: number
  /** Whose setup it has a copy of, and how long that took; absent when its own ran. */
  setup_reused?: ReusedSetup
  /** Folder for expensive outputs, which outlives attempts. */
  artifacts: string
  /** What `from_artifact` names. */
  seed_artifact?: string
  repeated?: true
  /** Of a repetition: how far it has come since, whether a seal waits for its verdict, and whether its keep was audited. */
  status?: Experiment['status']
  sealed?: boolean
  audited?: true
}

export interface NewRequest {
  parent: string
  hypothesis: string
  key: string | null
  /** Where in the loop it belongs; the lane's first experiment takes the id that its briefs reserved. Without a lane: of the round. */
  place: { round: number; lane: number | null; depth: number | null } | null
  /** The artifact of another experiment that this one starts from. */
  fromArtifact?: ArtifactName | null
  /** The text of a suite that the caller puts into its worktree. */
  text?: MadeText
}

/**
 * Opens an experiment. The same key gives the same experiment. A crash between the event and the worktree leaves an
 * open experiment whose worktree the next command makes. One whose worktree found no room on the disk is discarded
 * again, which the same key takes back.
 */
export async function createExperiment(run: OpenRun, request: NewRequest): Promise<Result<NewExperiment>> {
  const { state } = run.ledger
  const earlier = run.ledger.answeredBefore(['created'], request.key)
  if (earlier) return earlier.ok ? withWorktree(run, earlier.value.experiment, true) : earlier
  const over = request.place === null ? null : noLaneMore(state)
  if (over) return fail(over)
  const barren = barrenParent(state, request.parent)
  if (barren) return fail(barren)
  const { arm, brief } = laneAt(state, request.place)
  const first = request.place?.depth === 1 ? brief : null
  const seed = request.fromArtifact ?? first?.from_artifact ?? null
  const { repair, combine } = first?.parent === request.parent ? first : {}
  if (arm !== null && (request.parent !== BASELINE || request.place?.depth !== 1)) return fail(ONE_TRY)
  const full = noDiskSpace(run, 'no experiment was begun')
  if (full) return fail(full)
  const given = reserved(state, request)
  const experiment = given === null ? claimId(run.paths, state) : ok(given)
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
      ...(seed ? { from_artifact: seed } : {}),
      ...(repair === undefined ? {} : { repair }),
      ...(combine === undefined ? {} : { parents: [request.parent, combine] }),
      ...(request.text === undefined ? {} : { text: request.text }),
    },
    run.clock(),
    request.key,
  )
  if (!recorded.ok) return recorded
  return withWorktree(run, recorded.value.event.experiment, recorded.value.repeated)
}

/** `arm`: when it is not the search's. */
function laneAt(state: State, place: NewRequest['place']): { arm: 'baseline' | null; brief: Brief | null } {
  const round = place && roundAt(state, place.round)
  const found = round?.briefed?.lanes.find(({ lane }) => lane === place?.lane)
  return { arm: found?.arm ?? null, brief: found?.brief ?? null }
}

const ONE_TRY: Problem = {
  kind: 'refused',
  code: 'baseline_arm',
  message: 'a lane of the baseline arm makes one try, from the baseline',
  hint: 'end the lane',
}

/** A lane begins no experiment once a person stopped the loop or the budget is used up; by hand, one may still be opened. */
function noLaneMore(state: State): Problem | null {
  const reason = stopReason(state)
  if (reason !== 'user' && reason !== 'budget') return null
  return {
    kind: 'refused',
    code: 'loop_over',
    message:
      reason === 'user' ? `a person stopped the loop: ${state.stopped}` : 'the budget of the loop is used up',
    hint: 'end the lane; experiments that have begun are still judged',
  }
}

/**
 * Before an id is claimed. Children of a kept parent below a revoked one could never be parents themselves, nor the
 * best; the fold lets them pass, as ledgers of earlier versions have them.
 */
function barrenParent(state: State, parent: string): Problem | null {
  const because = mayBeParent(state, parent)
  if (because) return { kind: 'refused', ...because }
  if (!tainted(state).has(parent)) return null
  return {
    kind: 'refused',
    code: 'bad_parent',
    message: `${parent} cannot be a parent: one of its ancestors is revoked`,
    hint: next`take one of: ${call('frontier')}`,
  }
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
 * A free number: the process that makes its folder has it. Ids begin at 0, so the count of experiments is never above the
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
        hint: 'free some disk space or correct the permissions of .assay, then run the same command again',
        at: folder,
      })
    }
  }
}

async function worktreeOrFull(run: OpenRun, experiment: string): Promise<Result<string> | 'full'> {
  try {
    const made = await ensureWorktree(run, experiment)
    return made.ok || !isFull(`${made.problem.code} ${made.problem.message} ${made.problem.at ?? ''}`)
      ? made
      : 'full'
  } catch (error) {
    if (isFull(String(error))) return 'full'
    throw error
  }
}

const isFull = (said: string): boolean => /ENOSPC|EDQUOT|disk_full|No space left on device/.test(said)

/** The unfinished worktree is removed first, so that the disk has room for the record. */
async function giveUp(run: OpenRun, experiment: string): Promise<Problem> {
  const path = worktreePath(run.site, run.run, experiment)
  rmSync(path, { recursive: true, force: true })
  await removeWorktree(run.site, path).catch(() => {
    // Its registration is replaced when the worktree is made again.
  })
  const closed = discard(run, experiment, { why: NO_ROOM, failureClass: 'environment', key: null })
  const left = closed.ok ? 'and is discarded' : 'yet; its next command makes it'
  return diskFull(`${experiment} has no worktree ${left}`, path)
}

/** Whether that it was kept was audited: what was said of an earlier attempt, which was not, is about other files. */
const wasAudited = ({ status, attempts }: Experiment): boolean =>
  status === 'kept' && (attempts.findLast(({ judged }) => judged)?.audited ?? []).length > 0

/** Whether a seal waits for its verdict. */
export function hasSeal(node: Experiment): boolean {
  const last = lastAttempt(node)
  return last !== null && !last.judged
}

async function withWorktree(
  run: OpenRun,
  experiment: string,
  repeated: boolean,
): Promise<Result<NewExperiment>> {
  const node = run.ledger.state.experiments.get(experiment)
  if (!node) throw new Error(`${experiment} was created and is not there`)
  if (repeated && hadNoRoom(node)) {
    const again = restore(run, experiment, { why: 'asked for again', key: null })
    if (!again.ok) return again
  }
  const made = await worktreeOrFull(run, experiment)
  if (made === 'full') return fail(await giveUp(run, experiment))
  if (!made.ok) return made
  const { own, seed } = artifactPlaces(run, node)
  const { setup_ms, setup_reused } = readWorktreeFacts(run, experiment) ?? {}
  return ok({
    experiment,
    parent: node.parent ?? BASELINE,
    worktree: worktreePath(run.site, run.run, experiment),
    ...(setup_ms === undefined ? {} : { setup_ms }),
    ...(setup_reused === undefined ? {} : { setup_reused }),
    artifacts: own,
    ...(seed === null ? {} : { seed_artifact: seed.path }),
    ...(repeated ? { repeated: true as const, status: node.status, sealed: hasSeal(node) } : {}),
    ...(repeated && wasAudited(node) ? { audited: true as const } : {}),
  })
}
