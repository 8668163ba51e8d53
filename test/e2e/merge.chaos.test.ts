import { expect, test } from 'vitest'
import { crash, type LineDeath } from '../rig/crash.ts'
import { switches, switchProject } from './attribute-scene.ts'
import type { Merged } from './merge-scene.ts'
import type { Project } from './project.ts'

/** Four siblings: the second conflicts with the first, the third clashes with it, the fourth adds up. */
async function four(): Promise<Project> {
  const project = switchProject(
    4,
    '5 * (p[1] == 1) + 4 * (p[1] == 2) + 3 * p[3] + 2 * p[4] - 9 * p[1] * p[3]',
  )
  await project.data('init')
  await project.attempt(switches(4, [1]))
  await project.attempt(switches(4, [], { 1: '2' }))
  await project.attempt(switches(4, [3]))
  await project.attempt(switches(4, [4]))
  return project
}

/** With its parents, what came of each set. The parents of this scene have the same numbers in each project. */
async function mergesIn(project: Project): Promise<string[]> {
  const { nodes } = await project.data<{
    nodes: { experiment: string; status: string; parents?: string[] }[]
  }>('tree')
  const number = new Map(nodes.map(({ experiment }, at) => [experiment, at]))
  return nodes.flatMap(({ status, parents }) =>
    parents ? [`${parents.map((id) => number.get(id)).join('+')} ${status}`] : [],
  )
}

/** In the order in which one merge comes to them; each process counts from its own start. */
const DEATHS: LineDeath[] = [
  { line: '"type":"conflicted"', how: 'before', who: 'one' },
  { line: '"type":"conflicted"', how: 'torn', who: 'one' },
  { line: '"type":"conflicted"', how: 'after', who: 'all' },
  { line: '"type":"created"', how: 'before', who: 'one' },
  { line: '"type":"created"', how: 'torn', who: 'all' },
  { line: '"type":"created"', how: 'after', who: 'one' },
  { line: '"type":"sealed"', how: 'before', who: 'one' },
  { line: '"type":"sealed"', how: 'torn', who: 'one' },
  { line: '"type":"sealed"', how: 'after', who: 'all' },
  { line: '"type":"started"', how: 'before', who: 'one' },
  { line: '"type":"started"', how: 'after', who: 'one' },
  { line: '"step":"sample"', how: 'after', who: 'one' },
  { line: '"type":"judged"', how: 'before', who: 'all' },
  { line: '"type":"judged"', how: 'torn', who: 'one' },
  { line: '"type":"judged"', how: 'after', who: 'one' },
  { line: '"type":"created"', how: 'after', who: 'one' },
  { line: '"type":"judged"', how: 'after', who: 'all' },
]

test('a merge that is killed at any event begins again, pays for a sample twice, or makes a second child', async () => {
  const twin = await four()
  const begun = twin.starts().length
  const undisturbed = await twin.data<Merged>('merge')
  const paid = twin.starts().length - begun
  const project = await four()
  for (const [at, death] of DEATHS.entries()) {
    const crashing = crash(death)
    const ran = await project.cli(['merge'], { env: crashing.env })
    expect([at, death.line, crashing.deaths(), ran.signal]).toEqual([at, death.line, 1, 'SIGKILL'])
  }
  const { best, left } = await project.data<Merged>('merge')
  expect(left).toEqual(undisturbed.left)
  expect(project.starts().length - begun).toBe(paid)
  // A number that a killed process took is given to no other experiment.
  expect(await mergesIn(project)).toEqual(await mergesIn(twin))
  expect(await project.data('show', String(best), '--recompute')).toMatchObject({ same: true })
})

test('two processes that merge at the same time make two children of one set, or measure it twice', async () => {
  const project = await four()
  const begun = project.starts().length
  const twin = await four()
  await twin.data<Merged>('merge')
  const [one, other] = await Promise.all([project.data<Merged>('merge'), project.data<Merged>('merge')])
  expect(one.best).toBe(other.best)
  expect(await mergesIn(project)).toEqual(await mergesIn(twin))
  expect(project.starts().length - begun).toBe(twin.starts().length - begun)
})
