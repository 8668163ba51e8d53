import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { putBack, takeInventory } from '../../cli/disk/inventory.ts'
import { makeTemp } from '../rig/temp.ts'

test('a folder whose rights alone changed passes for one in which something was made and removed again', () => {
  const top = join(makeTemp('inventory'), 'top')
  const sub = join(top, 'sub')
  mkdirSync(sub, { recursive: true })
  writeFileSync(join(sub, 'kept'), '')
  // The times of most folders cannot be set exactly.
  for (let i = 0; i < 100; i++) {
    writeFileSync(join(sub, 'made'), '')
    rmSync(join(sub, 'made'))
    const inventory = takeInventory(top)
    for (const mode of [0o555, 0o700]) {
      chmodSync(sub, mode)
      expect(putBack(inventory, `${top}.aside`).entered).toEqual([])
    }
  }
})

test('a file that was made in a folder and removed again leaves no trace in what is put back', () => {
  const top = join(makeTemp('inventory'), 'top')
  const sub = join(top, 'sub')
  mkdirSync(sub, { recursive: true })
  writeFileSync(join(sub, 'kept'), '')
  const inventory = takeInventory(top)
  writeFileSync(join(sub, 'made'), '')
  rmSync(join(sub, 'made'))
  expect(putBack(inventory, `${top}.aside`).entered).toEqual(['sub/'])
})
