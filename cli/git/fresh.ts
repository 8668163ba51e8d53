/** A repository that Assay makes itself. */
import { ok, type Result } from '../result.ts'
import { porcelain } from './porcelain.ts'

/**
 * Makes a folder that is in no repository of its own a repository with one commit of all that is in it. The user's
 * configuration has no say: no template, hook, signature or ignore rule.
 */
export async function commitFresh(folder: string, message: string): Promise<Result<void>> {
  const made = await porcelain(folder, async (git) => {
    await git.init(['--quiet', '--template=', '--initial-branch=main'])
    await git.add(['--all'])
    await git.commit(message)
  })
  return made.ok ? ok(undefined) : made
}
