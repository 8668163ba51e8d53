/** The user's working tree as a commit of the store (`--include-dirty`); nothing of theirs is written. */
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { type Checkout, readStatus } from './checkout.ts'
import { type GitOptions, git, gitText, SNAPSHOT_SUBJECT } from './git.ts'
import { inStore, withPrivateIndex } from './judge.ts'
import { looksSecret } from './secrets.ts'
import { stagePaths } from './stage.ts'
import { importCommit, type Pinned, pinBase } from './store.ts'

export interface Snapshot extends Pinned {
  /** Not part of it, with the reason: untracked secrets, nested repositories, changed submodules. */
  leftOut: { path: string; reason: string }[]
}

/**
 * A commit on top of HEAD with the tracked changes and the untracked files that the user's own ignore rules let
 * through. HEAD itself when nothing differs. Problem `empty_repository` when there is no commit.
 */
export async function snapshotWorkingTree(
  site: Site,
  checkout: Checkout,
  at: Date,
): Promise<Result<Snapshot>> {
  const base = await importCommit(site, checkout)
  if (!base.ok) return base
  const status = await readStatus(checkout.top)
  if (!status.ok) return status
  if (status.value.head !== checkout.head) return fail(moved(checkout.top))
  const paths: string[] = []
  const leftOut: Snapshot['leftOut'] = []
  for (const { path, kind } of status.value.dirty) {
    const secret = kind === 'untracked' || kind === 'added' ? looksSecret(path) : null
    if (secret !== null) leftOut.push({ path, reason: `looks like a secret (${secret})` })
    else if (kind === 'submodule') leftOut.push({ path, reason: 'changed submodule' })
    else if (path.endsWith('/')) leftOut.push({ path, reason: 'repository inside the repository' })
    else paths.push(path)
  }
  if (paths.length === 0) return ok({ ...base.value, leftOut })
  const tree = await withPrivateIndex(site, async (index) => {
    // By the user's own git: its attributes and filters are those of their files. Objects go into the store.
    const { gitDir } = checkout
    const objects = join(site.store, 'objects')
    const options: GitOptions = {
      dir: checkout.top,
      gitDir,
      workTree: checkout.top,
      index,
      objects,
      config: 'user',
    }
    const read = await git(['read-tree', base.value.tree], options)
    if (!read.ok) return read
    const staged = await stagePaths(options, paths)
    return staged.ok ? gitText(['write-tree'], options) : staged
  })
  if (!tree.ok) return tree
  const commit = await gitText(['commit-tree', '-p', base.value.commit, '-m', SNAPSHOT_SUBJECT, tree.value], {
    ...inStore(site),
    date: at,
  })
  if (!commit.ok) return commit
  const pinned = await pinBase(site, commit.value)
  return pinned.ok ? ok({ ...pinned.value, leftOut }) : pinned
}

const moved = (top: string) =>
  ({
    kind: 'refused',
    code: 'checkout_moved',
    message: 'a commit or a switch of branches happened in your checkout while it was read',
    hint: 'repeat the command',
    at: top,
  }) as const
