/** Whether the benchmark reads what candidates change: one sample with all of it emptied must not come out the same. */
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { figure } from '../evaluate/figure.ts'
import { runPreparation } from '../evaluate/gates.ts'
import { takeSample } from '../evaluate/measure.ts'
import { median } from '../evaluate/stats.ts'
import { listTree } from '../git/files.ts'
import type { Sample } from '../ledger/events.ts'
import { BASELINE } from '../ledger/state.ts'
import { canaryFolder, slotDesk, slotPath } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { calibrationSamples } from './baseline-values.ts'
import {
  type Bench,
  clearCheckout,
  openBench,
  type Placed,
  placeCandidate,
  restoreCheckout,
} from './bench.ts'
import { blindCause } from './blind.ts'
import { scopeOfRun } from './scope.ts'
import { lookApart, placeTwin } from './shared-build.ts'
import { readFacts, writeFacts } from './slot-facts.ts'
import { keptCommit } from './worktree.ts'

/** `reads`: it failed or said something else. `skipped`: nobody looked, or noise hides what was seen. */
export interface CanaryFact {
  outcome: 'reads' | 'skipped'
  why: string
  /** What speaks against the two checkouts being apart, and is no proof. */
  apart?: string
}

/** Metrics that Assay takes from the candidate itself, whatever the benchmark reads. */
const OF_THE_TREE = ['source_bytes', 'diff_lines']
const SEED = 1

/** Problem `blind_benchmark`, with the likely cause; it is remembered that the benchmark does read. */
export async function checkCanary(run: OpenRun, { skip }: { skip: boolean }): Promise<Result<CanaryFact>> {
  const known = canaryFact(run)
  if (known) return ok(known)
  if (skip) return ok(remember(run, { outcome: 'skipped', why: '--no-canary' }))
  if (OF_THE_TREE.includes(run.spec.metric.name))
    return ok(remember(run, { outcome: 'skipped', why: `${run.spec.metric.name} is taken from the files` }))
  const base = keptCommit(run, BASELINE)
  if (!base) throw new Error('the canary needs a baseline that holds')
  const bench = await openBench(run).catch((error: unknown) => {
    if (!run.signal.aborted) throw error
    return fail(interrupted)
  })
  if (!bench.ok) return bench
  try {
    return await sing(run, bench.value, base)
  } finally {
    await restoreCheckout(run, bench.value, 'b', base)
    bench.value.release()
  }
}

export function canaryFact(run: Pick<OpenRun, 'paths'>): CanaryFact | null {
  try {
    return JSON.parse(readFileSync(factFile(run), 'utf8')) as CanaryFact
  } catch {
    return null
  }
}

const factFile = (run: Pick<OpenRun, 'paths'>) => join(canaryFolder(run.paths), 'fact.json')

function remember(run: OpenRun, fact: CanaryFact): CanaryFact {
  mkdirSync(canaryFolder(run.paths), { recursive: true })
  writeFileSync(factFile(run), JSON.stringify(fact))
  return fact
}

async function sing(run: OpenRun, bench: Bench, base: Base): Promise<Result<CanaryFact>> {
  run.tell({ type: 'preparing', what: 'one sample with the mutable files emptied' })
  const before = calibrationSamples(run)
  const twin = await placeTwin(run, bench, base)
  if (!twin.ok) return twin
  let heard = await listen(run, bench, base, before)
  if (heard.ok && heard.value.same && run.spec.worktree.build) {
    // What the baseline's build left may have been measured again: once more where nothing was ever built.
    const cleared = await clearCheckout(run, bench, 'b')
    if (!cleared.ok) return cleared
    heard = await listen(run, bench, base, before)
  }
  if (!heard.ok) return heard
  if (!heard.value.same) {
    const apart = twin.value ? await lookApart(run, bench, base, twin.value, before) : ok(null)
    if (!apart.ok) return apart
    const why = heard.value.why.slice(0, 200)
    return ok(
      remember(run, { outcome: 'reads', why, ...(apart.value === null ? {} : { apart: apart.value }) }),
    )
  }
  const spread = spreadOf(before)
  if (spread > TELLING) {
    const why = `emptied, they make no difference that noise could not hide: equal code gives values up to ${figure(spread * 100)} % apart`
    return ok(remember(run, { outcome: 'skipped', why }))
  }
  const cause = await blindCause(run, bench, base.tree)
  return cause.ok ? fail(blind(run, heard.value, cause.value)) : cause
}

interface Base {
  commit: string
  tree: string
}

type Heard = { same: false; why: string } | { same: true; value: number | null; files: number }

/** Empties the mutable files, builds, and takes a sample. */
async function listen(run: OpenRun, bench: Bench, base: Base, before: Sample[]): Promise<Result<Heard>> {
  const folder = canaryFolder(run.paths)
  mkdirSync(join(folder, 'samples'), { recursive: true })
  const { build } = run.spec.worktree
  const unbuilt = { ...run, spec: { ...run.spec, worktree: { ...run.spec.worktree, build: null } } }
  const placed = await placeCandidate(unbuilt, bench, 'b', base, { outputs: folder })
  if (!placed.ok) return placed
  // From here on the checkout is not what was built, also when this process dies.
  writeFacts(run, bench, 'b', { ...readFacts(run, bench, 'b'), built: null })
  const emptied = await emptyMutable(run, slotPath(run.site, bench.slot, 'b'), base.tree)
  if (!emptied.ok) return emptied
  const { folder: cwd, apart } = placed.value
  const isolation = apart?.renew()
  const { environment } = bench
  const { signal } = run
  const built =
    build &&
    (await runPreparation({
      ...build,
      name: 'build',
      cwd,
      environment,
      folder,
      folders: [cwd],
      isolation,
      signal,
    }))
  if (built?.fault?.reason === 'aborted') return fail(interrupted)
  if (built?.fault) return ok({ same: false, why: built.fault.message })
  const sample = await sampleEmptied(run, bench, placed.value, folder, before)
  if (sample.fault?.reason === 'aborted') return fail(interrupted)
  if (sample.fault) return ok({ same: false, why: sample.fault.message })
  const { value } = sample
  if (sameAs(sample, before)) return ok({ same: true, value, files: emptied.value })
  return ok({ same: false, why: `${run.spec.metric.name} = ${figure(value)}` })
}

/** Regular files only: writing through a link would reach something else. Answers how many. */
async function emptyMutable(run: OpenRun, top: string, tree: string): Promise<Result<number>> {
  const files = await listTree(run.site, tree)
  if (!files.ok) return files
  const scope = scopeOfRun(run)
  const mutable = files.value.filter(({ path, mode }) => mode.startsWith('100') && scope(path) === 'mutable')
  for (const { path } of mutable) {
    if (lstatSync(join(top, path), { throwIfNoEntry: false })?.isFile()) writeFileSync(join(top, path), '')
  }
  return ok(mutable.length)
}

const LEAST_LIMIT_MS = 5000

async function sampleEmptied(
  run: OpenRun,
  bench: Bench,
  placed: Placed,
  folder: string,
  before: Sample[],
): Promise<Sample> {
  const { measure, metric, tasks } = run.spec
  const longest = Math.max(0, ...before.map(({ wall_ms }) => wall_ms))
  return takeSample({
    // A program without its files may hang; to be blind it has to be about as quick as the baseline.
    config: { ...measure, timeoutMs: Math.min(measure.timeoutMs, Math.max(LEAST_LIMIT_MS, 4 * longest)) },
    metric,
    aggregate: tasks.aggregate,
    checkout: placed.folder,
    folder,
    stage: 'check',
    side: 'candidate',
    pair: 0,
    seed: before[0]?.seed ?? SEED,
    slot: bench.slot,
    desk: slotDesk(run.site, bench.slot),
    environment: bench.environment,
    isolation: placed.apart?.renew(),
    reference: before[0] ?? null,
    signal: run.signal,
  })
}

/** Of the median: a value that lies among others which are further apart may have come from anything. */
const TELLING = 1 / 3

/** From the least to the largest value, as a part of the median; infinite around 0. */
function spreadOf(samples: Sample[]): number {
  const values = samples.flatMap(({ value }) => value ?? [])
  const range = Math.max(...values) - Math.min(...values)
  return range === 0 ? 0 : range / Math.abs(median(values))
}

/** Within the baseline's own values, widened by their spread: a noisy number is never quite the same. */
function sameAs({ value }: Sample, before: Sample[]): boolean {
  const values = before.flatMap((one) => (one.value === null ? [] : [one.value]))
  if (value === null || values.length === 0) return false
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return value >= least - (most - least) && value <= most + (most - least)
}

const interrupted: Problem = {
  kind: 'interrupted',
  code: 'interrupted',
  message: 'init was interrupted while it looked whether the benchmark reads the mutable files',
  hint: 'run assay init again: what was measured is kept',
}

function blind(
  run: OpenRun,
  { value, files }: { value: number | null; files: number },
  cause: { message: string; hint: string } | null,
): Problem {
  const { mutable } = run.spec.scope
  return {
    kind: 'usage',
    code: 'blind_benchmark',
    message: `the benchmark does not read what candidates change: with all ${files} mutable files emptied it still says ${run.spec.metric.name} = ${figure(value)}${cause ? `; ${cause.message}` : ''}`,
    hint: `${cause?.hint ?? `let the benchmark use the files under ${mutable.slice(0, 3).join(', ')} of the folder it runs in, or correct scope.mutable`}; if the same value is right for empty files, say so: assay init --no-canary`,
    at: String(run.spec.measure.command),
    data: { value, files, cause: cause?.message ?? null },
  }
}
