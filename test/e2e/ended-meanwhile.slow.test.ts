/** An agent is out, or waits to be asked, while a person ends its experiment. */
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { notebook, openScene } from './loop-scene.ts'
import { answers, numberFiles, numberSpec } from './number-scene.ts'
import type { Project } from './project.ts'
import { brief, start } from './rounds-scene.ts'
import { answered, briefed, edit, ids, ledger, next } from './tasks-scene.ts'

const SCRIPT = readFileSync(new URL('../../workflows/optimize.js', import.meta.url), 'utf8')
const AUDIT = 'r1/l1/d1/audit'

/** `exp_0001` is kept, and its auditor is out. */
async function auditOut(): Promise<Project> {
  const project = await start({ loop: { width: 1, depth: 2 } })
  await briefed(project, 'halve it')
  await edit(project, 'r1/l1/d1/implement', 50)
  await answered(project, 'r1/l1/d1/verify', { passed: true })
  expect(ids(await next(project, '--wait', '60s'))).toEqual([AUDIT])
  return project
}
const revoke = (project: Project) => project.data('revoke', 'exp_0001', '--reason', 'it caches the answer')
const restore = (project: Project) => project.data('restore', 'exp_0001', '--reason', 'it does not')
const audits = (project: Project) =>
  ledger(project).flatMap(({ type, outcome, key }) => (type === 'audited' ? [[outcome, key]] : []))

describe('an experiment ends while its agent is out', () => {
  test('the audit of a keep that was revoked meanwhile is refused, or its findings do not count once it is restored', async () => {
    const project = await auditOut()
    await revoke(project)
    expect(ids(await next(project))).toEqual(['r1/collect'])
    expect(problemOf(await project.cli(['task', AUDIT]))).toMatchObject({ code: 'not_open' })
    const taken = await answered(project, AUDIT, { findings: [] })
    expect(ids(taken.next)).toEqual(['r1/collect'])
    expect(ledger(project).find(({ task }) => task === AUDIT)).toMatchObject({
      experiment: 'exp_0001',
      answer: { findings: [] },
    })
    await restore(project)
    expect(ids(await next(project))).toEqual(['r1/l1/d2/implement'])
    expect(audits(project)).toEqual([
      ['revoked', undefined],
      ['passed', AUDIT],
    ])
  })

  test('a person’s revocation counts as the audit of a keep that is restored', async () => {
    const project = await auditOut()
    await revoke(project)
    await restore(project)
    expect(ids(await next(project))).toEqual([AUDIT])
  })

  test('an auditor who gave no answer counts as one who found nothing, although the keep was revoked meanwhile', async () => {
    const project = await auditOut()
    await revoke(project)
    await project.data('answer', AUDIT, '--none')
    await restore(project)
    expect(ids(await next(project))).toEqual([AUDIT])
  })

  test('what an auditor found is recorded and forgotten, because the keep was pruned meanwhile', async () => {
    const project = await auditOut()
    await project.data('prune', 'exp_0001', '--reason', 'another way looks better')
    await answered(project, AUDIT, { findings: [{ code: 'opinion', message: 'it caches the answer' }] })
    expect(audits(project)).toEqual([['flagged', AUDIT]])
    expect(await project.data('show', 'exp_0001')).toMatchObject({ status: 'pruned', flagged: true })
  })

  test('what an agent hands in is refused because its round was closed meanwhile, or counts for the next round', async () => {
    const project = await auditOut()
    await revoke(project)
    await next(project)
    await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
    expect(await next(project)).toMatchObject({ round: 2 })
    await answered(project, AUDIT, { findings: [] })
    expect(ledger(project).find(({ task }) => task === AUDIT)).toMatchObject({ round: 1 })
  })

  test('who answers late for a lane of an earlier round is given the work of that lane in the open round', async () => {
    const project = await auditOut()
    await revoke(project)
    await next(project)
    await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
    const { tasks } = await next(project)
    for (const { id } of tasks.filter(({ role }) => role === 'scan'))
      await answered(project, id, { findings: [] })
    await next(project)
    await answered(project, 'r2/brief', { briefs: [brief('exp_0000', 'halve it otherwise')] })
    const taken = await answered(project, AUDIT, { findings: [] })
    expect(taken.next).toMatchObject({ round: 2, tasks: [], lanes: [1] })
    expect(ids(await next(project))).toEqual(['r2/l1/d1/implement'])
  })

  test('what an agent hands in for an experiment that was discarded meanwhile is refused, or is sealed', async () => {
    const project = await start({ loop: { width: 1, depth: 1 } })
    await briefed(project, 'halve it')
    await project.data('discard', 'exp_0001', '--reason', 'a bad idea')
    expect(problemOf(await project.cli(['answer', 'r1/l1/d1/verify'], { input: '{}' }))).toMatchObject({
      code: 'not_open',
    })
    await answered(project, 'r1/l1/d1/implement', { summary: 'halved', learnings: ['halves are small'] })
    await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
    expect(ledger(project).find(({ type }) => type === 'round_closed')).toMatchObject({
      learnings: ['halves are small'],
    })
    const sealed = ledger(project).filter(({ type }) => type === 'sealed')
    expect(sealed.map(({ experiment }) => experiment)).toEqual(['exp_0000'])
  })
})

describe('an experiment ends while its task waits for a free agent', () => {
  test.each([
    ['assay loop', {}],
    ['a script of the loop', { workflow: 'own/loop.js' }],
  ])('%s pays an agent for it, or records that the agent gave no answer', async (_what, loop) => {
    const gate = notebook().file
    const host = scriptedHost(
      answers({
        implement: `async (card) => {
          if (card.lane === 1)
            while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 20))
          return implement(card)
        }`,
      }),
    )
    const scene = await openScene(
      { ...numberFiles, 'own/loop.js': SCRIPT },
      numberSpec(host, { loop: { width: 2, ...loop }, agent: { concurrency: 1 } }),
    )
    const driver = scene.startLoop('--json', '--rounds', '1')
    await host.calledAs('implement')
    await scene.happened('lane 2 to begin', (event) => event.type === 'created' && event.lane === 2)
    const second = scene.eventsOf('created').find(({ lane }) => lane === 2)?.experiment ?? ''
    dataOf(await scene.cli(['discard', second, '--reason', 'a bad idea']))
    writeFileSync(gate, '')
    dataOf(await driver.ended)
    expect(host.calls().flatMap(({ role, card }) => (role === 'implement' ? [card.lane] : []))).toEqual([1])
    expect(scene.eventsOf('task_answered').filter(({ task }) => task.startsWith('r1/l2/'))).toEqual([])
  })

  test.each([
    ['assay loop', {}],
    ['a script of the loop', { workflow: 'own/loop.js' }],
  ])('%s pays an agent for it once no sample is taken any more', async (_what, loop) => {
    const [sample, agent] = [notebook().file, notebook().file]
    // A sample that outlives a test that failed would keep the slot from the next one.
    onTestFinished(() => writeFileSync(sample, ''))
    const host = scriptedHost(
      answers({
        implement: `async (card) => {
          if (card.lane === 2)
            while (!existsSync(${JSON.stringify(agent)})) await new Promise((resolve) => setTimeout(resolve, 20))
          write(card, card.lane === 1 ? 77 : 99)
          return done('a try')
        }`,
      }),
    )
    const scene = await openScene(
      {
        ...numberFiles,
        'bench/run.sh': `n=$(cat src/number.txt)
if [ "$n" = 77 ]; then while [ ! -e '${sample}' ]; do sleep 0.1; done; fi
echo METRIC ms=$n
`,
        'own/loop.js': SCRIPT,
      },
      numberSpec(host, {
        loop: { width: 2, quiet: true, ...loop },
        agent: { concurrency: 2 },
        measure: { command: ['sh', 'bench/run.sh'], isolation: 'none' },
      }),
    )
    const driver = scene.startLoop('--json', '--rounds', '1')
    const of = (lane: number) => scene.eventsOf('created').find((one) => one.lane === lane)?.experiment ?? ''
    await scene.happened('a sample of lane 1', (one) => one.type === 'started' && one.experiment === of(1))
    writeFileSync(agent, '')
    await scene.happened(
      'lane 2 to be ready for its verifier',
      (one) => one.type === 'task_answered' && one.task === 'r1/l2/d1/sealed',
    )
    dataOf(await scene.cli(['discard', of(2), '--reason', 'a bad idea']))
    writeFileSync(sample, '')
    dataOf(await driver.ended)
    expect(host.calls().flatMap(({ role, card }) => (card.lane === 2 ? [role] : []))).toEqual(['implement'])
  })
})
