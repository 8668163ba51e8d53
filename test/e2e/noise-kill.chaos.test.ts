import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { isAlive } from '../rig/alive.ts'
import { startAssay } from '../rig/assay.ts'
import { steadyChance } from '../rig/chance.ts'
import { until } from '../rig/until.ts'
import { noisyProject, notRecomputed, size } from './noisy.ts'

test('a worker that is killed amid its pairs loses some, pays for some twice, or ends in a different verdict', async () => {
  const twin = noisyProject()
  await twin.data('init')
  const undisturbed = await twin.attempt(size(85))
  const project = noisyProject()
  await project.data('init')
  const { experiment } = await project.open(size(85))
  const at = (name: string) => join(project.control, name)
  // In the first pair, between its halves, at the last pair of the judgement, at the first and in the middle of the confirmation.
  for (const draw of [6, 7, 15, 16, 22]) {
    writeFileSync(at('hold'), String(draw))
    const worker = startAssay(['run', experiment, '--json'], { cwd: project.repo.dir, env: steadyChance(1) })
    await until(() => existsSync(at('held')), { what: `draw ${draw}`, dir: project.control })
    worker.kill('SIGKILL')
    await worker.ended
    const pid = Number(readFileSync(at('held'), 'utf8'))
    await until(() => !isAlive(pid), { what: 'the benchmark of the dead worker to end' })
    rmSync(at('held'))
    // The sample that was never finished draws again what it would have drawn.
    const lines = readFileSync(at('draws'), 'utf8').split('\n').slice(0, -2)
    expect(lines).toHaveLength(draw - 1)
    writeFileSync(at('draws'), lines.map((line) => `${line}\n`).join(''))
  }
  rmSync(at('hold'))
  const { attempt, status, value, samples, interval, message } = undisturbed
  expect(await project.data('run', experiment)).toMatchObject({
    attempt,
    status,
    value,
    samples,
    interval,
    message,
  })
  expect(project.draws()).toEqual(twin.draws())
  // Each stage keeps what it began with, whatever was learnt since.
  const steps = project.repo.path('.assay/runs/run_0001/exp/0001/attempts/1/steps.jsonl')
  expect(readFileSync(steps, 'utf8').match(/"context"/g)).toHaveLength(2)
  expect(await notRecomputed(project)).toEqual([])
})
