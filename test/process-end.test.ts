import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { endProcess, identify, isAlive } from '../cli/process.ts'
import { makeTemp } from './rig/temp.ts'
import { until } from './rig/until.ts'

const groups: number[] = []
afterAll(() => {
  for (const group of groups) {
    try {
      process.kill(-group, 'SIGKILL')
    } catch {
      // It ended in its test.
    }
  }
})

/** A shell that runs `script` and then says that it is ready. */
async function start(script: string) {
  const ready = join(makeTemp('end'), 'ready')
  const child = spawn(
    '/bin/sh',
    ['-c', `${script}\necho "$!" > '${ready}.new'; mv '${ready}.new' '${ready}'; wait; sleep 300`],
    {
      detached: true,
      stdio: 'ignore',
    },
  )
  groups.push(child.pid ?? 0)
  await until(() => existsSync(ready), { what: 'the process to be ready' })
  const identity = identify(child.pid)
  if (!identity) throw new Error('it is not there')
  return { identity, below: Number(readFileSync(ready, 'utf8')) }
}

test('a process that ignores SIGTERM still runs, or its children do', async () => {
  const { identity, below } = await start(`trap '' TERM; setsid sleep 300 &`)
  const started = identify(below)
  expect(started).not.toBe(null)
  expect(await endProcess(identity, 100)).toBe('killed')
  expect(isAlive(identity)).toBe(false)
  await until(() => started === null || !isAlive(started), { what: 'what it started to end' })
  expect(await endProcess(identity, 100)).toBe('gone')
})

test('a different process with the same number is ended, or one of a different host', async () => {
  const { identity } = await start('true')
  expect(await endProcess({ ...identity, started: `${identity.started}0` }, 100)).toBe('gone')
  expect(await endProcess({ ...identity, host: 'elsewhere' }, 100)).toBe('elsewhere')
  expect(isAlive(identity)).toBe(true)
  expect(await endProcess(identity, 20_000)).toBe('asked')
})
