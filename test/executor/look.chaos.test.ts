import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ExecutorConfig } from '../../cli/executor/config.ts'
import { openExecutor } from '../../cli/executor/open.ts'
import { lookShared } from '../../cli/executor/shared-look.ts'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'

const CONFIG: ExecutorConfig = {
  kind: 'slurm',
  partition: 'bench',
  cores: 'node',
  limitMs: 300_000,
  constraint: null,
  options: [],
  jobs: 200,
  countQueue: false,
  folder: null,
  commands: null,
}

test('each of 200 jobs asks the controller in an interval, or one of them gets no answer', async () => {
  const folder = makeTemp('bin')
  const plant = (program: string, text: string) => {
    writeFileSync(join(folder, program), `#!/bin/sh\necho ${program} >> ${folder}/calls\n${text}\n`)
    chmodSync(join(folder, program), 0o755)
  }
  plant('sacct', `echo 'Slurm accounting storage is disabled' >&2; exit 1`)
  plant('squeue', `for id in $(seq 1 200); do echo "$id|RUNNING|n1|None"; done`)
  plant('scontrol', 'exit 1')
  const env = { ...isolatedEnv(), PATH: `${folder}:${process.env.PATH}` }
  const file = join(makeTemp('seen'), 'seen.json')
  const ids = Array.from({ length: 200 }, (_, at) => String(at + 1))
  // Each waits in a process of its own, with an executor of its own.
  const all = () =>
    Promise.all(
      ids.map((id) => lookShared(openExecutor({ env, config: CONFIG }), { file, id, ageMs: 60_000 })),
    )
  const last = { at: 0, seen: {}, wanted: Object.fromEntries(ids.map((id) => [id, Date.now()])) }
  writeFileSync(file, JSON.stringify(last))
  expect(await all()).toEqual(ids.map(() => ({ state: 'running', node: 'n1' })))
  expect(readFileSync(join(folder, 'calls'), 'utf8').split('\n').filter(Boolean)).toEqual(['sacct', 'squeue'])
})

test('the engine is asked for one job after the other, or for all at once', async () => {
  const folder = makeTemp('calls')
  const go = join(makeTemp('go'), 'go')
  const status = `touch "$1/$2"; until [ -e "$3" ]; do sleep 0.05; done; echo running`
  const config: ExecutorConfig = {
    ...CONFIG,
    kind: 'command',
    commands: { submit: ['true'], cancel: ['true'], status: ['sh', '-c', status, 'sh', folder, '{job}', go] },
  }
  const executor = openExecutor({ env: isolatedEnv(), config })
  const ids = Array.from({ length: 12 }, (_, at) => `job-${at}`)
  const looking = executor.look(ids)
  try {
    await until(() => readdirSync(folder).length >= 8, { what: 'eight calls at once' })
    expect(existsSync(join(folder, 'job-8'))).toBe(false)
  } finally {
    writeFileSync(go, '')
  }
  const seen = await looking
  expect([...new Set([...seen.values()].map(({ state }) => state))]).toEqual(['running'])
})
