import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { composed, type DiffUnit, unitsOf } from '../../cli/attribute/units.ts'
import { inspectCheckout } from '../../cli/git/checkout.ts'
import { composeTree, partsBetween } from '../../cli/git/parts.ts'
import { importCommit } from '../../cli/git/store.ts'
import { listTree, readBlob } from '../../cli/git/trees.ts'
import { commitAll, must, open, repository, run, write } from './rig.ts'

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i + 1}\n`)
const lines = (changed: Record<number, string>): string =>
  LINES.map((line, i) => changed[i + 1] ?? line).join('')

/** A repository, what `edit` makes of it, and the units of that. */
async function scene(files: Record<string, string>, edit: (dir: string) => void) {
  const dir = repository(files)
  const opened = await open(dir)
  edit(dir)
  commitAll(dir, 'winner')
  const winner = must(await importCommit(opened.site, must(await inspectCheckout(dir))))
  expect(winner.tree).not.toBe(opened.base.tree)
  const { changes, renames } = must(await partsBetween(opened.site, opened.base.tree, winner.tree))
  const units = unitsOf(changes, renames)
  const tree = async (chosen: readonly DiffUnit[]) =>
    must(await composeTree(opened.site, opened.base.tree, composed(changes, chosen)))
  return { ...opened, winner, units, tree }
}

test('leaves one hunk out and the others as they were sealed', async () => {
  const { site, units, tree } = await scene({ 'a.txt': LINES.join('') }, (dir) =>
    write(dir, 'a.txt', lines({ 2: 'two\n', 20: 'twenty\n', 39: '' })),
  )
  expect(units).toHaveLength(3)
  const without = await tree(units.filter(({ id }) => id !== 'h2'))
  expect(must(await readBlob(site, without, 'a.txt'))?.toString()).toBe(lines({ 2: 'two\n', 39: '' }))
})

test('gives the sealed tree with all units and the parent with none, whatever was changed', async () => {
  const { base, winner, units, tree } = await scene(
    {
      'a.txt': LINES.join(''),
      'run.sh': '#!/bin/sh\n',
      'old name.txt': LINES.join(''),
      gone: 'x\n',
      'way/file.txt': 'y\n',
      target: 'z\n',
    },
    (dir) => {
      write(dir, 'a.txt', Buffer.from(`${lines({ 3: '\xff\x80\r\n', 30: '' })}no end`, 'latin1'))
      write(dir, 'run.sh', '#!/bin/sh\necho\n')
      chmodSync(join(dir, 'run.sh'), 0o755)
      run(dir, 'mv', 'old name.txt', 'new "näme".txt')
      rmSync(join(dir, 'gone'))
      mkdirSync(join(dir, 'gone'))
      write(dir, 'gone/inside', 'x\n')
      rmSync(join(dir, 'way'), { recursive: true })
      write(dir, 'way', 'a file now\n')
      rmSync(join(dir, 'target'))
      symlinkSync('a.txt', join(dir, 'target'))
      write(dir, 'binary', Buffer.from([0, 1, 2]))
    },
  )
  expect(await tree(units)).toBe(winner.tree)
  expect(await tree([])).toBe(base.tree)
  // Each unit can be left out on its own, and put on the parent on its own.
  for (const unit of units) {
    await tree(units.filter((other) => other !== unit))
    await tree([unit])
  }
})

test('never leaves a renamed file in both places', async () => {
  const { site, units, tree } = await scene({ 'a.txt': LINES.join('') }, (dir) => {
    run(dir, 'mv', 'a.txt', 'b.txt')
    write(dir, 'b.txt', lines({ 7: 'seven\n' }))
    write(dir, 'c.txt', 'new\n')
  })
  expect(units.map(({ edits }) => edits.map(({ path }) => path))).toEqual([['a.txt', 'b.txt'], ['c.txt']])
  const files = must(await listTree(site, await tree(units.slice(0, 1))))
  expect(files.map(({ path }) => path)).toEqual(['b.txt'])
})
