import { mkdirSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyIndex } from '../../cli/git/judge-folder.ts'
import { changesBetween, hashFiles, listTree, patchBetween, readBlob } from '../../cli/git/trees.ts'
import { commitAll, must, open, problemOf, repository, run, write } from './rig.ts'

test('a tree is listed with modes and sizes, and files are read by their literal path', async () => {
  const repo = repository({ 'src/a.js': 'let a = 1\n', 'src/*.js': 'star\n' })
  symlinkSync('a.js', join(repo, 'src/link'))
  commitAll(repo, 'link')
  const { site, base } = await open(repo)
  const entries = must(await listTree(site, base.tree))
  expect(entries.map(({ path, mode, size }) => [path, mode, size])).toEqual([
    ['src/*.js', '100644', 5],
    ['src/a.js', '100644', 10],
    ['src/link', '120000', 4],
  ])
  expect(must(await readBlob(site, base.commit, 'src/*.js'))?.toString()).toBe('star\n')
  expect(must(await readBlob(site, base.commit, 'src'))).toBe(null)
  expect(must(await readBlob(site, base.commit, 'src/none.js'))).toBe(null)
  expect(problemOf(await listTree(site, 'nonsense'))).toBe('git_failed')
})

test('hashes on disk are those of git, follow no link, and tell missing from folder', async () => {
  const repo = repository({ 'a.txt': 'hello\n', 'big.bin': 'x'.repeat(5_000_000) })
  symlinkSync('nowhere', join(repo, 'dangling'))
  mkdirSync(join(repo, 'dir'))
  const hashes = must(await hashFiles(repo, ['a.txt', 'big.bin', 'dangling', 'dir', 'none', 'a.txt/below']))
  expect(Object.fromEntries(hashes)).toEqual({
    'a.txt': 'ce013625030ba8dba906f756967f9e9ca394464a',
    'big.bin': run(repo, 'hash-object', 'big.bin').trim(),
    dangling: '5425ec0feb1edc20db0d742ffb8877b972b46134',
    dir: 'folder',
    none: null,
    'a.txt/below': null,
  })
})

test('a patch between two trees applies again, binary files and narrow paths included', async () => {
  const repo = repository()
  const first = run(repo, 'rev-parse', 'HEAD').trim()
  write(repo, 'src/a.js', 'let a = 2\n')
  write(repo, 'bin.dat', Buffer.from([0, 1, 2, 255]))
  const second = commitAll(repo, 'second')
  const { site } = await open(repo)
  const changes = must(await changesBetween(site, first, second))
  expect(changes.map(({ status, path, added, removed }) => [status, path, added, removed])).toEqual([
    ['A', 'bin.dat', null, null],
    ['M', 'src/a.js', 1, 1],
  ])
  const whole = must(await patchBetween(site, first, second))
  expect(whole).toContain('GIT binary patch')
  write(repo, '../all.patch', whole)
  run(repo, 'checkout', '-q', first)
  run(repo, 'apply', '--index', '../all.patch')
  expect(run(repo, 'write-tree')).toBe(run(repo, 'rev-parse', `${second}^{tree}`))
  const narrow = must(await patchBetween(site, first, second, { paths: ['src/a.js'], context: 0 }))
  expect(narrow).toContain('-let a = 1\n+let a = 2\n')
  expect(narrow).not.toContain('bin.dat')
  expect(must(await changesBetween(site, first, first))).toEqual([])
})

test('a copied index is never younger than its original, or git would trust edits of that second', async () => {
  const repo = repository()
  const index = join(repo, '.git/index')
  utimesSync(index, 1000, 1000.75)
  await copyIndex(index, join(repo, '../copy'))
  expect(statSync(join(repo, '../copy')).mtimeMs).toBe(1_000_000)
})
