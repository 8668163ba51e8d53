/** Whether the benchmark reads what candidates change: one sample with all of it emptied must not come out the same. */

import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, delimiter, dirname, join, relative } from 'node:path'
import { figure } from '../evaluate/figure.ts'
import { runPreparation } from '../evaluate/gates.ts'
import { showGiven } from '../evaluate/measure.ts'
import { median } from '../evaluate/stats.ts'
import { fileJson } from '../files.ts'
import type { Pinned } from '../git/store.ts'
import { filesWith, listTree } from '../git/trees.ts'
import type { Sample } from '../ledger/events.ts'
import { BASELINE } from '../ledger/state.ts'
import { scopeOfRun } from '../measure/data.ts'
import { doErrand, type ErrandKind } from '../measure/errand.ts'
import { sampleIn } from '../measure/session.ts'
import {
  clearCheckout,
  type LeasedSlot,
  leaseSlot,
  type Placed,
  placeCandidate,
  restoreCheckout,
} from '../measure/slot.ts'
import { readFacts, writeFacts } from '../measure/slot-facts.ts'
import { judgedCommit } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { canaryFolder, STATE_FOLDER, slotPath } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import { calibrationSamples, itemsToAnswer } from './baseline-samples.ts'
import { emptyArtifacts, lookApart, placeTwin } from './shared-build.ts'

// ----------------------------------------------------------------
// Why a benchmark may measure the user's own checkout in place of the candidate. Found by looking, never by
// running.

export interface Cause {
  message: string
  hint: string
}

/** The first of the usual causes that is there; null when none is. */
async function likelyCause(run: OpenRun, leased: LeasedSlot, tree: string): Promise<Result<Cause | null>> {
  const checkout = run.started.checkout
  const written = await absolutePath(run, tree, checkout)
  if (!written.ok || written.value) return written
  const slot = slotPath(leased.site, leased.slot, 'b')
  return ok(
    (await editableInstall(leased.environment, checkout, slot)) ??
      (await workspaceLink(checkout, slot, run.started.prefix)) ??
      variable(leased.environment, checkout),
  )
}

/** Path of the checkout in the command, or in a file that no candidate may change. */
async function absolutePath(run: OpenRun, tree: string, checkout: string): Promise<Result<Cause | null>> {
  const hint = `write it relative to the folder that the benchmark runs in, or as {worktree} in measure.command`
  if (JSON.stringify(run.spec.measure.command).includes(checkout))
    return ok({ message: `measure.command names your own checkout, ${checkout}`, hint })
  const files = await listTree(run.site, tree)
  if (!files.ok) return files
  const scope = scopeOfRun(run)
  const paths = files.value.map(({ path }) => path).filter((path) => scope(path) !== 'mutable')
  const found = await filesWith(run.site, tree, checkout, paths)
  if (!found.ok) return found
  const named = found.value.find((path) => basename(path) !== 'assay.yaml')
  return ok(named ? { message: `${named} names your own checkout, ${checkout}`, hint } : null)
}

const MOST_ENTRIES = 5000
const IN_STATE = `/${STATE_FOLDER}/`

/** Python: `pip install -e` leaves the path of the checkout in site-packages. */
async function editableInstall(
  environment: Record<string, string>,
  checkout: string,
  slot: string,
): Promise<Cause | null> {
  const roots = [environment.VIRTUAL_ENV, environment.CONDA_PREFIX]
  for (const top of [slot, checkout]) roots.push(...['.venv', 'venv', 'env'].map((name) => join(top, name)))
  for (const folder of (environment.PATH ?? '').split(delimiter)) roots.push(dirname(folder))
  roots.push(environment.HOME && join(environment.HOME, '.local'))
  for (const root of new Set(roots)) {
    if (!root) continue
    const lib = join(root, 'lib')
    for (const python of (await names(lib)).filter((name) => name.startsWith('python'))) {
      const packages = join(lib, python, 'site-packages')
      for (const name of await names(packages)) {
        if (!/\.(pth|egg-link)$|^__editable__/.test(name)) continue
        const text = await readFile(join(packages, name), 'utf8').catch(() => '')
        if (!pointsInto(text, checkout)) continue
        return {
          message: `an editable install points at your own checkout: ${join(packages, name)}`,
          hint: 'install in each checkout instead: make the virtual environment in worktree.setup, or put the folder of the sources first with PYTHONPATH: src under measure.environment.set',
        }
      }
    }
  }
  return null
}

/** Into the checkout, and not into the state folder in it, where candidates are. */
const pointsInto = (text: string, checkout: string): boolean =>
  text
    .split(checkout)
    .slice(1)
    .some((rest) => !rest.startsWith(IN_STATE))

/** Node: a link in `node_modules` that leads to the user's packages; without its own, node looks in the folders above. */
async function workspaceLink(checkout: string, slot: string, prefix: string): Promise<Cause | null> {
  const folders = [slot, join(slot, prefix), checkout, join(checkout, prefix)]
  for (const folder of new Set(folders)) {
    const modules = join(folder, 'node_modules')
    for (const link of await links(modules)) {
      const target = await realpath(join(modules, link)).catch(() => '')
      if (!target.startsWith(`${checkout}/`) || target.startsWith(`${checkout}${IN_STATE}`)) continue
      if (relative(checkout, target).split('/').includes('node_modules')) continue
      return {
        message: `node finds ${link} through ${join(modules, link)}, a link to ${relative(checkout, target)} in your own checkout`,
        hint: 'let each checkout have its own node_modules: worktree.setup: { command: npm ci, inputs: [package-lock.json] }',
      }
    }
  }
  return null
}

async function links(modules: string): Promise<string[]> {
  const found: string[] = []
  for (const name of (await names(modules)).slice(0, MOST_ENTRIES)) {
    const inner = name.startsWith('@')
      ? (await names(join(modules, name))).map((one) => `${name}/${one}`)
      : [name]
    for (const one of inner) {
      const entry = await lstat(join(modules, one)).catch(() => null)
      if (entry?.isSymbolicLink()) found.push(one)
    }
  }
  return found
}

/** The CLI prints only the name, never the value. */
function variable(environment: Record<string, string>, checkout: string): Cause | null {
  const found = Object.entries(environment).find(
    ([name, value]) => name !== 'PWD' && name !== 'OLDPWD' && pointsInto(value, checkout),
  )
  if (!found) return null
  return {
    message: `the variable ${found[0]} names your own checkout`,
    hint: `give it another value under measure.environment.set, with a path that is relative to the benchmark's folder`,
  }
}

const names = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** `reads`: it failed or said something else. `skipped`: it was not tried, or noise hides what was seen. */
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
  const base = judgedCommit(run, BASELINE)
  if (!base) throw new Error('the canary needs a baseline that holds')
  const node = nodeFor(run, BASELINE)
  if (!node.ok) return node
  const home = canaryFolder(run.paths)
  mkdirSync(home, { recursive: true })
  const about = 'the test whether the benchmark reads what candidates change'
  const given = { node: node.value, asked: null, candidates: [base] }
  const done = await doErrand(run, CANARY, { ...given, home, about })
  if (done.ok) return ok(remember(run, done.value.found))
  return done.problem.kind === 'interrupted' ? fail(interrupted) : done
}

export const CANARY: ErrandKind<null, CanaryFact> = {
  name: 'canary',
  take: async (run, { candidates: [base], folder }) => {
    if (!base) throw new Error('the canary needs a candidate')
    const leased = await leaseSlot(run)
    if (leased === null) return fail(interrupted)
    if (!leased.ok) return leased
    try {
      return await compareEmptied(run, leased.value, { base, folder })
    } finally {
      await restoreCheckout(run, leased.value, 'b', base)
      leased.value.release()
    }
  },
}

export const canaryFact = (run: Pick<OpenRun, 'paths'>): CanaryFact | null => fileJson(factFile(run))

const factFile = (run: Pick<OpenRun, 'paths'>) => join(canaryFolder(run.paths), 'fact.json')

function remember(run: OpenRun, fact: CanaryFact): CanaryFact {
  mkdirSync(canaryFolder(run.paths), { recursive: true })
  writeFileSync(factFile(run), JSON.stringify(fact))
  return fact
}

async function compareEmptied(
  run: OpenRun,
  leased: LeasedSlot,
  { base, folder }: { base: Pinned; folder: string },
): Promise<Result<CanaryFact>> {
  run.tell({ type: 'preparing', what: 'one sample with the mutable files emptied' })
  const before = calibrationSamples(run)
  const twin = await placeTwin(run, leased, base, folder)
  if (!twin.ok) return twin
  const at = { base, folder, before }
  let seen = await sampleEmptied(run, leased, at)
  if (seen.ok && seen.value.same && run.spec.worktree.build) {
    // What the baseline's build left may have been measured again: once more where nothing was ever built.
    const cleared = await clearCheckout(leased, 'b')
    if (!cleared.ok) return cleared
    seen = await sampleEmptied(run, leased, at)
  }
  if (!seen.ok) return seen
  if (!seen.value.same) {
    const apart = twin.value
      ? await lookApart(run, leased, { base, folder, twin: twin.value, before })
      : ok(null)
    if (!apart.ok) return apart
    const why = seen.value.why.slice(0, 200)
    return ok({ outcome: 'reads', why, ...(apart.value === null ? {} : { apart: apart.value }) })
  }
  const spread = run.spec.judge ? 0 : spreadOf(before)
  if (spread > TELLING) {
    const why = `with them emptied, the value differs no more than noise explains: equal code gives values up to ${figure(spread * 100)} % apart`
    return ok({ outcome: 'skipped', why })
  }
  const cause = await likelyCause(run, leased, base.tree)
  return cause.ok ? fail(blindBenchmark(run, seen.value, cause.value)) : cause
}

type Emptied = { same: false; why: string } | { same: true; value: number | null; files: number }

/** Empties the mutable files, builds, and takes a sample. */
async function sampleEmptied(
  run: OpenRun,
  leased: LeasedSlot,
  { base, folder, before }: { base: Pinned; folder: string; before: Sample[] },
): Promise<Result<Emptied>> {
  mkdirSync(join(folder, 'samples'), { recursive: true })
  const { build } = run.spec.worktree
  const placed = await placeCandidate(run, leased, 'b', base, { outputs: folder, builds: false })
  if (!placed.ok) return placed
  // From here on the checkout is not what was built, also when this process dies.
  writeFacts(leased, 'b', { ...readFacts(leased, 'b'), built: null })
  const emptied = await emptyMutable(run, slotPath(leased.site, leased.slot, 'b'), base.tree)
  if (!emptied.ok) return emptied
  const { folder: cwd, apart } = placed.value
  const { signal } = run
  const given = { ...leased.environment, ASSAY_ARTIFACTS: emptyArtifacts(folder) }
  const built =
    build &&
    (await runPreparation({
      ...build,
      ...showGiven(apart?.renew() ?? null, given, { writes: true }),
      name: 'build',
      cwd,
      folder,
      folders: [cwd],
      signal,
    }))
  if (built?.fault?.reason === 'aborted') return fail(interrupted)
  if (built?.fault) return ok({ same: false, why: built.fault.message })
  const items = await itemsToAnswer(run, base.tree)
  if (!items.ok) return items
  const sample = await takeSample(run, leased, placed.value, { folder, before, items: items.value })
  if (sample.fault?.reason === 'aborted') return fail(interrupted)
  if (sample.fault) return ok({ same: false, why: sample.fault.message })
  const { value } = sample
  if (sameAs(sample, before)) return ok({ same: true, value, files: emptied.value })
  const why = sample.answers ? 'its answers differ' : `${run.spec.metric.name} = ${figure(value)}`
  return ok({ same: false, why })
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

async function takeSample(
  run: OpenRun,
  leased: LeasedSlot,
  placed: Placed,
  { folder, before, items }: { folder: string; before: Sample[]; items: string[] | undefined },
): Promise<Sample> {
  const longest = Math.max(0, ...before.map(({ wall_ms }) => wall_ms))
  return sampleIn(run, leased, placed, {
    stage: 'check',
    side: 'candidate',
    pair: 0,
    seed: before[0]?.seed ?? SEED,
    folder,
    items,
    reference: before[0] ?? null,
    // A program without its files may hang; one that reads none of them is about as quick as the baseline.
    limitMs: Math.max(LEAST_LIMIT_MS, 4 * longest),
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
function sameAs({ value, answers }: Sample, before: Sample[]): boolean {
  if (answers) return before.some((one) => one.answers?.sha256 === answers.sha256)
  const values = before.flatMap((one) => (one.value === null ? [] : [one.value]))
  if (value === null || values.length === 0) return false
  const [least, most] = [Math.min(...values), Math.max(...values)]
  return value >= least - (most - least) && value <= most + (most - least)
}

const interrupted: Problem = {
  kind: 'interrupted',
  code: 'interrupted',
  message: 'init was interrupted while it tested whether the benchmark reads the mutable files',
  hint: next`run ${call('init')} again: what was measured is kept`,
}

function blindBenchmark(
  run: OpenRun,
  { value, files }: { value: number | null; files: number },
  cause: { message: string; hint: string } | null,
): Problem {
  const { mutable } = run.spec.scope
  return {
    kind: 'usage',
    code: 'blind_benchmark',
    message: `the benchmark does not read what candidates change: with every mutable file emptied (${files}), it still ${run.spec.judge ? 'gives the same answers' : `says ${run.spec.metric.name} = ${figure(value)}`}${cause ? `; ${cause.message}` : ''}`,
    hint: next`${cause?.hint ?? `let the benchmark use the files under ${mutable.slice(0, 3).join(', ')} of the folder it runs in, or correct scope.mutable`}; if the same value is right for empty files, say so: ${call('init', '--no-canary')}`,
    at: String(run.spec.measure.command),
    data: { value, files, cause: cause?.message ?? null },
  }
}
