import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, problemOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'

test('the demo writes into a folder that holds something', async () => {
  const cwd = makeTemp('full')
  writeFileSync(join(cwd, 'mine.txt'), 'mine\n')
  const ran = await assay(['demo', '.', '--json'], { cwd })
  expect(ran.code).toBe(2)
  expect(problemOf(ran)).toMatchObject({ code: 'folder_in_use', at: cwd })
  expect(readdirSync(cwd)).toEqual(['mine.txt'])
  const onFile = await assay(['demo', 'mine.txt', '--json'], { cwd })
  expect([onFile.code, problemOf(onFile).code]).toEqual([2, 'folder_in_use'])
  expect(existsSync(join(cwd, '.git'))).toBe(false)
})
