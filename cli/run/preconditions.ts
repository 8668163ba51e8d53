/** What `init` checks before it makes anything: the spec, the user's checkout, the base commit, the globs. */

import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { type Checkout, emptyRepository, inspectCheckout } from '../git/checkout.ts'
import { addExclude, addStateIgnore, removeExclude } from '../git/exclude.ts'
import { ignoredAmong } from '../git/observe.ts'
import { annexedPaths, refuseUnusable, tryFilters } from '../git/repository.ts'
import { freezeRules } from '../git/rules.ts'
import { createStore, importCommit, snapshotWorkingTree } from '../git/store.ts'
import { listTree, type TreeEntry } from '../git/trees.ts'
import { call, next } from '../next.ts'
import { rootForInit, type Site, SPEC_FILE, siteAt } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { checkGlobs, type GlobReport } from '../spec/globs.ts'
import { readSpecFile } from '../spec/read.ts'
import { type GlobMatch, matchGlobs, scopeOf } from '../spec/rules.ts'
import type { Spec } from '../spec/spec.ts'
import { warningsOf } from '../spec/warnings.ts'
import { cachePaths, collectData } from './data.ts'
import { findHoldout } from './holdout.ts'
import { itemsForInit } from './items.ts'
import type { Surroundings } from './open.ts'
import { removeState, type StartRequest } from './start.ts'

// ---------------------------------------------------------------- the rules of git that a run is begun with, and what of the repository they do not bring into checkouts

export const OUT_OF_ANNEX =
  'take it out with `git annex unannex`, commit that, let .gitignore name it, and name it under worktree.data'

const counted = (paths: readonly string[]): string =>
  paths.length > 3 ? `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(', ')

/** Frozen before a run exists, and tried: a filter that does not work in our checkouts must not leave half a run. */
async function rulesFor(
  site: Site,
  checkout: Checkout,
  { tree, files }: { tree: string; files: TreeEntry[] },
): Promise<Result<{ rules: string; warnings: string[] }>> {
  const rules = await freezeRules(site, checkout, files)
  if (!rules.ok) return rules
  const tried = await tryFilters({ ...site, rules: rules.value }, checkout, { tree }, files)
  if (!tried.ok) return tried
  const warnings = tried.value.map(
    ({ path, filter }) =>
      `${path} has different content in Assay's checkouts than in yours: git's filter "${filter}" works differently there`,
  )
  const annexed = existsSync(join(checkout.commonDir, 'annex'))
    ? await annexedPaths(site, tree, files)
    : ok([])
  if (!annexed.ok) return annexed
  if (annexed.value.length > 0)
    warnings.push(
      `the content of ${counted(annexed.value)} is in git-annex, and in no checkout of Assay's; if the benchmark reads it: ${OUT_OF_ANNEX}`,
    )
  return ok({ rules: rules.value, warnings })
}

export interface Preconditions extends Omit<StartRequest, 'checkout' | 'prepare' | 'key' | 'narrowed'> {
  checkout: Checkout
  /** Every file of the base. */
  paths: string[]
  globs: GlobReport
  dataGlobs: GlobMatch[]
  /** Takes back what this call made, when no run came of it. */
  undo: () => Promise<void>
}

export interface PreconditionsRequest {
  spec: string | null
  includeDirty: boolean
  /** The benchmark is still to be built, so uncommitted work in scope is no contradiction. */
  prepare: boolean
  /** As given to `--holdout`. */
  holdout: string | null
  /** What is in the store already, in place of the checkout; absent = the checkout is the base. */
  base?: { commit: string; tree: string } | undefined
}

export async function checkPreconditions(
  world: Surroundings,
  request: PreconditionsRequest,
): Promise<Result<Preconditions>> {
  const inspected = await inspectCheckout(world.cwd)
  if (!inspected.ok) return inspected
  const checkout = inspected.value
  if (checkout.head === null) return fail(emptyRepository(checkout.top))
  const specFile = findSpec(world.cwd, checkout.top, request.spec)
  const read = readSpecFile(specFile)
  if (!read.ok) return read
  const { spec, text } = read.value
  const prefix = prefixOf(checkout.top, specFile)
  const isOfCheckout = !request.includeDirty && !request.prepare && request.base === undefined
  const dirty = isOfCheckout ? dirtyInScope(checkout, spec, { prefix, specFile }) : null
  if (dirty) return fail(dirty)
  const holdout =
    request.holdout === null
      ? ok(null)
      : await findHoldout(world.env, request.holdout, world.cwd, checkout.top)
  if (!holdout.ok) return holdout
  if (spec.judge && holdout.value !== null)
    return fail({
      kind: 'usage',
      code: 'judged_holdout',
      message: 'a judged metric is not tried on a held-out file: it holds out items of its own',
      hint: 'leave --holdout out; judge.holdout says which share of the items is held out',
    })
  const site = siteAt(rootForInit(checkout, checkout.bare))
  const usable = await refuseUnusable(site, checkout)
  if (!usable.ok) return usable
  const undo = await makeState(site, checkout)
  if (!undo.ok) return undo
  const found = await lookAround(world, request, { site, checkout, spec, text, prefix, specFile })
  if (found.ok) {
    const place = { site, checkout, spec, specFile, prefix, holdout: holdout.value }
    return ok({ ...place, ...found.value, undo: undo.value })
  }
  await undo.value()
  return found
}

interface Place extends Pick<Preconditions, 'site' | 'checkout' | 'spec' | 'prefix' | 'specFile'> {
  text: string
}

/** The base, and what the globs mean there. */
async function lookAround(
  world: Surroundings,
  { includeDirty, prepare, base }: PreconditionsRequest,
  { site, checkout, spec, text, prefix, specFile }: Place,
): Promise<
  Result<
    Pick<Preconditions, 'base' | 'rules' | 'warnings' | 'paths' | 'globs' | 'data' | 'dataGlobs' | 'items'>
  >
> {
  const based = base
    ? ok({ ...base, warnings: [] })
    : await baseIn(site, checkout, includeDirty, world.clock())
  if (!based.ok) return based
  const { commit, tree, warnings } = based.value
  const files = await listTree(site, tree)
  if (!files.ok) return files
  const ruled = await rulesFor(site, checkout, { tree, files: files.value })
  if (!ruled.ok) return ruled
  const paths = files.value.map(({ path }) => path)
  const source = { text, file: specName(specFile, checkout.top) }
  const globs = checkGlobs(source, prefix, paths)
  if (!globs.ok) return globs
  const untracked = checkout.dirty.filter(({ kind }) => kind === 'untracked').map(({ path }) => path)
  const data = await collectData({
    site,
    top: checkout.top,
    prefix,
    globs: spec.worktree.data,
    tracked: new Set(paths),
    untracked: new Set(untracked),
  })
  if (!data.ok) return data
  const cache = await refuseSources(checkout.top, spec, prefix, paths)
  if (!cache.ok) return cache
  const items = await itemsForInit({ site, tree, prefix }, spec, paths, prepare)
  if (!items.ok) return items
  return ok({
    base: { commit, tree },
    items: items.value,
    rules: ruled.value.rules,
    paths,
    globs: globs.value,
    data: data.value.files,
    dataGlobs: data.value.globs,
    warnings: [
      ...warningsOf(spec),
      // What is immutable may be just what is still to be built.
      ...(prepare ? [] : globs.value.warnings),
      ...warnings,
      ...ruled.value.warnings,
      ...data.value.dead.map((glob) => `${glob} under worktree.data matches no file yet`),
      ...inGit(data.value.globs.filter(({ glob }) => !data.value.dead.includes(glob))),
    ],
  })
}

/** A data glob that matches only what git has is no mistake that stops anything. */
const inGit = (globs: GlobMatch[]): string[] =>
  globs
    .filter(({ matched }) => matched.length === 0)
    .map(
      ({ glob }) => `${glob} under worktree.data matches only files that are in git: the line has no effect`,
    )

function findSpec(cwd: string, top: string, given: string | null): string {
  if (given !== null) return resolve(cwd, given)
  for (let folder = cwd; ; folder = dirname(folder)) {
    const file = join(folder, SPEC_FILE)
    if (existsSync(file) || folder === top || folder === dirname(folder)) return file
  }
}

/** Globs count from the spec's folder when that is in the repository, else from its root. */
function prefixOf(top: string, specFile: string): string {
  const path = relative(top, dirname(specFile))
  return path.startsWith('..') || resolve(path) === path ? '' : path.split(sep).join('/')
}

const specName = (file: string, top: string): string => {
  const path = relative(top, file)
  return path.startsWith('..') ? file : path
}

/** Work that is not committed would be missing from the base, so the run would measure something else. */
function dirtyInScope(
  checkout: Checkout,
  spec: Spec,
  { prefix, specFile }: { prefix: string; specFile: string },
): Problem | null {
  const specPath = specName(specFile, checkout.top)
  const scope = scopeOf(spec.scope, prefix, specPath)
  const dirty = checkout.dirty.map(({ path }) => path)
  const data = new Set(matchGlobs(spec.worktree.data, prefix, dirty).flatMap(({ matched }) => matched))
  const paths = dirty.filter((path) => path !== specPath && !data.has(path) && scope(path) !== 'outside')
  if (paths.length === 0) return null
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : ''
  return {
    kind: 'refused',
    code: 'dirty_scope',
    message: `not committed, and in the scope of the spec: ${paths.slice(0, 5).join(', ')}${more}`,
    hint: next`commit them, or measure the working tree as it is: ${call('init', '--include-dirty')}`,
    at: checkout.top,
    data: { paths },
  }
}

/** Makes the store and the exclude line if they are missing; answers how to take back exactly that. */
async function makeState(site: Site, checkout: Checkout): Promise<Result<() => Promise<void>>> {
  const isNew = !existsSync(site.state)
  const excluded = await addExclude(checkout.commonDir)
  if (!excluded.ok) return excluded
  const undo = async () => {
    if (isNew) removeState(site)
    if (excluded.value.added) await removeExclude(checkout.commonDir)
  }
  const ignored = await addStateIgnore(site)
  const made = ignored.ok ? await createStore(site, checkout) : ignored
  if (made.ok) return ok(undo)
  await undo()
  return made
}

async function baseIn(
  site: Site,
  checkout: Checkout,
  includeDirty: boolean,
  at: Date,
): Promise<Result<{ commit: string; tree: string; warnings: string[] }>> {
  if (!includeDirty) {
    const imported = await importCommit(site, checkout)
    return imported.ok ? ok({ ...imported.value, warnings: [] }) : imported
  }
  const taken = await snapshotWorkingTree(site, checkout, at)
  if (!taken.ok) return taken
  return ok({
    ...taken.value,
    warnings: taken.value.leftOut.map(({ path, reason }) => `${path} is not part of the base: ${reason}`),
  })
}

/**
 * Problem `cache_not_ignored` for a path that git has, or would add: sources of a candidate would then come from the
 * baseline's build. `tracked`: every file of the base.
 */
export async function refuseSources(
  top: string,
  spec: Spec,
  prefix: string,
  tracked: readonly string[],
): Promise<Result<void>> {
  const paths = cachePaths(spec, prefix)
  if (paths.length === 0) return ok(undefined)
  // A rule like `out/` is about folders, and the folder may not be there yet.
  const ignored = await ignoredAmong(top, [...paths, ...paths.map((path) => `${path}/`)])
  if (!ignored.ok) return ignored
  for (const path of paths) {
    const source = tracked.find((one) => one === path || one.startsWith(`${path}/`))
    if (source === undefined && (ignored.value.has(path) || ignored.value.has(`${path}/`))) continue
    return fail({
      kind: 'usage',
      code: 'cache_not_ignored',
      message: `worktree.cache names ${path}, which git ${source === undefined ? 'does not ignore' : `has a file of: ${source}`}`,
      hint:
        source === undefined
          ? `add ${path} to .gitignore and commit that`
          : 'name the folder of the outputs alone, and let git ignore it',
      data: { path },
    })
  }
  return ok(undefined)
}
