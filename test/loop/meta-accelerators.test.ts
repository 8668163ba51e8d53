import { spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { acceleratorFacts } from '../../cli/loop/meta/facts.ts'
import { findOrphans, identify } from '../../cli/process.ts'
import type { OpenRun } from '../../cli/run/open.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'

const children: number[] = []
afterEach(() => {
  for (const pid of children.splice(0)) process.kill(pid, 'SIGKILL')
})

/** A process whose owner is proved dead: this one's pid with another start time. */
function orphan(): number {
  const owner = Buffer.from(JSON.stringify({ ...identify(), started: '1@00000000' })).toString('base64url')
  const env = { PATH: process.env.PATH, ASSAY_TOKEN: `00:${owner}` }
  const { pid = 0 } = spawn('sleep', ['300'], { env, stdio: 'ignore' })
  children.push(pid)
  return pid
}

function withTool(script: string): OpenRun {
  const folder = makeTemp('bin')
  const tool = join(folder, 'nvidia-smi')
  writeFileSync(tool, `#!/bin/sh\n${script}\n`)
  chmodSync(tool, 0o755)
  return worldOf(`${folder}:${process.env.PATH}`)
}
const worldOf = (path: string) =>
  ({ env: { PATH: path }, signal: new AbortController().signal }) as unknown as OpenRun

test('an orphan that holds an accelerator is not named, or every process on one is', async () => {
  const pid = orphan()
  await until(() => findOrphans().some((one) => one.process.pid === pid), { what: 'the orphan' })
  const facts = await acceleratorFacts(withTool(`echo '${process.pid}, 10 MiB'; echo '${pid}, 900 MiB'`))
  expect(facts.map(({ name }) => name)).toEqual([expect.stringMatching(`^orphan_accelerator:${pid}:`)])
  expect(facts[0]?.message).toContain('900 MiB')
  expect(await acceleratorFacts(withTool('echo no devices; exit 9'))).toEqual([])
  expect(await acceleratorFacts(worldOf(makeTemp('empty')))).toEqual([])
})
