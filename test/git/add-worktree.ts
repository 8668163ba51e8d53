/** Started by a test, many at once: makes one worktree and ends. */
import { addWorktree } from '../../cli/git/worktrees.ts'
import { siteAt } from '../../cli/paths.ts'

const [root = '', path = '', commit = ''] = process.argv.slice(2)
const added = await addWorktree(siteAt(root), path, commit)
if (!added.ok) {
  process.stderr.write(`${added.problem.code}: ${added.problem.message}\n`)
  process.exitCode = 1
}
