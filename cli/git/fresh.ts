/** A repository that Assay makes itself. */
import { ok, type Result } from '../result.ts'
import { git } from './git.ts'

/**
 * Makes a folder that is in no repository of its own a repository with one commit of all that is in it. The user's
 * configuration has no say: no template, hook, signature or ignore rule.
 */
export async function commitFresh(folder: string, message: string): Promise<Result<void>> {
  const steps = [
    ['init', '--quiet', '--template=', '--initial-branch=main'],
    ['add', '--all'],
    ['commit', '--quiet', '--message', message],
  ]
  for (const step of steps) {
    const done = await git(step, { dir: folder })
    if (!done.ok) return done
  }
  return ok(undefined)
}
