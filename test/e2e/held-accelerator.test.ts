import { spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { makeProject } from './project.ts'

const children: number[] = []
afterEach(() => {
  for (const pid of children.splice(0)) process.kill(pid, 'SIGKILL')
})

test('a foreign process that fills an accelerator is not reported, is reported each round, or a small or own one is reported', async () => {
  const project = makeProject()
  await project.data('init')
  const [stranger = 0, small = 0] = [300, 301].map((seconds) => {
    const { pid = 0 } = spawn('sleep', [String(seconds)], { env: {}, stdio: 'ignore' })
    children.push(pid)
    return pid
  })
  const bin = makeTemp('bin')
  // This process is an ancestor of the CLI that asks.
  const lines = [
    `${stranger}, 9000`,
    `${small}, 4095`,
    `${process.pid}, 9000`,
    '1073741824, 9000',
    `${small}, [N/A]`,
  ]
  writeFileSync(
    join(bin, 'nvidia-smi'),
    `#!/bin/sh\nprintf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}\n`,
  )
  chmodSync(join(bin, 'nvidia-smi'), 0o755)
  const env = { PATH: `${bin}:${process.env.PATH}` }
  const next = async () =>
    dataOf(
      await project.cli<{ round: number; tasks: { id: string }[]; alerts: string[] }>(['round', 'next'], {
        env,
      }),
    )
  const first = await next()
  expect(first.alerts).toEqual([
    `process ${stranger} (sleep 300) holds 9000 MiB of an accelerator and belongs to no measurement: what is measured beside it may be slow, or fail for want of memory`,
  ])
  const answers: Record<string, string[]> = {
    'r1/brief': ['--input', JSON.stringify({ briefs: [{ objective: 'go down' }] })],
  }
  let now = first
  while (now.round === first.round) {
    for (const { id } of now.tasks) await project.data('answer', id, ...(answers[id] ?? ['--none']))
    now = await next()
  }
  expect(now).toMatchObject({ round: 2, alerts: [] })
})
