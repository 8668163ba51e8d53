/** What is known of a measurement checkout. A process that is about to change the checkout first erases these facts. */

import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileStamp } from '../disk/inventory.ts'
import { fileJson } from '../files.ts'
import { listTree } from '../git/trees.ts'
import { type Site, slotFacts } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { RunRecord } from '../run/open.ts'
import { matchGlobs } from '../spec/rules.ts'
import type { GivenData } from './data.ts'

// ----------------------------------------------------------------
// The files of a measurement checkout that are not sealed: remembered, so that later leftovers can be told apart.

/** Path → stamp of every file and link; a folder ends with `/` only in the list of roots. */
export interface Manifest {
  /** Files, or whole folders that hold nothing sealed (`node_modules/`). */
  roots: string[]
  files: Record<string, string>
  /** Folders that hold nothing sealed; absent = they were not looked at. */
  folders?: string[]
}

export const EMPTY_MANIFEST: Manifest = { roots: [], files: {}, folders: [] }

function stampAt(path: string): string | null {
  try {
    return fileStamp(lstatSync(path))
  } catch {
    return null
  }
}

/** `paths`: as git lists them, relative to the checkout; a folder ends with `/`. */
export function takeManifest(checkout: string, paths: readonly string[]): Manifest {
  const files: Record<string, string> = {}
  for (const path of filesBelow(checkout, paths)) files[path] = stampAt(join(checkout, path)) ?? ''
  return { roots: [...paths], files }
}

/** The same with the folders that hold nothing sealed, also the empty ones, which git does not list. */
export function takeWhole(
  checkout: string,
  paths: readonly string[],
  { files, submodules }: { files: readonly string[]; submodules: readonly string[] },
): Manifest {
  const sealed = new Set(submodules)
  for (const path of files) {
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
      const folder = path.slice(0, cut)
      if (sealed.has(folder)) break
      sealed.add(folder)
    }
  }
  const manifest = takeManifest(checkout, paths)
  const roots = new Set(manifest.roots)
  const folders: string[] = []
  const open = ['']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const entry of entriesOf(join(checkout, path))) {
      const here = `${path}${entry.name}`
      if (!entry.isDirectory() || submodules.includes(here)) continue
      open.push(`${here}/`)
      if (sealed.has(here)) continue
      folders.push(here)
      if (!isBelow(`${here}/`, roots)) roots.add(`${here}/`)
    }
  }
  return { roots: [...roots], files: manifest.files, folders }
}

function isBelow(path: string, roots: ReadonlySet<string>): boolean {
  for (let cut = path.indexOf('/'); cut >= 0; cut = path.indexOf('/', cut + 1))
    if (roots.has(path.slice(0, cut + 1))) return true
  return false
}

/** Files of the manifest that are no longer as they were, or gone. */
export function drifted(checkout: string, { files }: Manifest): string[] {
  return Object.entries(files)
    .filter(([path, stamp]) => stampAt(join(checkout, path)) !== stamp)
    .map(([path]) => path)
}

function* filesBelow(checkout: string, paths: readonly string[]): Generator<string> {
  const stack = [...paths]
  for (let path = stack.pop(); path !== undefined; path = stack.pop()) {
    if (!path.endsWith('/')) {
      yield path
      continue
    }
    for (const entry of entriesOf(join(checkout, path))) {
      stack.push(`${path}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    }
  }
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

export interface SlotFacts {
  /** Key of the setup that was done there; null when there is none to rely on. */
  setup: string | null
  /** What setup left. */
  afterSetup: Manifest
  /** Key of the build that was done there. */
  built: string | null
  /** What setup and build left. */
  afterBuild: Manifest
  /** Digest of the artifacts that this build left. */
  artifacts: string | null
  data: GivenData
  /** The inode of the checkout that was made there; null when it is not known. */
  made: number | null
}

interface Slot {
  site: Site
  slot: number
}

export const UNKNOWN_SLOT: Readonly<SlotFacts> = {
  setup: null,
  afterSetup: EMPTY_MANIFEST,
  built: null,
  afterBuild: EMPTY_MANIFEST,
  artifacts: null,
  data: {},
  made: null,
}

export const readFacts = ({ site, slot }: Slot, place: 'a' | 'b'): SlotFacts => ({
  ...UNKNOWN_SLOT,
  ...fileJson<SlotFacts>(slotFacts(site, slot, place)),
})

export function writeFacts({ site, slot }: Slot, place: 'a' | 'b', facts: SlotFacts): void {
  const file = slotFacts(site, slot, place)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, JSON.stringify(facts))
  renameSync(`${file}.new`, file)
}

/** Called before a change: if the process dies meanwhile, only the identity of the checkout is known afterwards. */
export function forgetFacts(slot: Slot, place: 'a' | 'b'): void {
  const { made } = readFacts(slot, place)
  if (made !== null) writeFacts(slot, place, { ...UNKNOWN_SLOT, made })
  else rmSync(slotFacts(slot.site, slot.slot, place), { force: true })
}

// ---------------------------------------------------------------- when an earlier setup or build can be reused
// When an earlier setup or build can be reused: when the keys are equal.

/**
 * Setup depends on its command, its environment and the content of its inputs; without inputs, on the others alone. A
 * build depends on all that and on the whole tree. `inputs`: how many files of the tree are inputs of setup.
 */
export async function preparationKeys(
  run: Pick<RunRecord, 'spec' | 'started'>,
  { site, environment }: { site: Site; environment: Record<string, string> },
  tree: string,
): Promise<Result<{ setup: string; build: string; inputs: number }>> {
  const { setup, build } = run.spec.worktree
  const hash = createHash('sha256').update(
    JSON.stringify([setup?.command ?? null, run.started.prefix, environment]),
  )
  let inputs = 0
  if (setup && setup.inputs.length > 0) {
    const files = await listTree(site, tree)
    if (!files.ok) return files
    const oids = new Map(files.value.map(({ path, oid }) => [path, oid]))
    for (const { matched } of matchGlobs(setup.inputs, run.started.prefix, [...oids.keys()])) {
      inputs += matched.length
      for (const path of matched) hash.update(`${path}\0${oids.get(path)}\0`)
    }
  }
  const key = hash.digest('hex')
  return ok({
    setup: key,
    build: createHash('sha256')
      .update(JSON.stringify([key, tree, build?.command ?? null]))
      .digest('hex'),
    inputs,
  })
}
