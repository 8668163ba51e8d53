/** What a checkout of ours lacks and the user's own has: the usual reason why a benchmark works there only. */
import { hollowPaths } from '../git/hollow.ts'
import { OUT_OF_ANNEX } from '../run/ground.ts'
import type { OpenRun } from '../run/open.ts'

/** For people, a line each. */
export async function whatCheckoutsLack(run: OpenRun): Promise<string> {
  const { prefix, base } = run.started
  const lines = [
    'a candidate is measured in a checkout that has only what is committed: files that are not committed come with --include-dirty; what is installed or built, with worktree.setup and worktree.build',
  ]
  if (prefix !== '') lines.push(`commands run in ${prefix}, the folder of the spec`)
  const hollow = await hollowPaths(run.site, base.tree)
  if (!hollow.ok) return lines.join('\n')
  const { submodules, pointers, annexed } = hollow.value
  if (submodules.length > 0) {
    lines.push(
      `submodules are empty there (${listed(submodules)}) until worktree.setup fills them: git submodule update --init`,
    )
  }
  if (pointers.length > 0) {
    lines.push(
      `pointers of git-lfs instead of the data: ${listed(pointers)}; install git-lfs, then: git lfs install && git lfs pull`,
    )
  }
  if (annexed.length > 0)
    lines.push(`the content of ${listed(annexed)} is in git-annex, and not there; ${OUT_OF_ANNEX}`)
  return lines.join('\n')
}

const listed = (paths: readonly string[]): string =>
  paths.length > 3 ? `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(', ')
