/** What the store takes over from the user's configuration: how bytes on disk become bytes in a tree. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { Checkout } from './checkout.ts'
import { type GitOptions, git, gitFields, IDENTITY, type Identity } from './git.ts'

/** `transcrypt` is what the filter of that name reads. The filter of git-annex would move files into the user's annex. */
const TAKEN_OVER =
  /^(core\.(autocrlf|eol|symlinks|ignorecase|filemode|precomposeunicode)|filter\.(?!annex\.).+|(lfs|transcrypt)\..+)$/
/** For the git of agents in their worktrees alone. */
const FOR_AGENTS = /^(user\.(name|email)|core\.(attributesfile|excludesfile))$/
/** Without these git calls a partial clone corrupt: it must know that objects may be missing. */
const PARTIAL = /^(extensions\.partialclone|remote\..+\.(promisor|partialclonefilter))$/

/** Of the store itself: an agent that runs `git gc` in its worktree takes nothing that we may still need. */
const OWN: readonly [string, string][] = [
  ['gc.auto', '0'],
  ['gc.pruneExpire', 'never'],
  ['gc.worktreePruneExpire', 'never'],
  ['maintenance.auto', 'false'],
  // The user's key is not for commits of agents, and a prompt for its passphrase would hang them.
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
]

/** What of the user's configuration decides how files are converted, now. */
export async function conversionSettings(checkout: Checkout): Promise<Result<Map<string, string>>> {
  return settingsOf(checkout, TAKEN_OVER)
}

/** Writes the configuration of a fresh store. The clone's remote is removed. */
export async function copySettings(checkout: Checkout, store: string): Promise<Result<void>> {
  const file = join(store, 'config')
  const wanted = await settingsOf(checkout, new RegExp(`${TAKEN_OVER.source}|${FOR_AGENTS.source}`))
  if (!wanted.ok) return wanted
  // The clone wrote this section; 128 = there is none.
  const removed = await git(['config', '--file', file, '--remove-section', 'remote.origin'], {
    okCodes: [0, 128],
  })
  if (!removed.ok) return removed
  for (const [key, value] of [...OWN, ...wanted.value]) {
    const set = await git(['config', '--file', file, '--replace-all', key, value])
    if (!set.ok) return set
  }
  return ok(undefined)
}

async function settingsOf(checkout: Checkout, which: RegExp): Promise<Result<Map<string, string>>> {
  const listed = await gitFields(['config', '--list', '-z'], { dir: checkout.top, config: 'user' })
  if (!listed.ok) return listed
  const settings = new Map(settingsIn(listed.value, which))
  const lfs = join(checkout.commonDir, 'lfs')
  if (existsSync(lfs) && !settings.has('lfs.storage')) settings.set('lfs.storage', lfs)
  return ok(settings)
}

/** Entries of `config --list -z`: `key\nvalue`, or `key` alone for a bare true. The last one of a key wins. */
export function* settingsIn(entries: readonly string[], which: RegExp): Generator<[string, string]> {
  const isPartial = entries.some((entry) => /^(extensions\.partialclone|remote\..+\.promisor)\n/.test(entry))
  for (const entry of entries) {
    const cut = entry.indexOf('\n')
    const key = cut < 0 ? entry : entry.slice(0, cut)
    const value = cut < 0 ? 'true' : entry.slice(cut + 1)
    if (which.test(key) || (isPartial && PARTIAL.test(key))) yield [key, value]
  }
}

/** A file of git's with these settings; a key as `config --list` prints it. */
export function configText(settings: ReadonlyMap<string, string>): string {
  return [...settings]
    .map(([key, value]) => {
      const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')]
      const sub = first === last ? '' : ` "${key.slice(first + 1, last).replace(/[\\"]/g, '\\$&')}"`
      const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
      return `[${key.slice(0, first)}${sub}]\n\t${key.slice(last + 1)} = "${escaped}"\n`
    })
    .join('')
}

// ---------------------------------------------------------------- whose commits those of `finish` are, by the user's own git

export interface Committing {
  /** The user, when git knows name and address; else Assay. The author is always Assay, which made the change. */
  committer: Identity
  /** `commit.gpgSign`: OpenPGP, X.509 or ssh, as `gpg.format` says. */
  sign: boolean
}

/** As git in the user's checkout would commit. */
export async function committingOf(site: Site): Promise<Result<Committing>> {
  const options: GitOptions = { dir: site.root, config: 'user', okCodes: [0, 1] }
  const named = await gitFields(
    ['config', '-z', '--get-regexp', '^(user|committer)\\.(name|email)$'],
    options,
  )
  if (!named.ok) return named
  const known = new Map(named.value.map((entry) => [entry.split('\n')[0], entry.split('\n')[1]]))
  const name = known.get('committer.name') ?? known.get('user.name')
  const email = known.get('committer.email') ?? known.get('user.email')
  const asked = await git(['config', '-z', '--type=bool', '--get-all', 'commit.gpgSign'], options)
  if (!asked.ok) return asked
  const values = asked.value.toString('utf8').split('\0').slice(0, -1)
  // The last one is Assay's own, by which nothing else that it does is signed.
  const sign = values.at(-2) === 'true'
  return ok({ committer: name && email ? { name, email } : IDENTITY, sign })
}
