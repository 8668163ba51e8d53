import { expect, test } from 'vitest'
import { crash, type LineDeath } from '../rig/crash.ts'
import { all, switches, switchProject } from './attribute-scene.ts'
import type { Project } from './project.ts'

interface Found {
  attribution: number
  tests: number
  parts: { id: string; state: string }[]
  reduced: { experiment: string; status: string; value: number | null } | null
}

async function winner(): Promise<{ project: Project; experiment: string }> {
  const project = switchProject(8, '10 * p[2] + 5 * p[7]')
  await project.data('init')
  const { experiment } = await project.attempt(switches(8, all(8)))
  return { project, experiment }
}

/** In the order in which one attribution comes to them; each process counts from its own start. */
const DEATHS: LineDeath[] = [
  { line: '"type":"attribution_started"', how: 'torn', who: 'one' },
  { line: '"type":"attribution_started"', how: 'after', who: 'all' },
  { line: '"step":"sample"', how: 'after', who: 'one' },
  { line: '"step":"sample"', how: 'after', who: 'all' },
  { line: '"type":"attributed"', how: 'before', who: 'one' },
  { line: '"type":"attributed"', how: 'torn', who: 'all' },
  { line: '"type":"attributed"', how: 'after', who: 'one' },
  { line: '"type":"attributed"', nth: 3, how: 'before', who: 'one' },
  { line: '"type":"created"', how: 'before', who: 'one' },
  { line: '"type":"created"', how: 'after', who: 'one' },
  { line: '"type":"sealed"', how: 'torn', who: 'one' },
  { line: '"type":"sealed"', how: 'after', who: 'all' },
  { line: '"type":"started"', how: 'after', who: 'one' },
  { line: '"step":"sample"', how: 'after', who: 'one' },
  { line: '"type":"judged"', how: 'before', who: 'one' },
  { line: '"type":"judged"', how: 'after', who: 'one' },
  { line: '"type":"attribution_ended"', how: 'before', who: 'one' },
  { line: '"type":"attribution_ended"', how: 'torn', who: 'one' },
  { line: '"type":"attribution_ended"', how: 'after', who: 'one' },
]

test('an attribution that is killed at any event begins again, pays for a sample twice, or makes a second child', async () => {
  const twin = await winner()
  const begun = twin.project.starts().length
  const undisturbed = await twin.project.data<Found>('attribute', twin.experiment)
  const paid = twin.project.starts().length - begun
  const { project, experiment } = await winner()
  for (const [at, death] of DEATHS.entries()) {
    const crashing = crash(death)
    const ran = await project.cli(['attribute', experiment], { env: crashing.env })
    expect([at, death.line, crashing.deaths(), ran.signal]).toEqual([at, death.line, 1, 'SIGKILL'])
  }
  const found = await project.data<Found>('attribute', experiment)
  expect({ ...found, reduced: found.reduced?.status, summary: '' }).toEqual({
    ...undisturbed,
    reduced: undisturbed.reduced?.status,
    summary: '',
  })
  expect(project.starts().length - begun).toBe(paid)
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
})
