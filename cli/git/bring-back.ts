import { mkdir, mkdtemp, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Site, trashFolder } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { Change } from './diff.ts'
import { git, nulTerminated } from './git.ts'
import { judging, withPrivateIndex } from './judge.ts'

/**
 * Undoes changes of a worktree that lead away from `tree`; nothing else in it is touched. Answers the folder in the trash
 * where what lay there is, by its paths, until that is emptied: it may have been a person's after all.
 */
export async function bringBack(
  site: Site,
  worktree: string,
  tree: string,
  changes: readonly Change[],
): Promise<Result<string>> {
  await mkdir(trashFolder(site), { recursive: true })
  const trash = await mkdtemp(join(trashFolder(site), 'undone-'))
  // What is gone is not looked for: the way to it may lead through a link by now.
  for (const { path, status } of changes) {
    if (status === 'D') continue
    await mkdir(dirname(join(trash, path)), { recursive: true })
    await rename(join(worktree, path), join(trash, path)).catch(() => {})
  }
  const wanted = changes.filter(({ status }) => status !== 'A').map(({ path }) => path)
  if (wanted.length === 0) return ok(trash)
  return withPrivateIndex(site, async (index) => {
    const options = judging(site, worktree, index)
    const read = await git(['read-tree', tree], options)
    if (!read.ok) return read
    const written = await git(['checkout-index', '-z', '--force', '--stdin'], {
      ...options,
      input: nulTerminated(wanted),
    })
    return written.ok ? ok(trash) : written
  })
}
