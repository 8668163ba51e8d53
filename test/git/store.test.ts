import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { inspectCheckout } from '../../cli/git/checkout.ts'
import { createStore, importCommit, packStore, snapshotWorkingTree } from '../../cli/git/store.ts'
import { listTree, readBlob } from '../../cli/git/trees.ts'
import { addWorktree } from '../../cli/git/worktrees.ts'
import { siteAt, worktreePath } from '../../cli/paths.ts'
import { commitAll, freshFolder, must, open, photograph, problemOf, repository, run, write } from './rig.ts'

const AT = new Date('2024-01-02T03:04:05Z')

test("the user's status stays clean, and their clean -fdx leaves our state alone", async () => {
  const repo = repository()
  await open(repo)
  write(repo, '.assay/runs/run_0001/ledger.jsonl', '{}\n')
  expect(run(repo, 'status', '--porcelain')).toBe('')
  write(repo, 'junk.log', 'x')
  run(repo, 'clean', '-fdxq')
  expect(existsSync(join(repo, 'junk.log'))).toBe(false)
  expect(readFileSync(join(repo, '.assay/runs/run_0001/ledger.jsonl'), 'utf8')).toBe('{}\n')
})

test("the store has no remote, no branch and no hook of the user's, or a different tag than those of the base", async () => {
  const repo = repository()
  run(repo, 'tag', 'v1')
  run(repo, 'tag', '-a', '-m', 'two', 'v2')
  commitAll(repo, 'second')
  run(repo, 'branch', 'other')
  commitAll(repo, 'third')
  run(repo, 'tag', 'elsewhere')
  run(repo, 'reset', '-q', '--hard', 'other')
  run(repo, 'remote', 'add', 'origin', 'https://example.org/x.git')
  run(repo, 'update-ref', 'refs/remotes/origin/main', 'elsewhere')
  run(repo, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main')
  write(repo, '../home/template/hooks/post-checkout', '#!/bin/sh\nexit 1\n')
  run(repo, 'config', '--global', 'init.templateDir', join(repo, '../home/template'))
  const { site, base } = await open(repo)
  const refs = () => run(site.store, 'for-each-ref', '--format=%(refname)').trim().split('\n')
  const names = ['refs/remotes/origin/main', 'refs/tags/v1', 'refs/tags/v2']
  expect(refs()).toEqual([`refs/assay/base/${base.commit}`, ...names])
  expect(run(site.store, 'remote')).toBe('')
  expect(existsSync(join(site.store, 'hooks'))).toBe(false)
  expect(readdirSync(site.state).sort()).toEqual(['.git'])
  expect(problemOf(await createStore(site, { ...must(await inspectCheckout(repo)), head: null }))).toBe(
    'empty_repository',
  )

  // A later init: new tags come, moved ones stay as running runs know them.
  run(repo, 'tag', '-f', 'v1', 'other')
  run(repo, 'tag', '-a', '-m', 'three', 'v3')
  const before = run(site.store, 'rev-parse', 'v1')
  await open(repo)
  expect(refs()).toEqual([`refs/assay/base/${base.commit}`, ...names, 'refs/tags/v3'])
  expect(run(site.store, 'rev-parse', 'v1')).toBe(before)
})

test('only the exclude line is written into the user repository', async () => {
  const repo = repository()
  rmSync(join(repo, '.git/info'), { recursive: true })
  const before = photograph(repo)
  await open(repo)
  const after = photograph(repo)
  expect(Object.keys(after).filter((path) => after[path] !== before[path])).toEqual([
    '.git/info',
    '.git/info/exclude',
  ])
})

test('line ending and filter settings come along, and count in a worktree', async () => {
  const repo = repository()
  run(repo, 'config', 'core.autocrlf', 'true')
  run(repo, 'config', '--global', 'filter.shout.clean', 'tr a-z A-Z')
  run(repo, 'config', '--global', 'filter.shout.smudge', 'tr A-Z a-z')
  run(repo, 'config', 'alias.x', 'status')
  const { site, base } = await open(repo)
  expect(run(site.store, 'config', '--local', 'core.autocrlf')).toBe('true\n')
  expect(run(site.store, 'config', '--local', 'filter.shout.clean')).toBe('tr a-z A-Z\n')
  expect(() => run(site.store, 'config', '--local', 'alias.x')).toThrow()
  const path = worktreePath(site, 'run_0001', 'exp_0001')
  must(await addWorktree(site, path, base.commit))
  expect(readFileSync(join(path, 'src/a.js'), 'utf8')).toBe('let a = 1\r\n')
  expect(run(path, 'status', '--porcelain')).toBe('')
})

const SHAPES: Record<string, (repo: string) => string> = {
  'a detached HEAD': (repo) => {
    run(repo, 'checkout', '-q', '--detach')
    commitAll(repo, 'on no branch')
    return repo
  },
  'a linked worktree, detached': (repo) => {
    run(repo, 'worktree', 'add', '-q', '--detach', '../linked')
    commitAll(join(repo, '../linked'), 'only there')
    return join(repo, '../linked')
  },
  'a bare common folder': (repo) => {
    run(repo, 'clone', '-q', '--bare', '.', '../bare.git')
    run(join(repo, '../bare.git'), 'worktree', 'add', '-q', '--detach', '../of-bare')
    commitAll(join(repo, '../of-bare'), 'only there')
    return join(repo, '../of-bare')
  },
  'a shallow clone': (repo) => {
    commitAll(repo, 'second')
    run(repo, 'clone', '-q', '--depth=1', `file://${repo}`, '../shallow')
    return join(repo, '../shallow')
  },
  'a shallow clone with a commit on no branch': (repo) => {
    commitAll(repo, 'second')
    run(repo, 'clone', '-q', '--depth=1', `file://${repo}`, '../shallow')
    run(join(repo, '../shallow'), 'worktree', 'add', '-q', '--detach', '../deep')
    commitAll(join(repo, '../deep'), 'only there')
    return join(repo, '../deep')
  },
  'a clone that borrows objects': (repo) => {
    run(repo, 'clone', '-q', '--shared', '.', '../borrower')
    return join(repo, '../borrower')
  },
  'a partial clone': (repo) => {
    run(repo, 'config', 'uploadpack.allowFilter', 'true')
    run(repo, 'clone', '-q', '--filter=blob:none', `file://${repo}`, '../partial')
    return join(repo, '../partial')
  },
  'an object folder with a link in it': (repo) => {
    mkdirSync(join(repo, '../objects'))
    symlinkSync(join(repo, '../objects'), join(repo, '.git/objects/zz'))
    return repo
  },
  'SHA-256': (repo) => {
    mkdirSync(join(repo, '../sha256'))
    run(join(repo, '../sha256'), 'init', '-q', '--object-format=sha256')
    write(repo, '../sha256/src/a.js', 'let a = 1\n')
    commitAll(join(repo, '../sha256'), 'first')
    return join(repo, '../sha256')
  },
  'a path with spaces and quotes': (repo) => {
    run(repo, 'clone', '-q', '.', "../it's a ö")
    return join(repo, "../it's a ö")
  },
}

for (const [name, shape] of Object.entries(SHAPES)) {
  test(`a store and a worktree can be made from: ${name}`, async () => {
    const dir = shape(repository())
    const { site, base } = await open(dir)
    expect(base.commit).toBe(run(dir, 'rev-parse', 'HEAD').trim())
    expect(base.tree).toBe(run(dir, 'rev-parse', 'HEAD^{tree}').trim())
    const path = worktreePath(site, 'run_0001', 'exp_0001')
    must(await addWorktree(site, path, base.commit))
    expect(readFileSync(join(path, 'src/a.js'), 'utf8')).toBe('let a = 1\n')
    expect(run(path, 'status', '--porcelain')).toBe('')
    expect(run(dir, 'status', '--porcelain')).toBe('')
  })
}

test('a commit that the user made later is imported, once', async () => {
  const repo = repository()
  const { site } = await open(repo)
  write(repo, 'src/a.js', 'let a = 2\n')
  const second = commitAll(repo, 'second')
  const checkout = must(await inspectCheckout(repo))
  const before = photograph(repo)
  for (const _ of [1, 2]) {
    expect(must(await importCommit(site, checkout)).commit).toBe(second)
  }
  expect(must(await readBlob(site, second, 'src/a.js'))?.toString()).toBe('let a = 2\n')
  expect(photograph(repo)).toEqual(before)
})

test('a crash while the store is built leaves nothing that a later try takes for one', async () => {
  const repo = repository()
  const checkout = must(await inspectCheckout(repo))
  const site = siteAt(repo)
  write(repo, '.assay/new-store-x/store/HEAD', 'ref: refs/heads/main\n')
  must(await createStore(site, checkout))
  must(await createStore(site, checkout))
  expect(readdirSync(site.state)).toEqual(['.git'])
})

test('a dirty tree becomes a commit on HEAD, with nothing of the user touched', async () => {
  const repo = repository()
  const { site, checkout, base } = await open(repo)
  write(repo, '../home/ignore', 'scratch/\n')
  run(repo, 'config', '--global', 'core.excludesFile', join(repo, '../home/ignore'))
  write(repo, 'src/a.js', 'staged\n')
  run(repo, 'add', 'src/a.js')
  write(repo, 'src/a.js', 'on disk\n')
  rmSync(join(repo, 'src/b.js'))
  write(repo, 'bench/neu\n.js', 'x\n')
  write(repo, 'scratch/x', 'ignored by the user\n')
  write(repo, '.env', 'KEY=hunter2\n')
  write(repo, 'lib/x.js', 'x')
  run(join(repo, 'lib'), 'init', '-q')
  utimesSync(join(repo, '.git/index'), AT, AT)
  const before = photograph(repo)
  const snapshot = must(await snapshotWorkingTree(site, checkout, AT))
  expect(photograph(repo)).toEqual(before)
  expect(must(await listTree(site, snapshot.tree)).map((one) => one.path)).toEqual([
    '.gitignore',
    'bench/neu\n.js',
    'bench/run.js',
    'src/a.js',
  ])
  expect(must(await readBlob(site, snapshot.commit, 'src/a.js'))?.toString()).toBe('on disk\n')
  expect(snapshot.leftOut).toEqual([
    { path: '.env', reason: 'looks like a secret (environment file)' },
    { path: 'lib/', reason: 'repository inside the repository' },
  ])
  expect(run(site.store, 'log', '-1', '--format=%P', snapshot.commit)).toBe(`${base.commit}\n`)
  expect(must(await snapshotWorkingTree(site, checkout, AT)).commit).toBe(snapshot.commit)
})

test('a clean tree is its own snapshot, and one that moved meanwhile is refused', async () => {
  const repo = repository()
  const { site, checkout, base } = await open(repo)
  expect(must(await snapshotWorkingTree(site, checkout, AT))).toEqual({ ...base, leftOut: [] })
  commitAll(repo, 'second')
  expect(problemOf(await snapshotWorkingTree(site, checkout, AT))).toBe('checkout_moved')
})

test('files that a sparse checkout leaves out are not deleted by a snapshot', async () => {
  const repo = repository()
  run(repo, 'sparse-checkout', 'set', 'src')
  const { site, checkout } = await open(repo)
  write(repo, 'src/a.js', 'let a = 2\n')
  const snapshot = must(await snapshotWorkingTree(site, checkout, AT))
  expect(must(await listTree(site, snapshot.tree)).map((one) => one.path)).toContain('bench/run.js')
})

test('a store is not needed to say that this is no repository', async () => {
  expect(problemOf(await inspectCheckout(freshFolder()))).toBe('not_a_repository')
})

test('a commit beyond a new shallow boundary is imported', async () => {
  const repo = repository()
  run(repo, 'clone', '-q', '--depth=1', `file://${repo}`, '../shallow')
  const shallow = join(repo, '../shallow')
  const { site } = await open(shallow)
  for (const n of [2, 3]) {
    write(repo, 'src/a.js', `let a = ${n}\n`)
    commitAll(repo, `commit ${n}`)
  }
  run(shallow, 'fetch', '-q', '--depth=1')
  run(shallow, 'reset', '-q', '--hard', 'origin/main')
  const { commit } = must(await importCommit(site, must(await inspectCheckout(shallow))))
  expect(must(await readBlob(site, commit, 'src/a.js'))?.toString()).toBe('let a = 3\n')
  expect(run(site.store, 'log', '--format=%H', commit)).toBe(`${commit}\n`)
})

/** Objects as seals leave them: each by itself, some without a ref. */
function manyLoose(store: string, count = 2600) {
  const stream = Array.from({ length: count }, (_, n) => `blob\ndata ${`${n}`.length}\n${n}\n`).join('')
  execFileSync('git', ['--git-dir', store, '-c', 'fastimport.unpackLimit=100000', 'fast-import', '--quiet'], {
    input: stream,
  })
}
const counted = (store: string) => Number(/^count: (\d+)$/m.exec(run(store, 'count-objects', '-v'))?.[1])

test('a store with many loose objects stays so, or loses some when it is packed', async () => {
  const { site, base } = await open(repository())
  manyLoose(site.store)
  await Promise.all([packStore(site), packStore(site)])
  expect(counted(site.store)).toBe(0)
  expect(run(site.store, 'cat-file', '-p', `${base.commit}:src/a.js`)).toBe('let a = 1\n')
  expect(run(site.store, 'fsck', '--full')).not.toMatch(/missing|corrupt/)
  // Of no ref: a seal that is being made has such objects.
  expect(
    run(site.store, 'cat-file', '--batch-all-objects', '--batch-check').split('\n').length,
  ).toBeGreaterThan(2600)
})

test('a few loose objects are packed, which costs more than it brings', async () => {
  const { site } = await open(repository())
  const before = counted(site.store)
  await packStore(site)
  expect(counted(site.store)).toBe(before)
})

test('a damaged object gets into a pack, where doctor cannot repair it', async () => {
  const { site, base } = await open(repository())
  manyLoose(site.store)
  const oid = run(site.store, 'rev-parse', `${base.commit}:src/a.js`).trim()
  const file = join(site.store, 'objects', oid.slice(0, 2), oid.slice(2))
  rmSync(file)
  writeFileSync(file, deflateSync('blob 10\0let a = 2\n'))
  await packStore(site)
  expect(existsSync(file)).toBe(true)
})

test("the objects of a user's repository that never packs take the space of loose ones again", async () => {
  const repo = repository()
  manyLoose(join(repo, '.git'))
  const { site, base } = await open(repo)
  expect(counted(site.store)).toBe(0)
  expect(run(site.store, 'cat-file', '-p', `${base.commit}:src/a.js`)).toBe('let a = 1\n')
})
