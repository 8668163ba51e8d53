import { beforeAll, describe, expect, test } from 'vitest'
import { makeProject, ms, type Project, type RunData, type StatusData } from '../e2e/project.ts'
import { dataOf } from '../rig/assay.ts'
import { type Crash, crash, type LineDeath, type MomentDeath } from '../rig/crash.ts'
import { NOTHING_LOST, recordsOf, takeToll } from './toll.ts'

/** Every step there is: setup, build, gates on both sides, constraints, confirmation. */
function eventful(): Project {
  return makeProject({
    spec: {
      noise: { mode: 'deterministic', calibrate: 2 },
      worktree: { setup: { command: 'true' }, build: { command: 'true' } },
      gates: [
        { name: 'compiles', command: 'true', phase: 'before' },
        { name: 'answers', command: 'true', phase: 'after' },
      ],
    },
  })
}

const eventsOf = (project: Project, experiment: string) =>
  recordsOf(project.repo.path('.assay'))
    .flatMap(({ lines }) => lines)
    .filter((line) => line.experiment === experiment && line.type !== undefined)

const samplesOf = (project: Project, experiment: string) =>
  recordsOf(project.repo.path('.assay'))
    .filter(({ file }) => file.includes(`/exp/${experiment.slice(4)}/`))
    .flatMap(({ lines }) => lines.filter(({ step }) => step === 'sample')).length

const startsOf = (project: Project, experiment: string) =>
  project.starts().filter((one) => one === experiment).length

/** What the ledger's own lines say must be the state. */
function stateBy(types: unknown[]): string {
  if (types.includes('judged')) return 'kept'
  return types.includes('started') ? 'running' : 'open'
}

describe('assay run, killed', () => {
  let project: Project
  let moments: string[]
  let verdict: RunData
  let made = 0
  /** Another number each time, and better than the baseline. */
  const better = () => ms(99 - ++made / 8)

  beforeAll(async () => {
    project = eventful()
    await project.data('init')
    const { experiment } = await project.open(better())
    verdict = await project.data<RunData>('run', experiment)
    const other = await project.open(better())
    const traced = crash(null)
    dataOf(await project.cli(['run', other.experiment], { env: traced.env }))
    moments = traced.moments()
  })

  /** One candidate whose judge dies as planned; then the next command of whoever comes. */
  async function die(plan: LineDeath | MomentDeath): Promise<Crash> {
    const what = JSON.stringify(plan)
    const { experiment } = await project.open(better())
    const crashing = crash('moment' in plan ? [plan] : plan)
    const ran = await project.cli(['run', experiment], { env: crashing.env })
    expect([what, crashing.deaths(), ran.signal]).toEqual([what, 1, 'SIGKILL'])
    const types = eventsOf(project, experiment).map(({ type }) => type)
    const shown = await project.data<{ status: string }>('show', experiment)
    expect([what, shown.status]).toEqual([what, stateBy(types)])
    const inFlight = startsOf(project, experiment) - samplesOf(project, experiment)
    const after = await project.data<RunData>('run', experiment)
    const { status, reason, samples, gates } = verdict
    expect([what, after]).toMatchObject([what, { status, reason, samples, gates }])
    expect([what, after.repeated ?? false]).toEqual([what, types.includes('judged')])
    expect([what, startsOf(project, experiment)]).toEqual([what, samples + inFlight])
    return crashing
  }

  async function settle(crashes: Crash[], context: Parameters<typeof takeToll>[0]): Promise<void> {
    expect(await takeToll(context, { repo: project.repo, crashes })).toEqual(NOTHING_LOST)
    const { counts, budget } = await project.data<StatusData>('status')
    expect(counts).toMatchObject({ open: 0, running: 0, failed: 0, rejected: 0 })
    expect(budget.experiments.used).toBe((counts.kept ?? 0) - 1)
  }

  test.for(['torn', 'after'] as const)(
    'as it writes %s: the next run comes to a different verdict, loses a line, or pays for a sample or an attempt twice',
    async (how, context) => {
      const crashes: Crash[] = []
      const seen = new Map<string, number>()
      for (const name of moments.filter((moment) => moment.startsWith('line '))) {
        const nth = (seen.get(name) ?? 0) + 1
        seen.set(name, nth)
        const [, step, state] = name.split(' ')
        const line = state ? `"step":"${step}","state":"${state}"` : `"(type|step)":"${step}"`
        crashes.push(await die({ line, nth, how, who: crashes.length % 2 === 0 ? 'one' : 'all' }))
      }
      expect(crashes.length).toBeGreaterThan(15)
      await settle(crashes, context)
    },
  )

  test('between two lines, at a child process, a lock, a rename or a folder: the same', async (context) => {
    const crashes: Crash[] = []
    for (let moment = 1; moment <= moments.length - 2; moment += 2)
      crashes.push(await die({ moment, how: 'after', who: crashes.length % 2 === 0 ? 'all' : 'one' }))
    expect(crashes.length).toBeGreaterThan(15)
    await settle(crashes, context)
  })
})
