import { mkdir, mkdtemp, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type Site, trashFolder } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { Change } from './diff.ts'
import { git, nulTerminated } from './git.ts'
import { judging, withPrivateIndex } from './judge.ts'

/**
 * Undoes changes of a worktree that lead away from `tree`; nothing else in it is touched. What lay there is in the trash
 * until that is emptied: it may have been a person's after all.
 */
export async function bringBack(
  site: Site,
  worktree: string,
  tree: string,
  changes: readonly Change[],
): Promise<Result<void>> {
  await mkdir(trashFolder(site), { recursive: true })
  const trash = await mkdtemp(join(trashFolder(site), 'undone-'))
  // What is gone is not looked for: the way to it may lead through a link by now.
  for (const [index, { path, status }] of changes.entries())
    if (status !== 'D') await rename(join(worktree, path), join(trash, String(index))).catch(() => {})
  const wanted = changes.filter(({ status }) => status !== 'A').map(({ path }) => path)
  if (wanted.length === 0) return ok(undefined)
  return withPrivateIndex(site, async (index) => {
    const options = judging(site, worktree, index)
    const read = await git(['read-tree', tree], options)
    if (!read.ok) return read
    const written = await git(['checkout-index', '-z', '--force', '--stdin'], {
      ...options,
      input: nulTerminated(wanted),
    })
    return written.ok ? ok(undefined) : written
  })
}
