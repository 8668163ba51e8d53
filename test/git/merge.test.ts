import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inspectCheckout } from '../../cli/git/checkout.ts'
import { mergeCommits } from '../../cli/git/merge.ts'
import { pinCommit } from '../../cli/git/seal.ts'
import { importCommit } from '../../cli/git/store.ts'
import { listTree, readBlob } from '../../cli/git/trees.ts'
import { commitAll, freshFolder, must, type Opened, open, repository, run, write } from './rig.ts'

const LINES = Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`)
const lines = (changed: Record<number, string>): string =>
  LINES.map((line, i) => changed[i + 1] ?? line).join('')
const FILES = { 'a.txt': LINES.join(''), 'b.txt': 'b\n', 'run.sh': '#!/bin/sh\n' }

/** What the user's checkout looks like after `edit`, as a candidate on the base. */
async function candidate({ site, checkout, base }: Opened, name: string, edit: (dir: string) => void) {
  run(checkout.top, 'checkout', '-q', '-B', name, base.commit)
  edit(checkout.top)
  commitAll(checkout.top, name)
  const { tree } = must(await importCommit(site, must(await inspectCheckout(checkout.top))))
  return must(
    await pinCommit(site, {
      tree,
      parents: [base.commit],
      message: name,
      ref: `refs/assay/1/${name}/1`,
      at: new Date('2026-01-01T00:00:00Z'),
    }),
  )
}

const path = process.env.PATH
afterEach(() => {
  process.env.PATH = path
})

/** A git that answers as those before 2.38 do, and is the real one otherwise. */
function oldGit(): void {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const bin = join(freshFolder(), 'bin')
  mkdirSync(bin)
  write(
    bin,
    'git',
    `#!/bin/sh\nfor word; do [ "$word" = --write-tree ] && { echo "usage: git merge-tree" >&2; exit 129; }; done\nexec '${real}' "$@"\n`,
  )
  chmodSync(join(bin, 'git'), 0o755)
  process.env.PATH = `${bin}${delimiter}${path}`
}

describe.each([
  ['this git', () => {}],
  ['git before 2.38', oldGit],
])('with %s', (_, choose) => {
  beforeEach(choose)

  test('puts edits of other files and of other lines of one file together', async () => {
    const opened = await open(repository(FILES))
    const one = await candidate(opened, 'one', (dir) => {
      write(dir, 'a.txt', lines({ 2: 'two\n' }))
      write(dir, 'new.txt', 'new\n')
      chmodSync(join(dir, 'run.sh'), 0o755)
    })
    const two = await candidate(opened, 'two', (dir) => {
      write(dir, 'a.txt', lines({ 25: '\r\xff\n' }))
      write(dir, 'run.sh', '#!/bin/sh\necho\n')
      rmSync(join(dir, 'b.txt'))
    })
    const merged = must(await mergeCommits(opened.site, one, two))
    if (!('tree' in merged)) expect.fail(`conflicts in ${merged.conflicts}`)
    expect(must(await readBlob(opened.site, merged.tree, 'a.txt'))?.toString()).toBe(
      lines({ 2: 'two\n', 25: '\r\xff\n' }),
    )
    const files = must(await listTree(opened.site, merged.tree))
    expect(files.map(({ mode, path }) => `${mode} ${path}`)).toEqual([
      '100644 a.txt',
      '100644 new.txt',
      '100755 run.sh',
    ])
    expect(must(await readBlob(opened.site, merged.tree, 'run.sh'))?.toString()).toBe('#!/bin/sh\necho\n')
  })

  test('names each file that conflicts, and answers no tree with marks in it', async () => {
    const opened = await open(repository(FILES))
    const one = await candidate(opened, 'one', (dir) => {
      write(dir, 'a.txt', lines({ 2: 'two\n' }))
      write(dir, 'b.txt', 'one\n')
    })
    const two = await candidate(opened, 'two', (dir) => {
      write(dir, 'a.txt', lines({ 2: 'zwei\n' }))
      rmSync(join(dir, 'b.txt'))
      write(dir, 'c.txt', 'c\n')
    })
    const merged = must(await mergeCommits(opened.site, one, two))
    expect(merged).toEqual({ conflicts: ['a.txt', 'b.txt'] })
  })

  test('takes a merge as one side of the next one', async () => {
    const opened = await open(repository(FILES))
    const [one, two, three] = [
      await candidate(opened, 'one', (dir) => write(dir, 'a.txt', lines({ 2: 'two\n' }))),
      await candidate(opened, 'two', (dir) => write(dir, 'a.txt', lines({ 12: 'twelve\n' }))),
      await candidate(opened, 'three', (dir) => write(dir, 'a.txt', lines({ 25: 'more\n' }))),
    ]
    const first = must(await mergeCommits(opened.site, one, two))
    if (!('tree' in first)) expect.fail('a conflict')
    const both = must(
      await pinCommit(opened.site, {
        tree: first.tree,
        parents: [one, two],
        message: 'both',
        ref: 'refs/assay/1/both/1',
        at: new Date('2026-01-01T00:00:00Z'),
      }),
    )
    const all = must(await mergeCommits(opened.site, both, three))
    if (!('tree' in all)) expect.fail('a conflict')
    expect(must(await readBlob(opened.site, all.tree, 'a.txt'))?.toString()).toBe(
      lines({ 2: 'two\n', 12: 'twelve\n', 25: 'more\n' }),
    )
  })
})
