/** Puts files from disk into a private index. */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { ok, type Result } from '../result.ts'
import { type GitOptions, git, nulTerminated } from './git.ts'

export type Presence = 'file' | 'folder' | 'repository' | 'gone'

/** What stands at a path, without looking through symbolic links in front of it. */
export async function presence(top: string, path: string): Promise<Presence> {
  const parts = path.split('/')
  let place = top
  for (const [n, part] of parts.entries()) {
    place = join(place, part)
    const found = await lstat(place).catch(() => null)
    if (!found) return 'gone'
    if (n < parts.length - 1) {
      if (!found.isDirectory()) return 'gone'
    } else if (found.isDirectory()) {
      const own = await lstat(join(place, '.git')).catch(() => null)
      return own ? 'repository' : 'folder'
    }
  }
  return 'file'
}

/**
 * Makes the index say what the disk says about these paths: added, changed, or removed when nothing (or a folder) is
 * there. Contents go into the object database of `options`, through the filters of its configuration.
 */
export async function stagePaths(options: GitOptions, paths: readonly string[]): Promise<Result<void>> {
  const there: string[] = []
  const gone: string[] = []
  for (const path of paths) {
    const list = (await presence(options.workTree ?? '', path)) === 'file' ? there : gone
    list.push(path)
  }
  if (gone.length > 0) {
    const removed = await git(['update-index', '-z', '--force-remove', '--stdin'], {
      ...options,
      input: nulTerminated(gone),
    })
    if (!removed.ok) return removed
  }
  if (there.length > 0) {
    const added = await git(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], {
      ...options,
      input: nulTerminated(there),
    })
    if (!added.ok) return added
  }
  return ok(undefined)
}
