import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { snapshotTree } from '../rig/snapshot.ts'
import { makeTemp } from '../rig/temp.ts'
import { hook, makeProject, ms, type NewData, type Project, type RunData } from './project.ts'

const OURS = ['.assay', '.git/info/exclude']

/** A user in the middle of something: staged, changed, untracked, ignored files, a stash, hooks, another branch. */
function busyUser(): Project {
  const project = makeProject({ files: { '.gitignore': '*.log\n', 'docs/a.md': 'a\n', 'docs/b.md': 'b\n' } })
  const { repo } = project
  repo.git('branch', 'other')
  repo.git('tag', 'v1')
  repo.write({ 'docs/a.md': 'stashed\n' })
  repo.git('stash')
  repo.write({ 'docs/a.md': 'staged\n' })
  repo.git('add', 'docs/a.md')
  repo.write({
    'docs/a.md': 'staged, then changed\n',
    'docs/b.md': 'changed\n',
    'new.txt': 'mine\n',
    'x.log': 'log\n',
  })
  repo.write({ '.git/hooks/post-checkout': { text: '#!/bin/sh\ntouch hook-ran\n', mode: 0o755 } })
  repo.write({ '.git/hooks/pre-commit': { text: '#!/bin/sh\ntouch hook-ran\nexit 1\n', mode: 0o755 } })
  return project
}

function times(project: Project): number[] {
  return ['.git/index', '.git/HEAD', 'docs/a.md', 'src/metrics.txt', 'bench/run.sh'].map(
    (path) => lstatSync(project.repo.path(path)).mtimeMs,
  )
}

test('init, new, run, discard, gc or a reading verb changes the checkout or the repository of the user', async () => {
  const project = busyUser()
  const before = { tree: snapshotTree(project.repo.dir, { except: OURS }), times: times(project) }
  const exclude = project.repo.read('.git/info/exclude')
  await project.data('init')
  const first = await project.attempt(ms(90))
  await project.attempt(ms(80), first.experiment)
  const failed = await project.attempt({ ...ms(1), ...hook('echo x > bench/run.sh; exit 3') })
  await project.data('discard', failed.experiment, '--reason', 'no use')
  await project.data('prune', first.experiment, '--reason', 'no use')
  await project.data('gc')
  await project.data('doctor', '--fix')
  for (const args of [
    ['status'],
    ['tree'],
    ['report'],
    ['show', 'exp_0001'],
    ['diff', 'exp_0001'],
    ['frontier'],
  ])
    await project.data(...args)
  const after = { tree: snapshotTree(project.repo.dir, { except: OURS }), times: times(project) }
  expect(after).toEqual(before)
  expect(project.repo.read('.git/info/exclude')).toBe(`${exclude}/.assay/\n`)
})

test('a user who commits, switches the branch and edits meanwhile moves the base of the run, or loses the edit', async () => {
  const project = makeProject()
  await project.data('init')
  const opened = await project.open(ms(90))
  project.repo.git('switch', '--quiet', '--create', 'elsewhere')
  project.repo.commit('work of the user', { ...ms(70), 'src/more.txt': 'more\n' })
  project.repo.write(ms(60))
  const before = snapshotTree(project.repo.dir, { except: OURS })
  expect(await project.data('run', opened.experiment)).toMatchObject({ status: 'kept', parent_value: 100 })
  const next = await project.open(ms(95))
  expect(existsSync(join(next.worktree, 'src/more.txt'))).toBe(false)
  expect(await project.data('run', next.experiment)).toMatchObject({ value: 95, parent_value: 100 })
  expect(snapshotTree(project.repo.dir, { except: OURS })).toEqual(before)
})

describe('an agent in its worktree', () => {
  let project: Project
  let opened: NewData
  let answer: RunData
  let before: Record<string, string>
  let home: Record<string, string>
  const homeFolder = () => String(project.repo.env.HOME)

  beforeAll(async () => {
    project = busyUser()
    const remote = makeTemp('remote')
    execFileSync('git', ['init', '--quiet', '--bare', remote], { env: project.repo.env })
    project.repo.git('remote', 'add', 'origin', remote)
    await project.data('init')
    opened = await project.open({})
    before = { ...snapshotTree(project.repo.dir, { except: ['.assay'] }), ...snapshotTree(remote) }
    home = snapshotTree(homeFolder())
    const script = join(makeTemp(), 'agent.sh')
    writeFileSync(script, AGENT)
    chmodSync(script, 0o755)
    execFileSync(script, { cwd: opened.worktree, env: project.repo.env, stdio: 'pipe' })
    answer = await project.data<RunData>('run', opened.experiment)
    expect({ ...snapshotTree(project.repo.dir, { except: ['.assay'] }), ...snapshotTree(remote) }).toEqual(
      before,
    )
  })

  test('reaches the stash, branches, tags, configuration or remote of the user', () => {
    expect(project.repo.git('config', '--get', 'user.name')).toBe('Rig')
    expect(project.repo.git('stash', 'list').split('\n')).toHaveLength(1)
    expect(project.repo.git('branch', '--format=%(refname:short)')).toBe('main\nother')
    expect(project.repo.git('tag')).toBe('v1')
    expect(existsSync(project.repo.path('hook-ran'))).toBe(false)
    expect(snapshotTree(homeFolder())).toEqual(home)
  })

  test('is judged by a commit, a stash or an index instead of the files that lie there', async () => {
    expect(answer).toMatchObject({ status: 'kept', reason: 'improved', value: 42 })
    const { files } = await project.data<{ files: { path: string }[] }>('diff', opened.experiment)
    expect(files.map(({ path }) => path)).toEqual([
      'src/hidden.tmp',
      'src/metrics.txt',
      'src/uncommitted.txt',
    ])
  })

  test('spoils the store for those who come after it', async () => {
    const next = await project.open(ms(41), opened.experiment)
    expect(readFileSync(join(next.worktree, 'src/uncommitted.txt'), 'utf8')).toBe('not committed\n')
    expect(await project.data('run', next.experiment)).toMatchObject({ status: 'kept', value: 41 })
    expect(await project.attempt(ms(99))).toMatchObject({ status: 'kept', value: 99 })
  })
})

const AGENT = `#!/bin/sh
set -e
git config user.name Agent
git config user.email agent@example.invalid
echo 'METRIC ms=60' > src/metrics.txt
git commit --quiet --all --message 'a commit'
git switch --quiet --create feature
git tag v1-agent
echo 'METRIC ms=61' > src/metrics.txt
git stash --quiet
echo 'METRIC ms=42' > src/metrics.txt
echo 'not committed' > src/uncommitted.txt
echo 'hidden' > src/hidden.tmp
git add src/uncommitted.txt
git push --quiet origin HEAD:refs/heads/agent 2>/dev/null && exit 9
git push --quiet --all 2>/dev/null && exit 9
echo '*.tmp' > .ignored
git config core.excludesFile "$PWD/.ignored"
git config core.autocrlf true
git config commit.gpgsign true
mkdir .hooks
for hook in pre-commit post-checkout reference-transaction; do
  printf '#!/bin/sh\\nexit 1\\n' > .hooks/$hook
  chmod +x .hooks/$hook
done
git config core.hooksPath "$PWD/.hooks"
`

test('git clean -fdx, stash -u or gc of the user reaches the state, or status shows it', async () => {
  const project = makeProject()
  await project.data('init')
  const { experiment, worktree } = await project.open(ms(90))
  expect(project.repo.git('status', '--porcelain', '--ignored')).toBe('!! .assay/')
  const before = snapshotTree(project.repo.path('.assay'))
  project.repo.write({ 'junk.txt': 'x\n' })
  project.repo.git('stash', '--include-untracked', '--quiet')
  project.repo.git('stash', 'pop', '--quiet')
  project.repo.git('add', '--all')
  expect(project.repo.git('diff', '--cached', '--name-only')).toBe('junk.txt')
  project.repo.git('reset', '--quiet', '--hard')
  project.repo.git('clean', '-fdxq')
  project.repo.git('gc', '--quiet', '--prune=now')
  expect(snapshotTree(project.repo.path('.assay'))).toEqual(before)
  // A branch that goes away takes nothing with it: the store has objects of its own.
  project.repo.git('checkout', '--quiet', '--orphan', 'fresh')
  project.repo.git('commit', '--quiet', '--message', 'all anew')
  project.repo.git('branch', '--quiet', '-D', 'main')
  project.repo.git('reflog', 'expire', '--expire=now', '--all')
  project.repo.git('gc', '--quiet', '--prune=now')
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept', value: 90 })
  expect(existsSync(worktree)).toBe(true)
})

test('GIT_DIR or GIT_INDEX_FILE of a caller, such as a hook, moves the work into a different repository', async () => {
  const project = busyUser()
  const victim = makeProject()
  const env = {
    GIT_DIR: victim.repo.path('.git'),
    GIT_WORK_TREE: victim.repo.dir,
    GIT_INDEX_FILE: victim.repo.path('.git/index'),
    GIT_OBJECT_DIRECTORY: victim.repo.path('.git/objects'),
    GIT_PREFIX: 'src/',
  }
  const before = [snapshotTree(victim.repo.dir), snapshotTree(project.repo.dir, { except: OURS })]
  const cli = async <T>(...args: string[]) => dataOf(await project.cli<T>(args, { env }))
  expect(await cli('init')).toMatchObject({
    base: project.repo.git('rev-parse', 'HEAD'),
    baseline: { value: 100 },
  })
  const made = await cli<NewData>('new', '-m', 'x')
  writeFileSync(join(made.worktree, 'src/metrics.txt'), 'METRIC ms=90\n')
  expect(await cli('run', made.experiment)).toMatchObject({ status: 'kept', value: 90 })
  expect([snapshotTree(victim.repo.dir), snapshotTree(project.repo.dir, { except: OURS })]).toEqual(before)
})
