/** Whose commits those of `finish` are, by the user's own git. */
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { type GitOptions, git, gitFields, IDENTITY, type Identity } from './git.ts'

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
