/** `gc`: frees what nobody needs any more. Never a candidate, a ref or a record: those make an experiment. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Obstacle } from '../disk/remove.ts'
import { emptyTrash, removeWorktree } from '../git/worktrees.ts'
import { currentRound, type Experiment } from '../ledger/state.ts'
import { experimentFolder, trashFolder, worktreePath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { diskSizeOf, unfinished } from './room.ts'
import { snapshot } from './seal.ts'
import { type Leftover, slotLeftovers } from './slot-leftovers.ts'

export interface Garbage {
  kind: 'worktree' | 'trash' | 'log' | 'leftover'
  experiment: string | null
  /** Relative to the root of the checkout. */
  path: string
  bytes: number
}

export interface GcAnswer {
  dry_run: boolean
  deleted: Garbage[]
  /** Worktrees that stay, and why. */
  kept: { experiment: string; why: string }[]
  /** What is in the trash and cannot be deleted, with the system's word for why (`EACCES`, …). */
  stuck: Obstacle[]
  bytes: number
  truncated: boolean
}

const NAMED = 200

/** Deletes nothing with `dryRun`, and says the same. Safe beside a running loop: what a lane works on stays. */
export async function collectGarbage(
  run: OpenRun,
  { dryRun }: { dryRun: boolean },
): Promise<Result<GcAnswer>> {
  const garbage: Garbage[] = trash(run)
  const kept: GcAnswer['kept'] = []
  for (const node of run.ledger.state.experiments.values()) {
    garbage.push(...workerLogs(run, node))
    const path = worktreePath(run.site, run.run, node.id)
    if (!existsSync(path)) continue
    const why = await neededBecause(run, node, path)
    if (why !== null) {
      kept.push({ experiment: node.id, why })
      continue
    }
    garbage.push({ kind: 'worktree', experiment: node.id, path: shown(run, path), bytes: diskSizeOf(path) })
    if (dryRun) continue
    const removed = await removeWorktree(run.site, path)
    if (!removed.ok) return removed
  }
  garbage.push(...(await slotLeftovers(run.site, { dryRun })).map((one) => leftover(run, one)))
  let stuck: Obstacle[] = []
  if (!dryRun) {
    for (const { kind, path } of garbage)
      if (kind === 'log') rmSync(join(run.site.root, path), { force: true })
    stuck = await emptyTrash(run.site)
  }
  return ok({
    dry_run: dryRun,
    deleted: garbage.slice(0, NAMED),
    kept: kept.slice(0, NAMED),
    stuck: stuck.slice(0, NAMED),
    bytes: garbage.reduce((sum, { bytes }) => sum + bytes, 0),
    truncated: garbage.length > NAMED || kept.length > NAMED,
  })
}

/** Why a worktree must stay; null when everything in it can be had again. */
async function neededBecause(run: OpenRun, node: Experiment, path: string): Promise<string | null> {
  const { state } = run.ledger
  const waits = unfinished(state, node)
  if (waits !== null) return waits
  const round = currentRound(state)
  if (round && node.created.round === round.round) return `its lane of round ${round.round} is running`
  if (`${run.cwd}${sep}`.startsWith(`${path}${sep}`)) return 'this command was started in it'
  return unsealed(run, node)
}

async function unsealed(run: OpenRun, node: Experiment): Promise<string | null> {
  const taken = await snapshot(run, node)
  if (!taken.ok) return taken.problem.message
  const { tree, parentTree, secrets } = taken.value
  if (secrets.length > 0) return `it holds ${secrets[0]?.path}, which is in no candidate`
  const known = tree === parentTree || node.attempts.some(({ sealed }) => sealed.tree === tree)
  return known ? null : 'it holds changes that were never sealed'
}

/** A worker's output matters until its verdict is there. */
function workerLogs(run: OpenRun, node: Experiment): Garbage[] {
  if (node.status === 'open' || node.status === 'running') return []
  const folder = experimentFolder(run.paths, node.id)
  return names(folder)
    .filter((name) => /^worker-.*\.log$/.test(name))
    .map((name) => {
      const path = join(folder, name)
      return { kind: 'log', experiment: node.id, path: shown(run, path), bytes: diskSizeOf(path) }
    })
}

const leftover = (run: OpenRun, { path, bytes }: Leftover): Garbage => ({
  kind: 'leftover',
  experiment: null,
  path: shown(run, path),
  bytes,
})

function trash(run: OpenRun): Garbage[] {
  const folder = trashFolder(run.site)
  return names(folder).map((name) => {
    const path = join(folder, name)
    return { kind: 'trash', experiment: null, path: shown(run, path), bytes: diskSizeOf(path) }
  })
}

const shown = (run: OpenRun, path: string): string => path.slice(run.site.root.length + 1)

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
