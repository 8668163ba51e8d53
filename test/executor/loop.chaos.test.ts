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

async function tuned(spec: object, env: Record<string, string> = {}): Promise<Project> {
  const repo = makeRepo({ files: { ...tuneFiles, 'assay.yaml': `${JSON.stringify(spec)}\n` } })
  const project = projectIn(repo, makeTemp('control'), env)
  await project.data('init', '--no-canary')
  await project.data('loop')
  return project
}

const spec = (parts: object = {}) =>
  tuneSpec({ budget: { experiments: 4 }, loop: { width: 2, depth: 1 }, ...parts })

test('two nodes find another tree than this machine with the same seed, or measure one after the other', async () => {
  const cluster = await startCluster()
  const here = await tuned(spec())
  const there = await tuned(spec({ executor: SLURM }), { ...cluster.env })
  expect(candidatesIn(sceneOf(there.repo))).toEqual(candidatesIn(sceneOf(here.repo)))
  const events = eventsOf(there)
  expect(new Set(events.flatMap(({ type, node }) => (type === 'placed' ? [node] : [])))).toEqual(
    new Set(['n1', 'n2']),
  )
  const times = (type: string) =>
    new Map(events.flatMap((event) => (event.type === type ? [[event.experiment, event.at] as const] : [])))
  const [placed, judged] = [times('placed'), times('judged')]
  const overlap = [...placed].filter(([one, began]) =>
    [...placed].some(([other, at]) => other !== one && at <= began && began < (judged.get(other) ?? '')),
  )
  expect(overlap).not.toEqual([])
})
