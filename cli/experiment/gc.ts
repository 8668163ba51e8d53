/** `gc`: deletes what is no longer needed. Never a candidate, a ref or a record: an experiment consists of these. */
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { keepOnly, strangersIn } from '../disk/keep-only.ts'
import { type Obstacle, removeTree } from '../disk/remove.ts'
import { namesIn } from '../files.ts'
import { packStore } from '../git/store.ts'
import { commitAt, emptyTrash, removeWorktrees } from '../git/worktrees.ts'
import { currentRound, type Experiment } from '../ledger/state.ts'
import { seeLock, tryHold } from '../lock.ts'
import { diskSizeOf, unfinished } from '../measure/disk-space.ts'
import { endedJobFolders } from '../measure/dispatch.ts'
import { keptSetups } from '../measure/kept-setup.ts'
import { isSealedByStat, snapshot } from '../measure/seal.ts'
import { expectedFiles } from '../measure/slot.ts'
import { readFacts } from '../measure/slot-facts.ts'
import {
  experimentFolder,
  listRuns,
  runPaths,
  type Site,
  slotLock,
  slotPath,
  trashFolder,
  worktreePath,
} from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { readData } from '../run/data.ts'
import type { OpenRun } from '../run/open.ts'

// ----------------------------------------------------------------
// What a killed measurement left in checkouts where no process measures now: the next measurement would remove it, but
// on a full disk none can begin.

export interface Leftover {
  path: string
  bytes: number
}

/** Removes it, unless `dryRun`. A checkout that is not the one that was made is left alone. */
export async function slotLeftovers(site: Site, { dryRun }: { dryRun: boolean }): Promise<Leftover[]> {
  const found: Leftover[] = []
  for (const slot of slotsOf(site)) {
    // A dry run takes no lock, because a lock is written to the disk.
    const hold = dryRun ? null : tryHold(slotLock(site, slot))
    if (hold ? !hold.held : seeLock(slotLock(site, slot)).state === 'alive') continue
    try {
      for (const place of ['a', 'b'] as const) found.push(...(await inCheckout(site, slot, place, dryRun)))
    } finally {
      if (hold?.held) hold.release()
    }
  }
  return found
}

async function inCheckout(site: Site, slot: number, place: 'a' | 'b', dryRun: boolean): Promise<Leftover[]> {
  const path = slotPath(site, slot, place)
  const facts = readFacts({ site, slot }, place)
  const top = lstatSync(path, { throwIfNoEntry: false })
  const commit = await commitAt(site, path)
  if (!top?.isDirectory() || facts.made === null || top.ino !== facts.made || commit === null) return []
  const { afterSetup, afterBuild } = facts
  const keep = await expectedFiles(site, commit, {
    roots: [],
    files: { ...afterSetup.files, ...afterBuild.files },
    folders: [...(afterSetup.folders ?? []), ...(afterBuild.folders ?? [])],
    data: [...dataOfAnyRun(site)],
  })
  if (!keep.ok) return []
  const strange = strangersIn(path, keep.value).map((one) => ({ path: one, bytes: diskSizeOf(one) }))
  if (!dryRun && strange.length > 0) keepOnly(path, keep.value)
  return strange
}

const dataOfAnyRun = (site: Site): Set<string> =>
  new Set(listRuns(site).flatMap((run) => readData(runPaths(site, run)).map(({ path }) => path)))

function slotsOf(site: Site): number[] {
  const folder = dirname(slotLock(site, 0))
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

export interface Garbage {
  kind: 'worktree' | 'trash' | 'log' | 'leftover' | 'setup' | 'job'
  experiment: string | null
  /** Relative to the root of the checkout; absolute when it lies elsewhere. */
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
  const stuck: Obstacle[] = []
  const unneeded: string[] = []
  for (const node of run.ledger.state.experiments.values()) {
    garbage.push(...workerLogs(run, node))
    const jobs = endedJobFolders(run, node)
    garbage.push(...jobs.map((path) => ofJob(run, node, path)))
    if (!dryRun) stuck.push(...jobs.flatMap((path) => removeTree(path) ?? []))
    const path = worktreePath(run.site, run.run, node.id)
    if (!existsSync(path)) continue
    const why = await neededBecause(run, node, path)
    if (why !== null) {
      kept.push({ experiment: node.id, why })
      continue
    }
    garbage.push({ kind: 'worktree', experiment: node.id, path: shown(run, path), bytes: diskSizeOf(path) })
    unneeded.push(path)
  }
  if (!dryRun) await removeWorktrees(run.site, unneeded)
  garbage.push(...(await slotLeftovers(run.site, { dryRun })).map((one) => leftover(run, one)))
  garbage.push(...setups(run))
  if (!dryRun) {
    const left = keptSetups(run.site).flatMap((path) => removeTree(path) ?? [])
    for (const { kind, path } of garbage)
      if (kind === 'log') rmSync(join(run.site.root, path), { force: true })
    stuck.push(...left, ...(await emptyTrash(run.site)))
    await packStore(run.site)
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

/** Why a worktree must stay; null when everything in it can be restored from the record. */
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
  if (await isSealedByStat(run, node)) return null
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
  return namesIn(folder)
    .filter((name) => /^worker-.*\.log$/.test(name))
    .map((name) => {
      const path = join(folder, name)
      return { kind: 'log', experiment: node.id, path: shown(run, path), bytes: diskSizeOf(path) }
    })
}

/** What came of the attempt is in its record. */
const ofJob = (run: OpenRun, { id }: Experiment, path: string): Garbage => ({
  kind: 'job',
  experiment: id,
  path: shown(run, path),
  bytes: diskSizeOf(path),
})

const leftover = (run: OpenRun, { path, bytes }: Leftover): Garbage => ({
  kind: 'leftover',
  experiment: null,
  path: shown(run, path),
  bytes,
})

/** The next `new` runs the setup again. */
const setups = (run: OpenRun): Garbage[] =>
  keptSetups(run.site).map((path) => ({
    kind: 'setup',
    experiment: null,
    path: shown(run, path),
    bytes: diskSizeOf(path),
  }))

function trash(run: OpenRun): Garbage[] {
  const folder = trashFolder(run.site)
  return namesIn(folder).map((name) => {
    const path = join(folder, name)
    return { kind: 'trash', experiment: null, path: shown(run, path), bytes: diskSizeOf(path) }
  })
}

const shown = (run: OpenRun, path: string): string =>
  path.startsWith(`${run.site.root}${sep}`) ? path.slice(run.site.root.length + 1) : path
