import { readdirSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { type InitData, makeProject, type Project } from '../e2e/project.ts'
import { dataOf } from '../rig/assay.ts'
import { type Crash, crash, type LineDeath, type MomentDeath } from '../rig/crash.ts'
import { snapshotTree } from '../rig/snapshot.ts'
import { NOTHING_LOST, recordsOf, takeToll } from './toll.ts'

const SPEC = {
  noise: { mode: 'deterministic', calibrate: 2 },
  worktree: { setup: { command: 'true' }, build: { command: 'true' } },
  gates: [{ name: 'compiles', command: 'true' }],
}

const recorded = (project: Project) =>
  recordsOf(project.repo.path('.assay'))
    .flatMap(({ lines }) => lines)
    .filter(({ step }) => step === 'sample').length

/** 1 when a sample has shown whether the two checkouts are apart, and what it showed is kept. */
const lookedAt = (project: Project) =>
  readdirSync(project.repo.dir, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('/canary/fact.json'),
  ).length

describe('assay init, killed', () => {
  let moments: string[]
  let answer: InitData

  beforeAll(async () => {
    const project = makeProject({ spec: SPEC })
    const traced = crash(null)
    answer = dataOf(await project.cli<InitData>(['init'], { env: traced.env }))
    moments = traced.moments()
  })

  async function die(context: Parameters<typeof takeToll>[0], plan: LineDeath | MomentDeath): Promise<Crash> {
    const what = JSON.stringify(plan)
    const project = makeProject({ spec: SPEC })
    const before = snapshotTree(project.repo.dir)
    const crashing = crash('moment' in plan ? [plan] : plan)
    const ran = await project.cli(['init'], { env: crashing.env })
    expect([what, crashing.deaths(), ran.signal]).toEqual([what, 1, 'SIGKILL'])
    const unrecorded = project.starts().length - recorded(project) - lookedAt(project)
    // Whoever looks is answered, or told that there is no run: never a bug.
    const status = await project.cli(['status'])
    expect([what, status.code === 0 || status.code === 3]).toEqual([what, true])
    const again = await project.data<InitData>('init')
    expect([what, again.baseline]).toEqual([what, answer.baseline])
    expect([what, await project.data('status')]).toMatchObject([
      what,
      { run: again.run, counts: { kept: 1 } },
    ])
    // Two for the baseline, one that shows whether the two checkouts are apart, and what the kill took from a record.
    expect([what, project.starts()]).toEqual([what, Array(3 + unrecorded).fill('exp_0000')])
    expect([what, unrecorded === 0 || unrecorded === 1]).toEqual([what, true])
    const except = ['.assay', '.git/info/exclude']
    for (const path of except) delete before[path]
    expect([what, snapshotTree(project.repo.dir, { except })]).toEqual([what, before])
    expect(project.repo.read('.git/info/exclude').match(/^\/\.assay\/$/gm)).toHaveLength(1)
    const { healthy, findings } = await project.data<{ healthy: boolean; findings: object[] }>(
      'doctor',
      '--fix',
    )
    expect([what, healthy, findings]).toEqual([what, true, findings])
    const toll = await takeToll(context, { repo: project.repo, crashes: [crashing] })
    expect([what, toll]).toEqual([what, NOTHING_LOST])
    return crashing
  }

  test.for(['torn', 'after'] as const)(
    'as it writes %s: the next init begins a second run, measures again, or cannot use the state',
    async (how, context) => {
      const seen = new Map<string, number>()
      for (const name of moments.filter((moment) => moment.startsWith('line '))) {
        const nth = (seen.get(name) ?? 0) + 1
        seen.set(name, nth)
        const [, step, state] = name.split(' ')
        const line = state ? `"step":"${step}","state":"${state}"` : `"(type|step)":"${step}"`
        await die(context, { line, nth, how, who: nth % 2 === 0 ? 'one' : 'all' })
      }
    },
  )

  test('between two lines, as it makes the store, the exclude line or a checkout: the same', async (context) => {
    for (let moment = 1; moment <= moments.length - 2; moment += 4)
      await die(context, { moment, how: 'after', who: moment % 8 === 1 ? 'all' : 'one' })
  })
})
