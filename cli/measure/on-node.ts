/** What a job does on its node: measures an attempt or a confirmation, or does an errand, as a slot of the submitting machine would, and writes its folder alone. */
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'

import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { AS_LEFT } from '../disk/copy.ts'
import { removeTree } from '../disk/remove.ts'
import { claimJob, isClaimed, isWithdrawn, writeResult, writeWhole } from '../executor/job-folder.ts'
import { freeBytes } from '../files.ts'
import { BASELINE } from '../ledger/state.ts'
import { stepsDigest } from '../ledger/steps.ts'
import { seeLock } from '../lock/inspect.ts'
import { artifactsFolder, habitsFile, siteAt, slotLock, stepsFile } from '../paths.ts'
import { rememberSecrets } from '../redact.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { machineNow } from '../run/machine.ts'
import type { OpenRun, Surroundings } from '../run/open.ts'
import { listSizes } from './artifacts.ts'
import { collectEvidence, collectHeldOut } from './attempt.ts'
import { confirmOnNode } from './confirm.ts'
import {
  NODE_ARTIFACTS,
  NODE_HABITS,
  NODE_NOTE,
  NODE_RECORD,
  type NodeAnswer,
  type NodeNote,
} from './dispatch.ts'
import type { ErrandKind } from './errand.ts'

import { learnBest } from './later-best.ts'
import { HELD_OUT, holdsParcel, type Parcel, readParcel, unpackParcel } from './parcel.ts'
import { Recorder, RecordLost } from './steps.ts'
import { must } from './trial.ts'

/** Does the work of a folder. `errands`: the kinds that there are. Problem `no_parcel` when it is no folder of a job; `claimed` when another start of the same job has begun, or when no command waits for it: then nothing is done. */
export async function measureOnNode(
  world: Surroundings,
  folder: string,
  errands: readonly ErrandKind[],
): Promise<Result<{ key: string }>> {
  // The start that claimed a job removes its parcel.
  if (!holdsParcel(folder) && !isClaimed(folder) && !isWithdrawn(folder)) return fail(noParcel(folder))
  if (!claimJob(folder, Number(world.env.ASSAY_JOB_STARTS ?? 0))) return fail(claimed(folder))
  const parcel = readParcel(folder)
  const note: NodeNote = { node: nodeName(world.env), machine: machineNow({ libc: true }) }
  writeWhole(join(folder, NODE_NOTE), JSON.stringify(note))
  const began = world.clock().toISOString()
  const record = join(folder, NODE_RECORD)
  mkdirSync(record, { recursive: true })
  const answer = await whileWanted(world, folder, (until) => measured(until, parcel, { folder, errands }))
  const digest = stepsDigest(stepsFile(record))
  const steps = digest.ok ? digest.value : { sha256: '', lines: 0 }
  const { key, work } = parcel
  const ended = world.clock().toISOString()
  writeResult(folder, {
    v: 1,
    key,
    attempt: work.is === 'errand' ? 0 : work.is === 'confirmation' ? work.attempt : work.seal.attempt,
    steps,
    began,
    ended,
    outcome: answer.ok ? { ok: true, answer: answer.value } : { ok: false, problem: answer.problem },
  })
  return answer.ok ? ok({ key }) : answer
}

/** How often a job looks whether anybody waits for it. Rarely, because it does so beside samples. */
const WANTED_MS = 5000

/** Ends the work once the job is withdrawn: its engine may not be able to end it, or not know it. */
async function whileWanted<T>(
  world: Surroundings,
  folder: string,
  work: (world: Surroundings) => Promise<T>,
): Promise<T> {
  const withdrawn = new AbortController()
  const timer = setInterval(() => {
    if (isWithdrawn(folder)) withdrawn.abort()
  }, WANTED_MS)
  try {
    return await work({ ...world, signal: AbortSignal.any([world.signal, withdrawn.signal]) })
  } finally {
    clearInterval(timer)
  }
}

async function measured(
  world: Surroundings,
  parcel: Parcel,
  { folder, errands }: { folder: string; errands: readonly ErrandKind[] },
): Promise<Result<NodeAnswer>> {
  if (parcel.v !== 2) return fail(otherVersion)
  try {
    const cache = nodeCache(world.env)
    if (!cache.ok) return cache
    trimNodeCache(cache.value, { place: parcel.place, now: world.clock() })
    const unpacked = await unpackParcel(parcel, { folder, cache: cache.value })
    if (!unpacked.ok) return unpacked
    const { site, paths, ledger, node, work, started, spec, environment, secret } = unpacked.value
    rememberSecrets(environment, secret)
    const run: OpenRun = {
      ...world,
      cwd: site.root,
      // Isolation hides them: the ledger, and records, which tell what was measured so far.
      env: {
        ...environment,
        ASSAY_JOB_HIDES: JSON.stringify([...parcel.hides, cache.value, folder]),
        ...(parcel.submitter && { ASSAY_JOB_STATE: parcel.submitter }),
      },
      site,
      run: parcel.run,
      paths,
      ledger,
      started,
      spec,
      begun: spec,
      news: async () => must(await learnBest({ site, paths, ledger }, { folder, key: parcel.key })),
      heldOut: work.is === 'held_out' ? { file: join(folder, HELD_OUT), seal: work.cipher } : 'later',
    }
    const home = join(folder, NODE_RECORD)
    if (work.is === 'confirmation') {
      const found = await confirmOnNode(run, node, work, home)
      if (!found.ok) return found
      return world.signal.aborted ? fail(endedFromOutside) : ok({ artifacts: {} })
    }
    if (work.is === 'errand') {
      const kind = errands.find(({ name }) => name === work.name)
      if (!kind) return fail(otherVersion)
      const { asked, candidates } = work
      const found = await kind.take(run, { node, asked, candidates, folder: home })
      if (!found.ok) return found
      return world.signal.aborted ? fail(endedFromOutside) : ok({ artifacts: {}, found: found.value })
    }
    const { seal } = work
    const record = new Recorder(run, { experiment: node.id, folder: home })
    if (work.is === 'held_out') {
      const { paired, artifacts } = work
      const done = await collectHeldOut(run, node, seal, { record, paired })
      if (!done.ok) return done
      return world.signal.aborted ? fail(endedFromOutside) : ok({ artifacts })
    }
    const own = artifactsFolder(paths, node.id)
    const sent = await listSizes(own)
    const evidence = await collectEvidence(run, node, { seal, record }, async (one) => one)
    if (!evidence.ok) return evidence
    if (world.signal.aborted) return fail(endedFromOutside)
    const left = new Set((await listSizes(own)).map(({ path }) => path))
    const gone = sent.flatMap(({ path }) => (left.has(path) ? [] : [path]))
    if (spec.worktree.build !== null) cpSync(own, join(folder, NODE_ARTIFACTS), AS_LEFT)
    if (node.id === BASELINE && existsSync(habitsFile(paths)))
      cpSync(habitsFile(paths), join(folder, NODE_HABITS))
    const { artifacts, heldOutLater, differences } = evidence.value
    return ok({
      artifacts,
      gone,
      ...(heldOutLater && { heldOut: { paired: differences.judge !== undefined } }),
    })
  } catch (error) {
    if (error instanceof RecordLost) return fail(error.problem)
    const { code, message } = error as NodeJS.ErrnoException
    if (typeof code !== 'string') throw error
    return fail({
      kind: 'failed',
      code: 'node_failed',
      message: `the node could not measure: ${message}`,
      hint: 'free some space there, or set ASSAY_NODE_CACHE on the nodes to a folder that can be written',
    })
  } finally {
    rmSync(join(folder, HELD_OUT), { force: true })
  }
}

/** As the engine calls it. */
const nodeName = ({ ASSAY_JOB_NODE: named }: NodeJS.ProcessEnv): string => named || hostname()

/** Where repositories stay on this node, so that a later job of the run need not set up again. */
function nodeCache(env: NodeJS.ProcessEnv): Result<string> {
  const folder = env.ASSAY_NODE_CACHE || join(tmpdir(), `assay-node-${process.getuid?.() ?? 'user'}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())) {
    writeFileSync(
      join(folder, 'README'),
      'Repositories that jobs of Assay measure in. It may be deleted when none runs.\n',
    )
    return ok(folder)
  }
  return fail({
    kind: 'refused',
    code: 'node_cache',
    message: `${folder} belongs to another user`,
    hint: 'set ASSAY_NODE_CACHE on the nodes to a folder of your own',
  })
}

const claimed = (folder: string): Problem => ({
  kind: 'refused',
  code: 'claimed',
  message: 'a start of this job has begun to measure, or nobody waits for it: nothing is measured twice',
  hint: 'run the experiment again: that is a new attempt with a job of its own',
  at: folder,
})

const noParcel = (folder: string): Problem => ({
  kind: 'refused',
  code: 'no_parcel',
  message: 'this is no folder of a job: it has no parcel.json, which says what to measure',
  hint: 'jobs of an executor start this command themselves; if one did, see whether this machine has the file system of executor.folder at the same path',
  at: folder,
})

const otherVersion: Problem = {
  kind: 'refused',
  code: 'other_version',
  message: 'the job was packed by another version of Assay than the one that its node has',
  hint: 'repeat the command: then it is packed again',
}

const endedFromOutside: Problem = {
  kind: 'interrupted',
  code: 'job_ended',
  message: 'the job was ended from outside, by the engine or by a person',
  hint: 'raise executor.limit if it took too long; else repeat the command',
}

// ---------------------------------------------------------------- what jobs of earlier runs left in the cache of a node

const DAY_MS = 24 * 3600 * 1000
/** Longer than a run rests, usually. What is removed is made again by the next job. */
const UNUSED_MS = 14 * DAY_MS
/** With less space than that on the disk, a place that was used before this day is removed as well, the oldest first. */
const LITTLE = 4 * 1024 ** 3

/** Removes places of other runs that were not used for long. `place`: the one that is used now. */
export function trimNodeCache(cache: string, { place, now }: { place: string; now: Date }): void {
  const own = join(cache, place)
  mkdirSync(own, { recursive: true, mode: 0o700 })
  utimesSync(own, now, now)
  for (const { path, used } of placesIn(cache, place)) {
    const unused = now.getTime() - used
    if (unused < DAY_MS) break
    const isNeeded = unused < UNUSED_MS && (freeBytes(cache) ?? LITTLE) >= LITTLE
    if (!isNeeded && !isMeasuredIn(path)) removeTree(path)
  }
}

/** The one that was used longest ago first. */
function placesIn(cache: string, own: string): { path: string; used: number }[] {
  return readdirSync(cache)
    .filter((name) => /^r-[0-9a-f]{12}$/.test(name) && name !== own)
    .flatMap((name) => {
      const path = join(cache, name)
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found?.isDirectory() ? [{ path, used: found.mtimeMs }] : []
    })
    .sort((one, other) => one.used - other.used)
}

function isMeasuredIn(path: string): boolean {
  const site = siteAt(path)
  const slots = dirname(slotLock(site, 0))
  return (
    existsSync(slots) &&
    readdirSync(slots).some(
      (name) => /^\d+$/.test(name) && seeLock(slotLock(site, Number(name))).state === 'alive',
    )
  )
}
