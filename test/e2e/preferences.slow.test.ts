/** What a user prefers for all projects, and what a spec says instead. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { makeProject, specText } from './project.ts'

interface Found {
  findings: { code: string; level: string; what: string; at?: string }[]
}

test('a preference of the user is not used, wins over the spec, is partly read, or its origin is not shown', async () => {
  const config = makeTemp('config')
  const file = join(config, 'assay', 'config.yaml')
  const project = makeProject({ env: { XDG_CONFIG_HOME: config } })
  await project.data('init')
  const key = (name: string) => project.data<object>('config', 'get', name)
  const about = async (code: string) =>
    (await project.data<Found>('doctor')).findings.filter((one) => one.code === code)
  expect(await key('loop.driver')).toMatchObject({ value: null, from: 'default' })
  expect(await about('user_config')).toMatchObject([
    { level: 'ok', what: `preferences of the user: none; they would be in ${file}` },
  ])

  mkdirSync(join(config, 'assay'))
  writeFileSync(file, '# mine\ndriver: loop\nautonomous: true\n')
  expect(await key('loop.driver')).toMatchObject({ value: 'loop', from: 'user', at: file })
  expect(await key('loop.autonomous')).toMatchObject({ value: true, from: 'user', at: file })
  const lines = await assay(['config', 'get'], { cwd: project.repo.dir, env: { XDG_CONFIG_HOME: config } })
  expect(lines.stdout).toContain(`loop.driver: loop  (from ${file})\n`)
  expect(await about('user_config')).toMatchObject([
    { what: `preferences of the user: driver: loop, autonomous: true (from ${file})` },
  ])

  project.repo.write({ 'assay.yaml': specText({ loop: { driver: 'prose' } }) })
  dataOf(await project.cli(['config', 'sync']))
  expect(await key('loop.driver')).toMatchObject({ value: 'prose', from: 'config' })
  expect(await key('loop.autonomous')).toMatchObject({ value: true, from: 'user' })
  expect(await about('run_preferences')).toMatchObject([
    { what: "run_0001: loop.driver: prose (from its spec, which wins over the user's)" },
  ])

  writeFileSync(file, 'autonomous: true\ndriver: lop\nspeed: high\n')
  const bad = problemOf(await project.cli(['config', 'get']))
  expect(bad).toMatchObject({
    code: 'user_config_invalid',
    message: '`driver` cannot be "lop"',
    hint: 'did you mean `loop`?',
    at: `${file}:2:9\n  driver: lop\n          ^^^`,
    more: [
      {
        message: '`speed` is not a key of the user configuration',
        at: expect.stringContaining(`${file}:3:1`),
      },
    ],
  })
  expect(problemOf(await project.cli(['config', 'get', 'loop.autonomous'])).code).toBe('user_config_invalid')
  // What needs nothing of it works.
  expect(await key('loop.driver')).toMatchObject({ value: 'prose' })
  expect(await about('user_config_invalid')).toMatchObject([
    {
      level: 'problem',
      what: 'the user configuration cannot be used: `driver` cannot be "lop"',
      at: expect.stringContaining(`${file}:2:9`),
    },
  ])
})
