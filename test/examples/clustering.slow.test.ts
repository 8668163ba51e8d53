import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { type Project, projectIn } from '../e2e/project.ts'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/clustering', import.meta.url))
const read = (path: string) => readFileSync(join(EXAMPLE, path), 'utf8')

const COMMON =
  'the and for are was were with that this which who has have had how can why when where what not but too its from your our you they them than then there since after before until while every each any all some one two three four nine ten twenty thirty does did got get gets want would like please could cannot nobody somebody nothing without although possible still says said whenever days day week weeks month hour minutes minute time times last again back out off over into about only just more most other another different own new old same wrong left list made make need sent send use used goes went made way never always shows show page empty'

let project: Project

beforeAll(async () => {
  const files = Object.fromEntries(
    readdirSync(EXAMPLE, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = relative(EXAMPLE, join(entry.parentPath, entry.name))
        return [path, read(path)]
      }),
  )
  project = projectIn(makeRepo({ files }), makeTemp('control'))
  await project.data('init')
})

test('descriptions in other words that say no more are kept', async () => {
  const attempt = await project.attempt({
    'src/label.mjs': read('src/label.mjs').replace('messages are about', 'messages of this kind speak of'),
  })
  expect(attempt).toMatchObject({ status: 'rejected' })
  expect(attempt.reason).not.toBe('constraint')
})

test('groups by words that tell something are not kept', async () => {
  const words = read('src/words.mjs').replace('?? []', `?? []).filter((word) => !COMMON.has(word))`)
  const attempt = await project.attempt({
    'src/words.mjs': `const COMMON = new Set('${COMMON}'.split(' '))\n${words.replace('=> text', '=> (text')}`,
  })
  expect(attempt).toMatchObject({ status: 'kept', reason: 'improved' })
  expect(attempt.value).toBeGreaterThan(0.3)
  expect(await project.data('show', attempt.experiment, '--recompute')).toMatchObject({ same: true })
})

test('one group for all messages is shown to the judge', async () => {
  const before = await project.data<{ judging: { calls: number } }>('status')
  const attempt = await project.attempt({
    'src/cluster.mjs': `export const cluster = (messages) => new Map([['all', messages]])\n`,
  })
  expect(attempt).toMatchObject({ status: 'rejected', reason: 'constraint' })
  expect(await project.data('status')).toMatchObject({ judging: { calls: before.judging.calls } })
})
