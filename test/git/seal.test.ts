import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pinCommit, recordFilesOfSetup, type SealedTree, sealTree } from '../../cli/git/seal.ts'
import { listTree, readBlob } from '../../cli/git/trees.ts'
import type { Result } from '../../cli/result.ts'
import {
  commitAll,
  FILES,
  must,
  type Opened,
  open,
  photograph,
  problemOf,
  repository,
  run,
  worktree,
  write,
} from './rig.ts'

const mutable = (path: string): boolean => path.startsWith('src/')

function seal(
  opened: Opened,
  path: string,
  more: { leaveOut?: ReadonlyMap<string, string>; since?: Date | null } = {},
): Promise<Result<SealedTree>> {
  return sealTree({
    site: opened.site,
    worktree: path,
    parent: opened.base,
    mutable,
    leaveOut: new Map(),
    since: null,
    ...more,
  })
}

const summary = (sealed: SealedTree): string[] => sealed.changes.map((one) => `${one.status} ${one.path}`)

async function fresh(files?: Record<string, string>) {
  const repo = repository(files)
  const opened = await open(repo)
  return { repo, opened, path: await worktree(opened) }
}

test('an untouched worktree seals to the parent tree', async () => {
  const { opened, path } = await fresh()
  const sealed = must(await seal(opened, path))
  expect(sealed.tree).toBe(opened.base.tree)
  expect(sealed.changes).toEqual([])
})

test('an edit of equal size in the second of the checkout is seen', async () => {
  const { opened, path } = await fresh()
  write(path, 'src/a.js', 'let a = 2\n')
  expect(summary(must(await seal(opened, path)))).toEqual(['M src/a.js'])
  write(path, 'src/a.js', 'let a = 3\n')
  const again = must(await seal(opened, path))
  expect(must(await readBlob(opened.site, again.tree, 'src/a.js'))?.toString()).toBe('let a = 3\n')
})

test('an edit with the old size and the old time is seen', async () => {
  const { opened, path } = await fresh()
  const old = new Date(2001, 1, 1)
  utimesSync(join(path, 'src/a.js'), old, old)
  must(await seal(opened, path))
  write(path, 'src/a.js', 'let a = 2\n')
  utimesSync(join(path, 'src/a.js'), old, old)
  expect(summary(must(await seal(opened, path)))).toEqual(['M src/a.js'])
})

test('adds, deletions, renames, modes and links each have their own status and counts', async () => {
  const { opened, path } = await fresh()
  write(path, 'src/new.js', '1\n2\n')
  renameSync(join(path, 'src/b.js'), join(path, 'src/c.js'))
  chmodSync(join(path, 'bench/run.js'), 0o755)
  rmSync(join(path, 'src/a.js'))
  symlinkSync('c.js', join(path, 'src/a.js'))
  const { changes } = must(await seal(opened, path))
  expect(
    changes.map((one) => [one.status, one.path, one.oldMode, one.newMode, one.added, one.removed]),
  ).toEqual([
    ['M', 'bench/run.js', '100644', '100755', 0, 0],
    ['T', 'src/a.js', '100644', '120000', 1, 1],
    ['D', 'src/b.js', '100644', '000000', 0, 1],
    ['A', 'src/c.js', '000000', '100644', 1, 0],
    ['A', 'src/new.js', '000000', '100644', 2, 0],
  ])
})

test('untracked files outside mutable are left out by name, changed tracked ones are part of it', async () => {
  const { opened, path } = await fresh()
  write(path, 'notes/plan.md', 'x')
  write(path, 'bench/run.js', 'console.log(0)\n')
  const sealed = must(await seal(opened, path))
  expect(sealed.leftOut).toEqual(['notes/plan.md'])
  expect(summary(sealed)).toEqual(['M bench/run.js'])
})

test('names with a newline, quotes, spaces and non-ASCII letters survive', async () => {
  const { opened, path } = await fresh()
  for (const name of ['src/zwei\nzeilen.js', 'src/größe 語.js', 'src/"q".js', 'src/:(glob)x*.js'])
    write(path, name, 'x\n')
  expect(summary(must(await seal(opened, path)))).toEqual([
    'A src/"q".js',
    'A src/:(glob)x*.js',
    'A src/größe 語.js',
    'A src/zwei\nzeilen.js',
  ])
})

const AGENT_TRICKS: Record<string, (path: string) => void> = {
  'its own commit': (path) => void commitAll(path, 'agent'),
  'a branch of its own': (path) => {
    run(path, 'checkout', '-q', '-b', 'mine')
    commitAll(path, 'agent')
  },
  'an amended base': (path) => {
    run(path, 'add', '-A')
    run(path, 'commit', '-q', '--amend', '-m', 'rewritten')
  },
  'assume-unchanged': (path) => void run(path, 'update-index', '--assume-unchanged', 'src/a.js'),
  'skip-worktree': (path) => void run(path, 'update-index', '--skip-worktree', 'src/a.js'),
  'intent to add': (path) => void run(path, 'add', '-N', 'src/new.js'),
  'an index that says it is deleted': (path) => void run(path, 'rm', '-q', '--cached', 'src/a.js'),
  'a split index': (path) => void run(path, 'update-index', '--split-index'),
  'a broken index': (path) => writeFileSync(run(path, 'rev-parse', '--git-path', 'index').trim(), 'garbage'),
  'no .git file': (path) => rmSync(join(path, '.git')),
  'a repository of its own in its place': (path) => {
    rmSync(join(path, '.git'))
    run(path, 'init', '-q')
    commitAll(path, 'agent')
  },
  'settings that hide changes': (path) => {
    write(path, '../ignore-all', '*\n')
    for (const [key, value] of [
      ['core.excludesFile', join(path, '../ignore-all')],
      ['core.autocrlf', 'true'],
      ['core.fileMode', 'false'],
      ['core.hooksPath', join(path, '../hooks')],
      ['core.fsmonitor', '/bin/false'],
      ['core.ignoreStat', 'true'],
      ['commit.gpgsign', 'true'],
    ]) {
      run(path, 'config', key ?? '', value ?? '')
    }
    write(path, '../hooks/reference-transaction', '#!/bin/sh\nexit 1\n')
    chmodSync(join(path, '../hooks/reference-transaction'), 0o755)
  },
}

for (const [name, trick] of Object.entries(AGENT_TRICKS)) {
  test(`the disk is sealed whatever the agent did with git: ${name}`, async () => {
    const { opened, path } = await fresh()
    write(path, 'src/a.js', 'let a = 2\n')
    write(path, 'src/new.js', 'new\n')
    trick(path)
    const sealed = must(await seal(opened, path))
    expect(summary(sealed)).toEqual(['M src/a.js', 'A src/new.js'])
    const ref = 'refs/assay/run_0001/exp_0001/1'
    const at = new Date('2024-01-02T03:04:05Z')
    const commit = must(
      await pinCommit(opened.site, {
        tree: sealed.tree,
        parents: [opened.base.commit],
        message: 'm',
        ref,
        at,
      }),
    )
    expect(
      run(
        opened.site.root,
        `--git-dir=${opened.site.store}`,
        'log',
        '-1',
        '--format=%H %P %an %ae %aI %T',
        ref,
      ),
    ).toBe(`${commit} ${opened.base.commit} Assay assay@localhost 2024-01-02T03:04:05+00:00 ${sealed.tree}\n`)
  })
}

test('work that the agent stashed is sealed although it is not on disk', async () => {
  const { repo, opened, path } = await fresh()
  write(path, 'src/a.js', 'let a = 2\n')
  run(path, 'stash')
  expect(must(await seal(opened, path)).changes).toEqual([])
  expect(run(repo, 'stash', 'list')).toBe('')
})

test('a conflict in the middle of a rebase is sealed as it lies there', async () => {
  const { opened, path } = await fresh()
  write(path, 'src/a.js', 'let a = 2\n')
  const mine = commitAll(path, 'two')
  run(path, 'checkout', '-q', opened.base.commit)
  write(path, 'src/a.js', 'let a = 3\n')
  commitAll(path, 'three')
  expect(() => run(path, 'rebase', mine)).toThrow()
  const sealed = must(await seal(opened, path))
  expect(summary(sealed)).toEqual(['M src/a.js'])
  expect(must(await readBlob(opened.site, sealed.tree, 'src/a.js'))?.toString()).toContain('<<<<<<<')
})

test("rules that the agent, or the user after the start of the run, puts into git's configuration hide a change", async () => {
  const { repo, opened, path } = await fresh()
  write(repo, '../home/ignore', 'dist/\n')
  run(repo, 'config', '--global', 'core.excludesFile', join(repo, '../home/ignore'))
  run(path, 'config', 'core.excludesFile', join(repo, '../home/ignore'))
  write(opened.site.store, 'info/exclude', 'dist/\n')
  write(path, 'src/dist/x.js', 'x\n')
  expect(summary(must(await seal(opened, path)))).toEqual(['A src/dist/x.js'])
})

test('files that the ignore rules of the user name, or that editors leave, become part of a candidate', async () => {
  const repo = repository()
  write(repo, '../home/ignore', '*.user\n')
  run(repo, 'config', '--global', 'core.excludesFile', join(repo, '../home/ignore'))
  write(repo, '.git/info/exclude', '# mine\n*.mine\n')
  write(repo, 'src/tracked.user', 'one\n')
  run(repo, 'add', '-f', 'src/tracked.user')
  commitAll(repo, 'second')
  const opened = await open(repo)
  const path = await worktree(opened)
  for (const name of [
    '.DS_Store',
    '.n.js.swp',
    'n.js~',
    '.#n.js',
    '#n.js#',
    'new.user',
    'new.mine',
    'tracked.user',
  ])
    write(path, `src/${name}`, 'two\n')
  const sealed = must(await seal(opened, path, { since: new Date(Date.now() - 60_000) }))
  expect(summary(sealed)).toEqual(['M src/tracked.user'])
  expect(sealed.ignoredNewer).toEqual([
    { path: 'src/#n.js#', rule: 'well-known editor files (\\#*\\#)' },
    { path: 'src/.#n.js', rule: 'well-known editor files (.#*)' },
    { path: 'src/.DS_Store', rule: 'well-known editor files (.DS_Store)' },
    { path: 'src/.n.js.swp', rule: 'well-known editor files (.*.sw[a-p])' },
    { path: 'src/n.js~', rule: 'well-known editor files (*~)' },
    { path: 'src/new.mine', rule: '.git/info/exclude:2' },
    { path: 'src/new.user', rule: `${join(repo, '../home/ignore')}:1` },
  ])
})

test('ignored files under mutable that came after setup are named with their rule', async () => {
  const { opened, path } = await fresh()
  const since = new Date(Date.now() - 1000)
  write(path, 'src/out.log', 'x')
  write(path, 'other.log', 'x')
  const sealed = must(await seal(opened, path, { since }))
  expect(sealed.ignoredNewer).toEqual([{ path: 'src/out.log', rule: '.gitignore:2' }])
  expect(sealed.changes).toEqual([])
  const later = must(await seal(opened, path, { since: new Date(Date.now() + 60_000) }))
  expect(later.ignoredNewer).toEqual([])
})

test('nested repositories in scope are refused by name, elsewhere they are left out', async () => {
  const { opened, path } = await fresh()
  write(path, 'vendor/lib/x.js', 'x')
  run(join(path, 'vendor/lib'), 'init', '-q')
  expect(must(await seal(opened, path)).leftOut).toEqual(['vendor/lib/'])
  write(path, 'src/lib/x.js', 'x')
  run(join(path, 'src/lib'), 'init', '-q')
  commitAll(join(path, 'src/lib'), 'inner')
  const refused = await seal(opened, path)
  expect(problemOf(refused)).toBe('nested_repository')
  expect(refused).toMatchObject({ problem: { data: { paths: ['src/lib/'] } } })
})

test('a git init in a tracked folder hides no file of it', async () => {
  const { opened, path } = await fresh()
  run(join(path, 'src'), 'init', '-q')
  commitAll(join(path, 'src'), 'inner')
  write(path, 'src/a.js', 'let a = 2\n')
  write(path, 'src/new.js', 'n\n')
  expect(summary(must(await seal(opened, path)))).toEqual(['M src/a.js', 'A src/new.js'])
})

test('what setup left is no change, until the agent changes it too', async () => {
  const { opened, path } = await fresh({ ...FILES, 'lock.json': '{}\n', 'src/gen.js': 'old\n' })
  write(path, 'lock.json', '{"v":2}\n')
  write(path, 'src/generated.js', 'g\n')
  write(path, 'cache/x', 'x')
  rmSync(join(path, 'src/gen.js'))
  const { site, base: parent } = opened
  const leaveOut = must(await recordFilesOfSetup({ site, worktree: path, parent, mutable }))
  expect([...leaveOut.keys()].sort()).toEqual(['cache/x', 'lock.json', 'src/gen.js', 'src/generated.js'])
  expect(leaveOut.get('src/gen.js')).toBe('deleted')
  const untouched = must(await seal(opened, path, { leaveOut }))
  expect(untouched).toMatchObject({ tree: opened.base.tree, changes: [], leftOut: [] })
  write(path, 'lock.json', '{"v":3}\n')
  write(path, 'src/generated.js', 'h\n')
  expect(summary(must(await seal(opened, path, { leaveOut })))).toEqual(['M lock.json', 'A src/generated.js'])
})

test('a secret is among the changes but never in the tree nor in the store', async () => {
  const { opened, path } = await fresh({ ...FILES, 'src/id_rsa': 'old\n' })
  write(path, 'src/.env', 'KEY=hunter2\n')
  write(path, 'src/.env.example', 'KEY=\n')
  write(path, 'src/id_rsa', 'new\n')
  const sealed = must(await seal(opened, path))
  expect(summary(sealed)).toEqual(['A src/.env', 'A src/.env.example', 'M src/id_rsa'])
  expect(sealed.secrets.map((one) => one.path).sort()).toEqual(['src/.env', 'src/id_rsa'])
  const names = must(await listTree(opened.site, sealed.tree)).map((one) => one.path)
  expect(names).not.toContain('src/.env')
  const oid = run(path, 'hash-object', 'src/.env').trim()
  expect(() => run(opened.site.store, 'cat-file', '-e', oid)).toThrow()
})

test("line endings follow the attributes of the base, not the candidate's, and a file with odd ones is no change", async () => {
  const { opened, path } = await fresh({
    ...FILES,
    'src/dos.txt': 'a\r\nb\r\n',
    '.gitattributes': '*.js text eol=lf\n',
  })
  write(path, 'src/dos.txt', 'a\r\nc\r\n')
  const plain = must(await seal(opened, path))
  expect(must(await readBlob(opened.site, plain.tree, 'src/dos.txt'))?.toString()).toBe('a\r\nc\r\n')
  write(path, '.gitattributes', '*.js -text\n')
  write(path, 'src/a.js', 'let a = 2\r\n')
  const normal = must(await seal(opened, path))
  expect(must(await readBlob(opened.site, normal.tree, 'src/a.js'))?.toString()).toBe('let a = 2\n')
})

test('a folder replaced by a link that looks the same is a change', async () => {
  const { opened, path } = await fresh()
  renameSync(join(path, 'bench'), join(path, 'elsewhere'))
  symlinkSync('elsewhere', join(path, 'bench'))
  expect(summary(must(await seal(opened, path)))).toEqual(['A bench', 'D bench/run.js'])
  write(path, 'elsewhere/run.js', 'console.log(0)\n')
  expect(summary(must(await seal(opened, path)))).toEqual(['A bench', 'D bench/run.js'])
})

test('a file replaced by a folder, and a folder by a file', async () => {
  const { opened, path } = await fresh()
  rmSync(join(path, 'src/a.js'))
  mkdirSync(join(path, 'src/a.js'))
  write(path, 'src/a.js/inner.js', 'x\n')
  rmSync(join(path, 'bench'), { recursive: true })
  write(path, 'bench', 'flat\n')
  expect(summary(must(await seal(opened, path)))).toEqual([
    'D bench/run.js',
    'D src/a.js',
    'A src/a.js/inner.js',
  ])
})

test("no seal, worktree or agent's git writes into the user's repository", async () => {
  const repo = repository()
  const opened = await open(repo)
  const before = photograph(repo)
  const path = await worktree(opened)
  write(path, 'src/a.js', 'let a = 2\n')
  run(path, 'config', 'user.name', 'Agent')
  run(path, 'stash')
  run(path, 'stash', 'pop')
  run(path, 'branch', 'mine')
  commitAll(path, 'agent')
  must(await seal(opened, path))
  expect(photograph(repo)).toEqual(before)
  expect(run(path, 'remote')).toBe('')
  expect(existsSync(join(repo, '.assay'))).toBe(true)
})

test("the caller's GIT_DIR and GIT_INDEX_FILE lead nowhere", async () => {
  const { repo, opened, path } = await fresh()
  const before = photograph(repo)
  process.env.GIT_DIR = join(repo, '.git')
  process.env.GIT_INDEX_FILE = join(repo, '.git/index')
  process.env.GIT_WORK_TREE = repo
  write(path, 'src/a.js', 'let a = 2\n')
  expect(summary(must(await seal(opened, path)))).toEqual(['M src/a.js'])
  expect(photograph(repo)).toEqual(before)
})

test('a file that was committed with the wrong line endings is no change', async () => {
  const repo = repository()
  write(repo, '.gitattributes', '*.txt text eol=lf\n')
  write(repo, 'src/odd.txt', 'a\r\nb\r\n')
  run(repo, 'add', '.gitattributes')
  const oid = run(repo, 'hash-object', '-w', '--no-filters', 'src/odd.txt').trim()
  run(repo, 'update-index', '--add', '--cacheinfo', `100644,${oid},src/odd.txt`)
  run(repo, 'commit', '-q', '-m', 'odd')
  const opened = await open(repo)
  const path = await worktree(opened)
  utimesSync(join(path, 'src/odd.txt'), new Date(), new Date(2001, 1, 1))
  expect(must(await seal(opened, path))).toMatchObject({ tree: opened.base.tree, changes: [] })
  chmodSync(join(path, 'src/odd.txt'), 0o755)
  expect(summary(must(await seal(opened, path)))).toEqual(['M src/odd.txt'])
})
