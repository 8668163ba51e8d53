import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeTree } from '../../cli/disk/remove.ts'
import { makeTemp } from '../rig/temp.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

/** Folders in each other, deeper than a path may be long: the innermost is made first and moved into the next. */
function nest(folder: string, depth: number, name = 'd'): void {
  let inner = join(folder, 'inner-0')
  mkdirSync(inner)
  writeFileSync(join(inner, 'file'), 'x')
  for (let at = 1; at < depth; at++) {
    const outer = join(folder, `inner-${at}`)
    mkdirSync(outer)
    renameSync(inner, join(outer, name))
    inner = outer
  }
  renameSync(inner, join(folder, 'deep'))
}

test('folders nested deeper than the longest path are not removed', () => {
  const folder = makeTemp('deep')
  nest(folder, 3000)
  nest(join(folder, 'deep'), 40, 'n'.repeat(250))
  expect(removeTree(join(folder, 'deep'))).toBeNull()
  expect(readdirSync(folder)).toEqual([])
})

test('a link is followed, or what it leads to is removed with it', () => {
  const [folder, outside] = [makeTemp('links'), makeTemp('outside')]
  writeFileSync(join(outside, 'precious'), 'x')
  mkdirSync(join(folder, 'tree'))
  symlinkSync(outside, join(folder, 'tree', 'link'))
  symlinkSync(outside, join(folder, 'itself'))
  expect([removeTree(join(folder, 'tree')), removeTree(join(folder, 'itself'))]).toEqual([null, null])
  expect([readdirSync(folder), readdirSync(outside)]).toEqual([[], ['precious']])
})

test('a name that is no UTF-8, a pipe, or nothing at all stops the removal', () => {
  const folder = makeTemp('names')
  mkdirSync(join(folder, 'tree'))
  const name = Buffer.concat([Buffer.from(`${join(folder, 'tree')}/`), Buffer.from([0xff, 0xfe])])
  mkdirSync(name)
  writeFileSync(Buffer.concat([name, Buffer.from([0x2f, 0xe4])]), 'x')
  execFileSync('mkfifo', [join(folder, 'tree', 'pipe')])
  expect([removeTree(join(folder, 'tree')), removeTree(join(folder, 'nothing'))]).toEqual([null, null])
  expect(readdirSync(folder)).toEqual([])
})

test('a folder without permissions, or one inside of such a folder, is not removed', () => {
  // Not below the folder of this file, which only its owner may enter.
  const folder = mkdtempSync(join(tmpdir(), 'assay-rights-'))
  const made = ['tree/no/rights/file', 'tree/no/rights', 'tree/no', 'tree', ''].map((path) =>
    join(folder, path),
  )
  mkdirSync(join(folder, 'tree', 'no', 'rights'), { recursive: true })
  writeFileSync(join(folder, 'tree', 'no', 'rights', 'file'), 'x')
  for (const path of made.slice(1, 4)) chmodSync(path, 0)
  // Root needs no rights, so there a user does it that has none.
  if (isRoot) for (const path of made) chownSync(path, NOBODY, NOBODY)
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    expect(removeTree(join(folder, 'tree'))).toBeNull()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
  expect(existsSync(join(folder, 'tree'))).toBe(false)
  rmSync(folder, { recursive: true })
})

test('a file that cannot be removed is not named, or keeps the other files', (context) => {
  if (!isRoot) context.skip('needs the right to mount')
  const folder = makeTemp('busy')
  mkdirSync(join(folder, 'tree', 'busy'), { recursive: true })
  writeFileSync(join(folder, 'tree', 'file'), 'x')
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', join(folder, 'tree', 'busy')], { stdio: 'pipe' })
  } catch {
    context.skip('needs the right to mount')
  }
  try {
    expect(removeTree(join(folder, 'tree'))).toEqual({ path: join(folder, 'tree', 'busy'), code: 'EBUSY' })
    expect(readdirSync(join(folder, 'tree'))).toEqual(['busy'])
  } finally {
    execFileSync('umount', [join(folder, 'tree', 'busy')])
  }
})
