/** Makes a run: its folder, its frozen spec, its first events. It does not measure the baseline. */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { candidateRef, pinRef } from '../git/refs.ts'
import type { ItemSets } from '../judge/items.ts'
import type { Draft, HeldOutFile, RunStarted } from '../ledger/events.ts'
import { Ledger } from '../ledger/ledger.ts'
import { BASELINE } from '../ledger/state.ts'
import {
  experimentFolder,
  type RunPaths,
  runId,
  runPaths,
  runSpecCopy,
  type Site,
  trashFolder,
} from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { frozenHash, specHash } from '../spec/hash.ts'
import { knobsOf } from '../spec/knobs.ts'
import type { Spec } from '../spec/spec.ts'
import { type DataFile, digestOf, writeData } from './data.ts'
import { callsPerItem } from './items.ts'
import { machineNow } from './machine.ts'
import { type OpenRun, open, type Surroundings } from './open.ts'

export interface StartRequest {
  site: Site
  spec: Spec
  /** The user's own file, kept beside the frozen form. */
  specFile: string
  base: { commit: string; tree: string }
  checkout: string
  /** The spec's folder in the repository, `''` for its root. */
  prefix: string
  warnings: string[]
  /** `worktree.data`, hashed. */
  data: DataFile[]
  holdout: HeldOutFile | null
  /** Of a judged metric; null = the metric is not judged. */
  items: ItemSets | null
  /** See `freezeRules`. */
  rules: string
  /** The baseline is still to be built in its worktree, so nothing is sealed yet. */
  prepare: boolean
  /** Idempotency key of the `init`. */
  key: string | null
  /** See `RunStarted`. */
  narrowed?: RunStarted['narrowed'] | undefined
}

/** A crash in here leaves a folder without a first event (ignored from then on) or a run that `init` continues. */
export function startRun(world: Surroundings, request: StartRequest): Result<OpenRun> {
  const paths = claimRun(request.site)
  writeFileSync(paths.spec, JSON.stringify(request.spec))
  copyFileSync(request.specFile, runSpecCopy(paths))
  if (request.data.length > 0) writeData(paths, request.data)
  const ledger = Ledger.open(paths.ledger)
  if (!ledger.ok) return ledger
  const begun = first(ledger.value, firstEvent(paths.run, request), world.clock())
  if (!begun.ok) return begun
  return createBaseline(world, request.site, paths.run)
}

/** A run and its baseline, which an `init` that was interrupted between the two left out. */
export function createBaseline(world: Surroundings, site: Site, run: string): Result<OpenRun> {
  const opened = open(world, site, run)
  if (!opened.ok) return opened
  const { ledger, paths } = opened.value
  mkdirSync(experimentFolder(paths, BASELINE), { recursive: true })
  if (ledger.state.experiments.has(BASELINE)) return opened
  const created = first(ledger, BASELINE_CREATED, world.clock())
  return created.ok ? opened : created
}

function first(ledger: Ledger, draft: Draft, at: Date): Result<void> {
  const proposal = ledger.propose(draft, at)
  if (!proposal.ok) return proposal
  if (proposal.value.accepted) return ok(undefined)
  throw new Error(`a new ledger refused ${draft.type}: ${proposal.value.because.message}`)
}

/** The base itself is the baseline's candidate: pinned, so that the store keeps it for ever. */
export async function sealBase(run: OpenRun): Promise<Result<OpenRun>> {
  const { commit, tree } = run.started.base
  const pinned = await pinRef(run.site, candidateRef(run.run, BASELINE, 1), commit)
  if (!pinned.ok) return pinned
  const proposal = run.ledger.propose<'sealed'>(
    {
      type: 'sealed',
      experiment: BASELINE,
      attempt: 1,
      commit,
      tree,
      diff: { files: 0, added: 0, removed: 0 },
      left_out: [],
      secrets: [],
    },
    run.clock(),
  )
  return proposal.ok ? ok(run) : proposal
}

/** Withdraws a run whose baseline did not work: nothing of it stays, and its outputs are in the trash. */
export function withdrawRun(run: OpenRun): string {
  const trash = join(trashFolder(run.site), `${run.run}-${run.random(4)}`)
  mkdirSync(trashFolder(run.site), { recursive: true })
  renameSync(run.paths.folder, trash)
  return trash
}

export function removeState(site: Site): void {
  rmSync(site.state, { recursive: true, force: true })
}

function claimRun(site: Site): RunPaths {
  mkdirSync(site.runs, { recursive: true })
  for (let n = 1; ; n++) {
    const paths = runPaths(site, runId(n))
    if (existsSync(paths.folder)) continue
    try {
      mkdirSync(paths.folder)
      return paths
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

function firstEvent(run: string, request: StartRequest): Omit<RunStarted, 'v' | 'id' | 'at'> {
  const { spec, specFile, base, checkout, prefix, warnings, data, holdout, items, narrowed } = request
  const bytes = data.reduce((sum, file) => sum + file.bytes, 0)
  return {
    type: 'run_started',
    ...(request.key === null ? {} : { key: request.key }),
    run,
    name: spec.name,
    spec_hash: specHash(spec),
    frozen_hash: frozenHash(spec),
    base,
    checkout,
    prefix,
    spec_file: relative(checkout, specFile),
    metric: { name: spec.metric.name, direction: spec.metric.direction, target: spec.metric.target },
    seed: spec.search.seed,
    knobs: knobsOf(spec),
    warnings,
    machine: machineNow(),
    git_rules: request.rules,
    ...(narrowed && { narrowed }),
    ...(holdout && { holdout }),
    ...(items && { judge: { batch: items.batch, calls: callsPerItem(spec.judge) } }),
    ...(data.length > 0 && { data: { files: data.length, bytes, sha256: digestOf(data) } }),
  }
}

const BASELINE_CREATED = {
  type: 'created',
  experiment: BASELINE,
  parent: null,
  hypothesis: 'the baseline',
  round: null,
  lane: null,
  depth: null,
} as const
