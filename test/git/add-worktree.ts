/** Started by a test, many at once: says that it is ready, waits for the end of its input, makes one worktree. */
import { once } from 'node:events'
import { addWorktree } from '../../cli/git/worktrees.ts'
import { siteAt } from '../../cli/paths.ts'

const [root = '', path = '', commit = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
process.stdin.resume()
await once(process.stdin, 'end')
const added = await addWorktree(siteAt(root), path, commit)
if (!added.ok) {
  process.stderr.write(`${added.problem.code}: ${added.problem.message}\n`)
  process.exitCode = 1
}
