/** What lies in a measurement checkout beside the sealed files: remembered, and told apart from what was left there since. */
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { stampOf } from '../disk/inventory.ts'

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
    return stampOf(lstatSync(path))
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
