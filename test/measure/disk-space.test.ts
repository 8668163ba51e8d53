import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type DiskSpace, diskSizeOf, MANY_WORKTREES, spaceWarnings } from '../../cli/measure/disk-space.ts'
import { makeTemp } from '../rig/temp.ts'

const MIB = 1024 * 1024
const plenty: DiskSpace = { free: 1000 * MIB, checkout: 10 * MIB, attempt: 2 * MIB, coming: 4, ended: 0 }
const said = (more: Partial<DiskSpace>) => spaceWarnings({ ...plenty, ...more })

test('a round that would not fit on the disk gives no warning, or one that just fits gives one', () => {
  expect(said({ free: 48 * MIB })).toEqual([])
  expect(said({ free: 48 * MIB - 1 })).toEqual([
    '48 MiB are free on the disk that holds .assay, and the next step may need 48 MiB (4 worktrees, about 12 MiB each with its outputs): free some space, first with assay gc',
  ])
  expect(said({ free: 5 * MIB, coming: 1, ended: 3 })).toEqual([
    '5.0 MiB are free on the disk that holds .assay, and the next step may need 12 MiB (1 worktree, about 12 MiB each with its outputs); 3 worktrees of ended experiments hold about 30 MiB: free some space, first with assay gc',
  ])
})

test('many unneeded worktrees give no warning, or a few of them give one', () => {
  expect(said({ ended: 100 })).toEqual([])
  expect(said({ ended: 101 })).toEqual([
    '101 worktrees of ended experiments hold about 1010 MiB, and 1000 MiB are free: assay gc deletes these worktrees; all candidates stay in the store',
  ])
  const room = { free: 1000 * 1024 * MIB }
  expect(said({ ...room, ended: MANY_WORKTREES - 1 })).toEqual([])
  expect(said({ ...room, ended: MANY_WORKTREES })).toEqual([
    '500 worktrees of ended experiments hold about 4.9 GiB, and 1000.0 GiB are free: assay gc deletes these worktrees; all candidates stay in the store',
  ])
})

test('unknown disk space counts as none', () => {
  expect(said({ free: null })).toEqual([])
  expect(said({ free: 3 * MIB, checkout: null })).toHaveLength(1)
  expect(said({ free: 9 * MIB, checkout: null })).toEqual([])
  expect(said({ free: 0, coming: 0 })).toEqual([])
})

test('the size of a folder with 100,000 files is counted to the end, or that of a small one is not', () => {
  const folder = makeTemp('many')
  for (let n = 0; n < 30; n++) writeFileSync(join(folder, String(n)), 'x')
  const whole = diskSizeOf(folder)
  expect(whole).toBeGreaterThan(0)
  expect(diskSizeOf(folder, 31)).toBe(whole)
  expect(diskSizeOf(folder, 11) / whole).toBeCloseTo(10 / 30)
})
