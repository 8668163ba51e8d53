import { chmodSync, lstatSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { holdsOneOf } from '../../cli/git/index-file.ts'
import { sealTree } from '../../cli/git/seal.ts'
import { addWorktree } from '../../cli/git/worktrees.ts'
import { worktreePath } from '../../cli/paths.ts'
import { must, type Opened, open, repository, run, write } from './rig.ts'

const FILES = {
  'src/a.js': 'let a = 1\n',
  'src/run.sh': '#!/bin/sh\n',
  'b.txt': 'b\n',
  '.gitignore': '*.log\n',
}

async function checkedOut(files: Record<string, string> = FILES): Promise<[Opened, string]> {
  const opened = await open(repository(files))
  const path = worktreePath(opened.site, 'run_0001', 'exp_0001')
  must(await addWorktree(opened.site, path, opened.base.commit, opened.base.tree))
  return [opened, path]
}

const nothing = () => false
const holds = ({ site, base }: Opened, path: string, tree = base.tree) =>
  holdsOneOf(site, path, [tree], nothing)

test('a worktree that nobody touched is taken for an edited one', async () => {
  expect(await holds(...(await checkedOut()))).toBe(true)
})

test.each<[string, (path: string) => void]>([
  [
    'an edit of equal size, with the time of the file put back',
    (path) => {
      const { atime, mtime } = lstatSync(join(path, 'src/a.js'))
      writeFileSync(join(path, 'src/a.js'), 'let a = 2\n')
      utimesSync(join(path, 'src/a.js'), atime, mtime)
    },
  ],
  ['a right that was given', (path) => chmodSync(join(path, 'src/run.sh'), 0o755)],
  ['a deleted file', (path) => rmSync(join(path, 'b.txt'))],
  ['a new file', (path) => writeFileSync(join(path, 'src/new.js'), '1\n')],
  [
    'a new file that is ignored, since only git knows that',
    (path) => writeFileSync(join(path, 'x.log'), '1\n'),
  ],
  [
    'a link in place of a file',
    (path) => {
      rmSync(join(path, 'b.txt'))
      symlinkSync('src/a.js', join(path, 'b.txt'))
    },
  ],
  [
    'a link in place of a folder, to the same files',
    (path) => {
      const moved = join(path, '../moved')
      run(path, 'init', '-q', moved)
      for (const [name, text] of Object.entries(FILES)) write(moved, name, text)
      rmSync(join(path, 'src'), { recursive: true })
      symlinkSync('../moved/src', join(path, 'src'))
    },
  ],
  ['a repository inside', (path) => run(path, 'init', '-q', 'src/inner')],
])('what is lost with a worktree is taken for nothing: %s', async (_, change) => {
  const [opened, path] = await checkedOut()
  change(path)
  expect(await holds(opened, path)).toBe(false)
})

test('a file that was only written again with the same content is taken for an edit', async () => {
  const [opened, path] = await checkedOut()
  writeFileSync(join(path, 'src/a.js'), 'let a = 1\n')
  expect(await holds(opened, path)).toBe(true)
})

test('what is sealed is not known after the seal, or an edit after it is taken for the seal', async () => {
  const [opened, path] = await checkedOut()
  const { site, base } = opened
  writeFileSync(join(path, 'src/a.js'), 'let a = 2\n')
  const request = {
    site,
    worktree: path,
    parent: base,
    mutable: () => true,
    leaveOut: new Map(),
    since: null,
  }
  const { tree } = must(await sealTree(request))
  expect(await holds(opened, path, tree)).toBe(true)
  expect(await holds(opened, path)).toBe(false)
  writeFileSync(join(path, 'src/a.js'), 'let a = 3\n')
  expect(await holds(opened, path, tree)).toBe(false)
})

test('a file that a filter wrote is judged by its bytes, and not left to git', async () => {
  const [opened, path] = await checkedOut({ 'a.txt': 'a\n', '.gitattributes': 'a.txt text eol=crlf\n' })
  // Git's own stat data tell, until the file is written again.
  writeFileSync(join(path, 'a.txt'), 'a\r\n')
  expect(await holds(opened, path)).toBe(false)
})

test('a file that stays beside the tree, such as data, makes each worktree look edited', async () => {
  const [{ site, base }, path] = await checkedOut()
  write(path, 'data/large.bin', 'x')
  expect(await holdsOneOf(site, path, [base.tree], (one) => one === 'data/large.bin')).toBe(true)
})
