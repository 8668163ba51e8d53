import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { until } from '../rig/until.ts'
import { switches, switchProject } from './attribute-scene.ts'
import { haltIn } from './merge-scene.ts'
import { type Files, type Project, type SpecParts, type StatusData, writeFiles } from './project.ts'
import { brief } from './rounds-scene.ts'
import { answered, type Card, card, ids, ledger, next } from './tasks-scene.ts'

const rounds = (parts: SpecParts = {}): SpecParts => ({
  search: { policy: 'argmax', k: 1 },
  loop: { width: 2, depth: 1, stall: 2 },
  ...parts,
})

/** Kinds and words differ, so that neither of the two makes the other one superfluous. */
const TWO = [
  brief('exp_0000', 'turn the first switch'),
  { ...brief('exp_0000', 'speed up parsing'), kind: 'parse' },
]

/** Round 1 until its two lanes are kept; the second one is judged only after the first. */
async function twoLanes(project: Project, edits: readonly Files[]): Promise<void> {
  await next(project)
  await answered(project, 'r1/brief', { briefs: TWO })
  for (const [at, files] of edits.entries()) {
    const lane = `r1/l${at + 1}/d1`
    writeFiles((await card(project, `${lane}/implement`)).worktree, files)
    await answered(project, `${lane}/implement`, { summary: 'done' })
    await answered(project, `${lane}/verify`, { passed: true })
    await next(project, '--lane', String(at + 1), '--wait', '60s')
    await answered(project, `${lane}/audit`, { findings: [] })
  }
}

const created = (project: Project) => ledger(project).filter(({ type }) => type === 'created')

test('round next does not merge what two lanes kept, or the round closes before the merge has its verdict', async () => {
  const project = switchProject(2, '5 * p[1] + 4 * p[2]', { spec: rounds() })
  await project.data('init')
  await twoLanes(project, [switches(2, [1]), switches(2, [2])])
  expect(ids(await next(project))).toEqual(['r1/collect'])
  await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
  const second = await next(project, '--wait', '60s')
  expect(second.round).toBe(2)
  expect(await project.data<StatusData>('status')).toMatchObject({
    best: { experiment: 'exp_0003', value: 91, parents: ['exp_0001', 'exp_0002'] },
    budget: { experiments: { used: 3 } },
  })
  expect(ledger(project).find(({ type }) => type === 'round_closed')).toMatchObject({ best: 'exp_0003' })
  expect(await project.data('show', 'exp_0003', '--recompute')).toMatchObject({ same: true })
})

/** What each sample does before it measures. */
function before(project: Project, lines: string): void {
  const { repo } = project
  repo.commit('each sample', { 'src/hook.sh': `${lines}\n${repo.read('src/hook.sh')}` })
}

test('a round does not merge what crashed once by chance', async () => {
  const project = switchProject(2, '5 * p[1] + 4 * p[2]', { spec: rounds() })
  const failed = join(project.control, 'failed')
  before(
    project,
    `if [ "$(grep -c 'part . 1' src/parts.txt)" = 2 ] && [ ! -e '${failed}' ]; then : > '${failed}'; exit 1; fi`,
  )
  await project.data('init')
  await twoLanes(project, [switches(2, [1]), switches(2, [2])])
  await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
  expect((await next(project, '--wait', '60s')).round).toBe(2)
  expect(await project.data('show', 'exp_0003')).toMatchObject({
    status: 'kept',
    value: 91,
    attempts: [{ status: 'failed' }, { status: 'kept' }],
  })
})

test('a round merges nothing more when a part of its merge is revoked during the measurement', async () => {
  const project = switchProject(3, '5 * p[1] + 4 * p[2] + 3 * p[3]', { spec: rounds() })
  before(project, haltIn(project.control))
  await project.data('init')
  await twoLanes(project, [switches(3, [1]), switches(3, [2])])
  await project.attempt(switches(3, [3]))
  const [hold, at] = [join(project.control, 'hold'), join(project.control, 'at')]
  writeFileSync(hold, '')
  // A worker that outlives a test that failed would keep the slot from the next one.
  onTestFinished(() => rmSync(hold, { force: true }))
  await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
  await next(project)
  await until(() => existsSync(at), { what: 'the merge', dir: project.control })
  await project.data('revoke', 'exp_0003', '--reason', 'it cheats')
  rmSync(hold)
  expect((await next(project, '--wait', '60s')).round).toBe(2)
  expect((await project.data<StatusData>('status')).best).toMatchObject({
    value: 91,
    parents: ['exp_0001', 'exp_0002'],
  })
})

test('loop.merge: off merges, or a person who holds the loop is not heeded', async () => {
  const project = switchProject(2, '5 * p[1] + 4 * p[2]', {
    spec: rounds({ loop: { width: 2, depth: 1, stall: 2, merge: 'off' } }),
  })
  await project.data('init')
  await twoLanes(project, [switches(2, [1]), switches(2, [2])])
  await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
  await project.data('loop', 'pause', '--reason', 'the machine is needed')
  await project.data('config', 'set', 'loop.merge', 'on', '--reason', 'try it')
  await next(project)
  expect(created(project)).toHaveLength(3)
  await project.data('config', 'set', 'loop.merge', 'off', '--reason', 'no')
  await project.data('loop', 'resume')
  expect((await next(project)).round).toBe(2)
  expect(created(project)).toHaveLength(3)
})

test('two that conflict are not offered to the author of briefs, or the agent that combines them is not told so', async () => {
  const project = switchProject(2, '5 * (p[1] == 1) + 4 * (p[1] == 2) + 8 * (p[1] == 3)', { spec: rounds() })
  await project.data('init')
  await twoLanes(project, [switches(2, [1]), switches(2, [], { 1: '2' })])
  await answered(project, 'r1/collect', { learnings: [], suggestions: [] })
  await next(project, '--wait', '60s')
  await answered(project, 'r2/scan/1', { findings: [] })
  const offered = await project.data<{ prompt: string }>('task', 'r2/brief')
  expect(offered.prompt).toContain('"parent": "exp_0001" with "combine": "exp_0002" (src/parts.txt)')
  const { brief: told } = (await card(project, 'r2/brief')) as Card & { brief: { combine: unknown } }
  expect(told.combine).toEqual([{ experiments: ['exp_0001', 'exp_0002'], files: ['src/parts.txt'] }])
  await answered(project, 'r2/brief', {
    briefs: [
      // Whichever of the two is named, the better one is the parent.
      { objective: 'combine both', combine: 'exp_0001' },
      { ...brief('exp_0001', 'look at the parser'), combine: 'exp_0000' },
    ],
  })
  const [refused] = ledger(project).flatMap(({ type, round, refused: said }) =>
    type === 'round_briefed' && round === 2 ? (said as { message: string }[]) : [],
  )
  expect(refused?.message).toBe(
    'exp_0000 is in no pair that git cannot merge: such pairs are listed as "combine" when the round opens',
  )
  const { prompt } = await project.data<{ prompt: string }>('task', 'r2/l1/d1/implement')
  expect(prompt).toContain('Also take over what exp_0002 changed (assay diff exp_0002)')
  writeFiles((await card(project, 'r2/l1/d1/implement')).worktree, switches(2, [], { 1: '3' }))
  await answered(project, 'r2/l1/d1/implement', { summary: 'done' })
  await answered(project, 'r2/l1/d1/verify', { passed: true })
  await next(project, '--wait', '60s')
  const { best } = await project.data<{ best: { experiment: string; value: number; parents: string[] } }>(
    'status',
  )
  expect(best).toMatchObject({ value: 92, parents: ['exp_0001', 'exp_0002'] })
  const { candidate } = await project.data<{ candidate: { commit: string } }>('show', best.experiment)
  const parents = execFileSync(
    'git',
    ['--git-dir', project.repo.path('.assay', '.git'), 'log', '-1', '--format=%P', candidate.commit],
    { encoding: 'utf8' },
  )
  expect(parents.trim().split(' ')).toHaveLength(2)
  // Both are in it now: there is nothing left to merge or to combine.
  expect((await project.problem('merge')).code).toBe('nothing_to_merge')
})

/** Each lane turns a switch of its own on. */
const LANES = `import { readFileSync, writeFileSync } from 'node:fs'
export default {
  brief: ({ round, capsule: { open } }) => ({
    briefs: round > 1 ? [] : ['first switch', 'parser of numbers', 'cache of results', 'order of loops'].map((what, at) => ({
      parent: open.parents[0].experiment, objective: 'change the ' + what, kind: 'kind' + at, pointers: ['place ' + at],
    })),
  }),
  implement: ({ lane, worktree }) => {
    const file = worktree + '/src/parts.txt'
    writeFileSync(file, readFileSync(file, 'utf8').replace('part ' + lane + ' 0', 'part ' + lane + ' 1'))
    return { hypothesis: 'switch ' + lane }
  },
  verify: () => ({ passed: true, findings: [] }),
  audit: () => ({ findings: [] }),
  collect: () => ({ learnings: [], suggestions: [] }),
  '*': () => ({ findings: [], ideas: [] }),
}
`

test('assay loop does not merge what its lanes kept, or pays an agent for it', async () => {
  const host = scriptedHost(LANES)
  const project = switchProject(4, '5 * p[1] + 4 * p[2] + 3 * p[3] + 2 * p[4]', {
    spec: rounds({
      loop: { width: 4, depth: 1, stall: 2 },
      budget: { hours: 24 },
      agent: { host: 'command', command: host.argv },
    }),
  })
  await project.data('init')
  const ran = await project.cli<{ best: { value: number } }>(['loop', '--rounds', '1'])
  expect(dataOf(ran).best.value).toBe(86)
  const merges = created(project).filter(({ merge }) => merge)
  expect(merges).toMatchObject([
    { round: 1, lane: null, parents: expect.arrayContaining(['exp_0001', 'exp_0004']) },
  ])
  expect(host.calls().filter(({ role }) => role === 'implement')).toHaveLength(4)
})

test('a loop whose budget is used up for its lanes does not end, or leaves a merge open', async () => {
  const host = scriptedHost(LANES)
  const project = switchProject(4, '5 * p[1] + 4 * p[2] + 3 * p[3] + 2 * p[4]', {
    spec: rounds({
      loop: { width: 4, depth: 1, stall: 2 },
      budget: { experiments: 4 },
      agent: { host: 'command', command: host.argv },
    }),
  })
  await project.data('init')
  const ran = await project.cli<{ stop: string; best: { value: number } }>(['loop'])
  expect(dataOf(ran)).toMatchObject({ stop: 'budget', best: { value: 95 } })
  expect(created(project).filter(({ merge }) => merge)).toEqual([])
  await project.data('config', 'set', 'budget.experiments', '6', '--reason', 'for the merge')
  expect(await project.data('merge')).toMatchObject({ attempts: [{ status: 'kept', value: 86 }] })
})
