/** A limit that Slurm itself enforces, which takes a minute at least. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hook, ms, type RunData } from '../e2e/project.ts'
import { isAlive } from '../rig/alive.ts'
import { dataOf, startAssay } from '../rig/assay.ts'
import { noSlurm, startCluster } from '../rig/slurm.ts'
import { until } from '../rig/until.ts'
import { projectOnCluster, SLURM } from './scene.ts'

test('a job that Slurm ends at its limit costs the candidate its idea, or says nothing of the limit', async (context) => {
  const missing = noSlurm()
  if (missing !== null) context.skip(missing)
  const cluster = await startCluster()
  const project = projectOnCluster(cluster, {
    executor: { ...SLURM, limit: '1m' },
    spec: { measure: { command: 'sh bench/run.sh', timeout: '10m' } },
  })
  await project.data('init', '--no-canary')
  const [begun, go] = ['begun', 'go'].map((name) => join(project.control, name))
  const { experiment } = await project.open({
    ...ms(90),
    ...hook(`echo $$ > ${begun}; while [ ! -e ${go} ]; do sleep 0.2; done`),
  })
  const running = startAssay<RunData>(['run', experiment, '--json'], {
    cwd: project.repo.dir,
    env: { ...cluster.env },
  })
  await until(() => existsSync(begun ?? ''), { what: 'the sample' })
  const verdict = dataOf(await running.ended)
  expect(verdict).toMatchObject({ status: 'failed', reason: 'environment', failure_class: 'environment' })
  expect(verdict.message).toContain('executor.limit')
  expect((await cluster.jobs()).map(({ state }) => state)).toContain('TIMEOUT')
  expect(isAlive(Number(readFileSync(begun ?? '', 'utf8')))).toBe(false)
  writeFileSync(go ?? '', '')
  await project.data('config', 'set', 'executor.limit', '5m', '--reason', 'too little')
  expect(await project.data<RunData>('run', experiment)).toMatchObject({ status: 'kept', attempt: 2 })
})
