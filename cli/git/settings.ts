/** What the store takes over from the user's configuration: how bytes on disk become bytes in a tree. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ok, type Result } from '../result.ts'
import type { Checkout } from './checkout.ts'
import { git, gitFields } from './git.ts'

const TAKEN_OVER =
  /^(core\.(autocrlf|eol|symlinks|ignorecase|filemode|precomposeunicode)|filter\..+|lfs\..+)$/
/** Without these git calls a partial clone corrupt: it must know that objects may be missing. */
const PARTIAL = /^(extensions\.partialclone|remote\..+\.(promisor|partialclonefilter))$/

/** Of the store itself: an agent that runs `git gc` in its worktree takes nothing that we may still need. */
const OWN: readonly [string, string][] = [
  ['gc.auto', '0'],
  ['gc.pruneExpire', 'never'],
  ['gc.worktreePruneExpire', 'never'],
  ['maintenance.auto', 'false'],
]

/** Writes the configuration of a fresh store. The clone's remote is removed. */
export async function copySettings(checkout: Checkout, store: string): Promise<Result<void>> {
  const file = join(store, 'config')
  const listed = await gitFields(['config', '--list', '-z'], { dir: checkout.top, config: 'user' })
  if (!listed.ok) return listed
  // The clone wrote this section; 128 = there is none.
  const removed = await git(['config', '--file', file, '--remove-section', 'remote.origin'], {
    okCodes: [0, 128],
  })
  if (!removed.ok) return removed
  const settings = new Map<string, string>(OWN)
  for (const [key, value] of wanted(listed.value)) settings.set(key, value)
  const lfs = join(checkout.commonDir, 'lfs')
  if (existsSync(lfs) && !settings.has('lfs.storage')) settings.set('lfs.storage', lfs)
  for (const [key, value] of settings) {
    const set = await git(['config', '--file', file, '--replace-all', key, value])
    if (!set.ok) return set
  }
  return ok(undefined)
}

/** Entries of `config --list -z`: `key\nvalue`, or `key` alone for a bare true. The last one of a key wins. */
function* wanted(entries: readonly string[]): Generator<[string, string]> {
  const isPartial = entries.some((entry) => /^(extensions\.partialclone|remote\..+\.promisor)\n/.test(entry))
  for (const entry of entries) {
    const cut = entry.indexOf('\n')
    const key = cut < 0 ? entry : entry.slice(0, cut)
    const value = cut < 0 ? 'true' : entry.slice(cut + 1)
    if (TAKEN_OVER.test(key) || (isPartial && PARTIAL.test(key))) yield [key, value]
  }
}
