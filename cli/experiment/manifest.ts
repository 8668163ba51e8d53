/** What lies in a measurement checkout beside the sealed files: remembered, told apart from what was left there since, and swept. */
import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Path → stamp of every file and link; a folder ends with `/` only in the list of roots. */
export interface Manifest {
  /** Files, or whole folders that hold nothing sealed (`node_modules/`). */
  roots: string[]
  files: Record<string, string>
}

export const EMPTY_MANIFEST: Manifest = { roots: [], files: {} }

/** Size, inode and change time: the change time cannot be set by a program, so a file that was written is seen. */
function stampOf(path: string): string | null {
  try {
    const { size, ino, ctimeMs, mode } = lstatSync(path)
    return `${size} ${ino} ${ctimeMs} ${mode}`
  } catch {
    return null
  }
}

/** `paths`: as git lists them, relative to the checkout; a folder ends with `/`. */
export function takeManifest(checkout: string, paths: readonly string[]): Manifest {
  const files: Record<string, string> = {}
  for (const path of filesBelow(checkout, paths)) files[path] = stampOf(join(checkout, path)) ?? ''
  return { roots: [...paths], files }
}

/** Files of the manifest that are no longer as they were, or gone. */
export function drifted(checkout: string, { files }: Manifest): string[] {
  return Object.entries(files)
    .filter(([path, stamp]) => stampOf(join(checkout, path)) !== stamp)
    .map(([path]) => path)
}

/** Removes what is listed now and was not there then, so that no run finds what an earlier one left. */
export function sweep(checkout: string, { files }: Manifest, paths: readonly string[]): void {
  for (const path of filesBelow(checkout, paths)) {
    if (!Object.hasOwn(files, path)) rmSync(join(checkout, path), { recursive: true, force: true })
  }
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
