/** Whether the baseline depends on folders above it (the user's `node_modules`, a configuration): one sample in a temporary folder. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, readdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { tailOf } from '../evaluate/command.ts'
import { figure } from '../evaluate/figure.ts'
import { fileJson, fileText } from '../files.ts'
import { listTree } from '../git/trees.ts'
import { addWorktree, dropRegistration, registrations } from '../git/worktrees.ts'
import { BASELINE } from '../ledger/state.ts'
import { costOf } from '../measure/cost.ts'
import { sampleIn } from '../measure/session.ts'
import { type LeasedSlot, leaseSlot, placeCandidate } from '../measure/slot.ts'
import { judgedCommit } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { canaryFolder, type Site, STATE_FOLDER, slotPath } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { calibrationSamples, isFarFromBaseline } from './baseline-samples.ts'

// ----------------------------------------------------------------
// What a program finds in the folders above a measurement checkout: the user's own files, as they are at
// that moment.

/** Names that programs look for on their way up. */
const SOUGHT =
  /^(?:node_modules|\.env(?:\..+)?|package\.json|\.npmrc|\.yarnrc.*|\.pnp\..*|pnpm-workspace\.yaml|tsconfig.*\.json|jsconfig\.json|\.(?:babel|eslint|swc|mocha|postcss|browserslist|prettier)rc.*|(?:babel|vite|vitest|jest|eslint|postcss|tailwind)\.config\..+|biome\.jsonc?|deno\.jsonc?|bunfig\.toml|\.venv|venv|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|conftest\.py|\.python-version|\.tool-versions|mise\.toml|\.envrc|\.nvmrc|\.node-version|\.ruby-version|Gemfile|\.bundle|vendor|Cargo\.toml|\.cargo|rust-toolchain.*|go\.(?:mod|work)|WORKSPACE.*|MODULE\.bazel|\.bazelrc|settings\.gradle.*|gradle\.properties|\.mvn|pom\.xml|Directory\.Build\..+|global\.json|NuGet\.config|build\.sbt|composer\.json|mix\.exs|\.clang-.+|compile_commands\.json|\.editorconfig)$/i

/**
 * Paths above the checkouts that a walk up may find and that no checkout has at its own top: what is not committed in the
 * folder of the run, and in the folders above that only what programs are known to look for.
 */
async function foundAbove(run: OpenRun, tree: string): Promise<Result<string[]>> {
  const listed = await listTree(run.site, tree)
  if (!listed.ok) return listed
  const committed = new Set(listed.value.map(({ path }) => path.split('/')[0] ?? ''))
  const own = await readdir(run.site.root).catch(() => [])
  const found = own
    .filter((name) => name !== '.git' && name !== STATE_FOLDER && !committed.has(name))
    .map((name) => join(run.site.root, name))
  for (let at = dirname(run.site.root); ; at = dirname(at)) {
    for (const name of await readdir(at).catch(() => []))
      if (SOUGHT.test(name) && !committed.has(name)) found.push(join(at, name))
    if (at === dirname(at)) return ok(found)
  }
}

export interface Above {
  message: string
  hint: string
}

/** The one that most likely made the difference: what the failing program named, then packages, then the rest. */
async function causeAbove(paths: readonly string[], said: string, checkout: string): Promise<Above> {
  const known = (name: RegExp) => paths.filter((path) => name.test(path))
  const [modules] = known(/\/node_modules$/)
  const setup =
    'let each checkout have its own: worktree.setup: { command: npm ci, inputs: [package-lock.json] }'
  if (modules !== undefined) {
    const link = await linkInto(modules, checkout)
    const through = link === null ? '' : `, where ${link.name} leads to ${link.target} in your own checkout`
    return {
      message: `node finds ${modules} above the measurement checkouts${through}: what you install or edit there changes what is measured`,
      hint: setup,
    }
  }
  const named = paths.find((path) => said.includes(path.slice(path.lastIndexOf('/') + 1)))
  const likely = named ?? paths.find((path) => SOUGHT.test(path.slice(path.lastIndexOf('/') + 1))) ?? paths[0]
  return {
    message:
      likely === undefined
        ? 'it uses files of yours in the folders above the measurement checkouts, and these may change during the run'
        : `${likely} lies above the measurement checkouts, where programs look for it: what you change there changes what is measured`,
    hint: 'commit what the benchmark needs, name it under worktree.data, or let worktree.setup make it in each checkout',
  }
}

/** A package that is a link to sources of the user, as npm and pnpm make them for a workspace. */
async function linkInto(modules: string, checkout: string): Promise<{ name: string; target: string } | null> {
  const real = await realpath(checkout).catch(() => checkout)
  const names = await readdir(modules).catch(() => [])
  for (const name of names.slice(0, 5000)) {
    const inner = name.startsWith('@')
      ? (await readdir(join(modules, name)).catch(() => [])).map((one) => `${name}/${one}`)
      : [name]
    for (const one of inner) {
      const entry = await lstat(join(modules, one)).catch(() => null)
      if (!entry?.isSymbolicLink()) continue
      const target = relative(real, await realpath(join(modules, one)).catch(() => '/'))
      if (!target.startsWith('..') && !target.split('/').includes('node_modules'))
        return { name: one, target }
    }
  }
  return null
}

/** Setup and build are paid once more for it. Longer than this they are not worth it. */
const LONGEST_BUILD_MS = 60_000

interface OutsideFact {
  /** For people; null when it makes no difference, or was not checked. */
  warning: string | null
}

/** What was found, for `init` to tell; also by a later command. */
export function outsideWarnings(run: Pick<OpenRun, 'paths'>): string[] {
  const { warning } = fileJson<OutsideFact>(factFile(run)) ?? { warning: null }
  return warning === null ? [] : [warning]
}

/**
 * Looks once. `isolated`: samples see no folder above their checkout, so there is nothing to look for. Nothing is spent
 * either when no file of the user's lies there, or when jobs measure, whose checkouts are not in the repository. A difference is remembered as a warning, never a refusal.
 */
export async function lookOutside(run: OpenRun, { isolated }: { isolated: boolean }): Promise<Result<void>> {
  const base = judgedCommit(run, BASELINE)
  if (!base || fileJson<OutsideFact>(factFile(run))) return ok(undefined)
  if (isolated || liveSpec(run).executor) return ok(remember(run, { warning: null }))
  const above = await foundAbove(run, base.tree)
  if (!above.ok) return above
  const cost = costOf(run)
  const temporary = realpathSync(tmpdir())
  const inside = !relative(realpathSync(run.site.root), temporary).startsWith('..')
  if (above.value.length === 0 || inside || (cost?.build_ms ?? 0) > LONGEST_BUILD_MS)
    return ok(remember(run, { warning: null }))
  const leased = await leaseSlot(run)
  if (leased === null) return fail(interrupted)
  if (!leased.ok) return leased
  try {
    const found = await sampleThere(run, leased.value, base, temporary)
    if (!found.ok) return found
    if (found.value === null) return ok(remember(run, { warning: null }))
    const { what, said } = found.value
    const { message, hint } = await causeAbove(above.value, said, run.started.checkout)
    return ok(
      remember(run, { warning: `in a checkout outside of the repository ${what}: ${message}; ${hint}` }),
    )
  } finally {
    leased.value.release()
  }
}

interface Difference {
  /** `the baseline fails (…)`. */
  what: string
  said: string
}

async function sampleThere(
  run: OpenRun,
  leased: LeasedSlot,
  base: { commit: string; tree: string },
  temporary: string,
): Promise<Result<Difference | null>> {
  run.tell({ type: 'preparing', what: 'one sample of the baseline outside of the repository' })
  const state = mkdtempSync(join(temporary, 'assay-outside-'))
  const site: Site = { ...run.site, state }
  const path = slotPath(site, leased.slot, 'b')
  try {
    // Registered in the real place, under its lock; from then on only this folder is touched.
    const added = await addWorktree(run.site, path, base.commit)
    if (!added.ok) return added
    const outputs = join(state, 'outputs')
    mkdirSync(join(outputs, 'samples'), { recursive: true })
    // What is isolated does not see the folders above the repository's checkouts, so it is not looked at here.
    const outside = { ...leased, site, isolation: null }
    const placed = await placeCandidate(run, outside, 'b', base, { outputs })
    if (!placed.ok) return placed
    const { setup, build } = placed.value
    if (run.signal.aborted) return fail(interrupted)
    if (setup || build) {
      const step = setup ? 'setup' : 'build'
      return ok({
        what: `worktree.${step} fails (${(setup ?? build)?.message})`,
        said: (fileText(join(outputs, `${step}.out`)) ?? '').slice(-65_536),
      })
    }
    const before = calibrationSamples(run)
    const at = { stage: 'check', side: 'candidate', pair: 0, seed: before[0]?.seed ?? 1 } as const
    const sample = await sampleIn(run, outside, placed.value, { ...at, folder: outputs })
    if (run.signal.aborted) return fail(interrupted)
    if (sample.fault)
      return ok({
        what: `the baseline fails (${sample.fault.message.slice(0, 200)})`,
        said: [sample.stderr, sample.stdout].map((name) => tailOf(join(outputs, name), 4000)).join('\n'),
      })
    if (!isFarFromBaseline(sample, before)) return ok(null)
    return ok({
      what: `${run.spec.metric.name} is ${figure(sample.value)} and not ${figure(before[0]?.value ?? null)}`,
      said: '',
    })
  } finally {
    rmSync(state, { recursive: true, force: true })
    const [left] = (await registrations(run.site)).filter((one) => one.path === path)
    if (left) await dropRegistration(run.site, left.folder)
  }
}

const factFile = (run: Pick<OpenRun, 'paths'>) => join(canaryFolder(run.paths), 'outside.json')

function remember(run: OpenRun, fact: OutsideFact): void {
  mkdirSync(canaryFolder(run.paths), { recursive: true })
  writeFileSync(factFile(run), JSON.stringify(fact))
}

const interrupted = {
  kind: 'interrupted',
  code: 'interrupted',
  message: 'init was interrupted while it measured the baseline outside of the repository',
  hint: next`run ${call('init')} again: what was measured is kept`,
} as const
