import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { candidatesIn, sceneOf, tuneFiles, tuneSpec } from '../e2e/loop-scene.ts'
import { type Project, projectIn } from '../e2e/project.ts'
import { makeRepo } from '../rig/repo.ts'
import { noSlurm, startCluster } from '../rig/slurm.ts'
import { makeTemp } from '../rig/temp.ts'
import { eventsOf, SLURM } from './scene.ts'

const missing = noSlurm()
beforeEach((context) => {
  if (missing !== null) context.skip(missing)
})

async function tuned(
  spec: object,
  { env, meeting }: { env: Record<string, string>; meeting?: string } = { env: {} },
): Promise<Project> {
  const files = meeting === undefined ? {} : { 'bench/meet.mjs': benchmarkMeetingIn(meeting) }
  const repo = makeRepo({ files: { ...tuneFiles, ...files, 'assay.yaml': `${JSON.stringify(spec)}\n` } })
  if (meeting !== undefined)
    symlinkSync(repo.path('.assay/runs/run_0001/ledger.jsonl'), join(meeting, 'ledger'))
  const project = projectIn(repo, makeTemp('control'), env)
  await project.data('init', '--no-canary')
  await project.data('loop')
  return project
}

/**
 * A benchmark that waits, if another candidate is open too, until that one is measured as well. If the two are measured
 * one after the other, the first one runs into the time limit, and the tree is another one.
 */
const benchmarkMeetingIn = (
  folder: string,
) => `import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
const folder = ${JSON.stringify(folder)}
const open = new Set()
for (const line of readFileSync(folder + '/ledger', 'utf8').split('\\n').filter(Boolean)) {
  const { type, experiment } = JSON.parse(line)
  if (type === 'created') open.add(experiment)
  if (type === 'judged') open.delete(experiment)
}
const arrived = () => readdirSync(folder).filter((name) => name.startsWith('at-')).length
if (open.size > 1) writeFileSync(folder + '/at-' + process.pid, '')
while (open.size > 1 && arrived() < 2) await new Promise((resolve) => setTimeout(resolve, 20))
if (open.size > 1) writeFileSync(folder + '/met', '')
await import('./run.mjs')
`

const spec = (parts: object = {}) =>
  tuneSpec({ budget: { experiments: 4 }, loop: { width: 2, depth: 1 }, ...parts })

test('two nodes find another tree than this machine with the same seed, or measure one after the other', async () => {
  const cluster = await startCluster()
  const here = await tuned(spec())
  const meeting = makeTemp('meeting')
  const there = await tuned(
    spec({
      executor: SLURM,
      measure: { command: [process.execPath, 'bench/meet.mjs'], isolation: 'none', timeout: '30s' },
    }),
    { env: cluster.env, meeting },
  )
  expect(candidatesIn(sceneOf(there.repo))).toEqual(candidatesIn(sceneOf(here.repo)))
  expect(existsSync(join(meeting, 'met'))).toBe(true)
  const events = eventsOf(there)
  expect(new Set(events.flatMap(({ type, node }) => (type === 'placed' ? [node] : [])))).toEqual(
    new Set(['n1', 'n2']),
  )
})
