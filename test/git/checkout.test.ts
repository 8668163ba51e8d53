import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  emptyRepository,
  fingerprintCheckout,
  HEAD_KEY,
  inspectCheckout,
  pathsChangedSince,
} from '../../cli/git/checkout.ts'
import { addExclude, removeExclude } from '../../cli/git/exclude.ts'
import { commitAll, freshFolder, must, photograph, problemOf, repository, run, write } from './rig.ts'

test('a sub-folder finds its top, branch and commit', async () => {
  const repo = repository()
  const checkout = must(await inspectCheckout(join(repo, 'src')))
  expect(checkout).toEqual({
    top: repo,
    gitDir: join(repo, '.git'),
    commonDir: join(repo, '.git'),
    bare: false,
    head: run(repo, 'rev-parse', 'HEAD').trim(),
    branch: 'main',
    shallow: false,
    dirty: [],
  })
})

test('a detached HEAD has no branch, an unborn one no commit', async () => {
  const repo = repository()
  run(repo, 'checkout', '-q', '--detach')
  expect(must(await inspectCheckout(repo))).toMatchObject({ branch: null, shallow: false })
  const empty = freshFolder()
  run(empty, 'init', '-q')
  expect(must(await inspectCheckout(empty))).toMatchObject({ head: null, branch: 'main' })
  expect(emptyRepository(empty).code).toBe('empty_repository')
})

test('a linked worktree and a bare common folder are told apart', async () => {
  const repo = repository()
  run(repo, 'worktree', 'add', '-q', '-b', 'side', '../linked')
  expect(must(await inspectCheckout(join(repo, '../linked')))).toMatchObject({
    top: join(repo, '../linked'),
    commonDir: join(repo, '.git'),
    gitDir: join(repo, '.git/worktrees/linked'),
    bare: false,
    branch: 'side',
  })
  run(repo, 'clone', '-q', '--bare', '.', '../bare.git')
  const bare = join(repo, '../bare.git')
  run(bare, 'worktree', 'add', '-q', '../of-bare', 'main')
  expect(must(await inspectCheckout(join(repo, '../of-bare')))).toMatchObject({ commonDir: bare, bare: true })
  expect(problemOf(await inspectCheckout(bare))).toBe('bare_repository')
  expect(problemOf(await inspectCheckout(join(repo, '.git')))).toBe('bare_repository')
})

test('outside of a repository, and in a folder that does not exist, the problem says so', async () => {
  const folder = freshFolder()
  expect(problemOf(await inspectCheckout(folder))).toBe('not_a_repository')
  expect(problemOf(await inspectCheckout(join(folder, 'nowhere')))).toBe('not_a_repository')
})

test('a missing git has a code of its own', async () => {
  const folder = freshFolder()
  const path = process.env.PATH
  process.env.PATH = folder
  try {
    expect(problemOf(await inspectCheckout(folder))).toBe('git_missing')
  } finally {
    process.env.PATH = path
  }
})

test('every kind of difference is named, with odd names whole, and nothing is written', async () => {
  const repo = repository()
  write(repo, 'src/a.js', 'let a = 2\n')
  rmSync(join(repo, 'src/b.js'))
  write(repo, 'staged.js', 'x')
  run(repo, 'add', 'staged.js')
  write(repo, 'neu ö\n.js', 'x')
  write(repo, 'x.log', 'ignored')
  write(repo, '.assay/ledger', 'ours')
  const before = photograph(repo)
  expect(must(await inspectCheckout(repo)).dirty).toEqual([
    { path: 'src/a.js', kind: 'modified' },
    { path: 'src/b.js', kind: 'deleted' },
    { path: 'staged.js', kind: 'added' },
    { path: 'neu ö\n.js', kind: 'untracked' },
  ])
  expect(photograph(repo)).toEqual(before)
})

test('a merge conflict is unmerged, not lost', async () => {
  const repo = repository()
  run(repo, 'checkout', '-q', '-b', 'side')
  write(repo, 'src/a.js', 'side\n')
  commitAll(repo, 'side')
  run(repo, 'checkout', '-q', 'main')
  write(repo, 'src/a.js', 'main\n')
  commitAll(repo, 'main')
  expect(() => run(repo, 'merge', 'side')).toThrow()
  expect(must(await inspectCheckout(repo)).dirty).toEqual([{ path: 'src/a.js', kind: 'unmerged' }])
})

test('the exclude line is added once, after an unfinished line too, and removed alone', async () => {
  const common = mkdtempSync(join(freshFolder(), 'common-'))
  expect(must(await addExclude(common))).toEqual({ added: true })
  const file = join(common, 'info/exclude')
  writeFileSync(file, '# mine\r\n*.tmp')
  expect(must(await addExclude(common))).toEqual({ added: true })
  expect(must(await addExclude(common))).toEqual({ added: false })
  expect(readFileSync(file, 'utf8')).toBe('# mine\r\n*.tmp\n/.assay/\n')
  expect(must(await removeExclude(common))).toEqual({ removed: true })
  expect(readFileSync(file, 'utf8')).toBe('# mine\r\n*.tmp\n')
  expect(must(await removeExclude(common))).toEqual({ removed: false })
})

test('an exclude file that cannot be written is a problem with a way out', async () => {
  const common = mkdtempSync(join(freshFolder(), 'common-'))
  mkdirSync(join(common, 'info/exclude'), { recursive: true })
  expect(problemOf(await addExclude(common))).toBe('exclude_not_writable')
})

test('edits in the wrong folder show, in scope only, also when they are committed', async () => {
  const repo = repository()
  write(repo, 'src/b.js', 'already dirty\n')
  const inScope = (path: string): boolean => path.startsWith('src/')
  const before = must(await fingerprintCheckout(repo, inScope))
  expect(pathsChangedSince(before, must(await fingerprintCheckout(repo, inScope)))).toEqual([])
  write(repo, 'src/b.js', 'dirtier still\n')
  write(repo, 'src/new.js', 'x')
  write(repo, 'notes.md', 'x')
  rmSync(join(repo, 'src/a.js'))
  const after = must(await fingerprintCheckout(repo, inScope))
  expect(pathsChangedSince(before, after)).toEqual(['src/a.js', 'src/b.js', 'src/new.js'])
  expect(must(await fingerprintCheckout(repo, inScope, ['src', 'gone']))).toEqual(after)
  expect(Object.keys(must(await fingerprintCheckout(repo, () => true, ['src/b.js'])))).toEqual([
    HEAD_KEY,
    'src/b.js',
  ])
  commitAll(repo, 'by mistake')
  expect(pathsChangedSince(after, must(await fingerprintCheckout(repo, inScope)))).toContain(HEAD_KEY)
})

test("the caller's GIT_DIR does not stand in for the folder that was asked about", async () => {
  const repo = repository()
  run(repo, 'clone', '-q', '.', '../other')
  process.env.GIT_DIR = join(repo, '.git')
  process.env.GIT_WORK_TREE = repo
  expect(must(await inspectCheckout(join(repo, '../other'))).top).toBe(join(repo, '../other'))
})
