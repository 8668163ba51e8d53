import { describe, expect, test } from 'vitest'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { dataOf, problemOf } from '../rig/assay.ts'
import { ms, type Project, writeFiles } from './project.ts'
import { brief, briefs, close, open, send, start, turn } from './rounds-scene.ts'

describe('the contract of one turn', () => {
  test('a field, a refusal or a repeated answer of open, briefs and close is not as the drivers expect', async () => {
    const project = await start({
      metric: { name: 'ms', direction: 'minimize', target: 10 },
      search: { policy: 'argmax', k: 2, seed: 7 },
      instructions: { rules: ['keep the output'] },
      skills: ['parsing'],
      budget: { experiments: 9 },
    })
    await project.attempt(ms(90))
    await project.attempt(ms(120))

    const opened = await open(project)
    const { token } = opened
    expect(token).toMatch(/^[0-9a-f]{16}$/)
    expect(opened).toEqual({
      round: 1,
      token,
      stop: null,
      best: { experiment: 'exp_0001', value: 90 },
      baseline: { experiment: 'exp_0000', value: 100 },
      target: 10,
      goal: 'Make the number small.',
      metric: { name: 'ms', direction: 'minimize' },
      parents: [
        { experiment: 'exp_0001', value: 90, rank: 1, why: expect.any(String) },
        { experiment: 'exp_0000', value: 100, rank: 2, why: expect.any(String) },
      ],
      width: 2,
      depth: 1,
      ideate: null,
      direction: null,
      repairable: [],
      retests: [],
      patterns: [{ kind: 'improver', experiments: ['exp_0001'], message: expect.any(String) }],
      proposals: [],
      learnings: [],
      notes: [],
      rules: ['keep the output'],
      skills: ['parsing'],
      steering: [],
      noise: 'deterministic',
      knobs: expect.objectContaining({ width: 2, depth: 1, experiments: 9, stall: 5, revise: 3 }),
      prompts: {},
      phases: { scan: true, ideate: true },
      steps: [],
      meta: { every_ms: 300_000 },
      scan: { batches: [['exp_0001', 'exp_0002']] },
      warnings: [],
      lanes: null,
    })
    expect(await open(project)).toEqual({ ...opened, repeated: true })

    for (const sub of ['briefs', 'close']) {
      const stale = await send(project, ['round', sub, '--token', 'beef'], { briefs: [], lanes: [] })
      expect(stale.code).toBe(3)
      expect(problemOf(stale)).toMatchObject({ code: 'stale_round', data: { round: 1, token } })
      expect((await send(project, ['round', sub], { briefs: [], lanes: [] })).code).toBe(2)
    }

    const laid = await briefs(project, token, [
      brief('exp_0042', 'a parent that does not exist'),
      brief('exp_0002', 'a parent that was rejected'),
      brief('exp_0001', 'Intern the keys of the parser once'),
      brief('exp_0000', 'intern the keys, once, of the parser'),
      brief('exp_0000', 'Read the file in one go'),
      brief('exp_0001', 'Avoid the copy of each token'),
    ])
    expect(laid).toEqual({
      round: 1,
      token,
      lanes: [
        {
          lane: 1,
          parent: 'exp_0001',
          experiment: 'exp_0003',
          brief: {
            parent: 'exp_0001',
            kind: 'edit',
            objective: 'Intern the keys of the parser once',
            boundaries: [],
            pointers: [],
            hard: false,
          },
        },
        {
          lane: 2,
          parent: 'exp_0000',
          experiment: 'exp_0004',
          brief: {
            parent: 'exp_0000',
            kind: 'edit',
            objective: 'Read the file in one go',
            boundaries: [],
            pointers: [],
            hard: false,
          },
        },
      ],
      refused: [
        { index: 0, reason: 'parent', message: expect.stringContaining('exp_0042') },
        { index: 1, reason: 'parent', message: expect.stringContaining('exp_0002') },
        { index: 3, reason: 'duplicate', message: expect.stringContaining('lane 1') },
        { index: 5, reason: 'width', message: expect.stringContaining('2 lanes') },
      ],
    })
    expect(await briefs(project, token, [brief('exp_0000', 'too late')])).toEqual({ ...laid, repeated: true })
    expect(await open(project)).toMatchObject({ lanes: (laid as { lanes: unknown[] }).lanes, repeated: true })

    const make = (...args: string[]) =>
      project.data<{ experiment: string; parent: string; repeated?: true }>('new', '-m', 'it', ...args)
    const place = (lane: number, depth: number) => [
      '--round',
      '1',
      '--lane',
      `${lane}`,
      '--depth',
      `${depth}`,
    ]
    expect((await make('--parent', 'exp_0000')).experiment).toBe('exp_0005')
    const second = await make('--parent', 'exp_0000', ...place(2, 1), '--key', 'lane 2')
    expect(second).toMatchObject({ experiment: 'exp_0004', parent: 'exp_0000' })
    expect(await make('--parent', 'exp_0000', ...place(2, 1), '--key', 'lane 2')).toEqual({
      ...second,
      repeated: true,
      status: 'open',
      sealed: false,
    })
    expect((await make('--parent', 'exp_0001', ...place(1, 2))).experiment).toBe('exp_0006')
    expect((await make('--parent', 'exp_0001', ...place(1, 1))).experiment).toBe('exp_0003')

    const closed = await close(project, token, [
      { lane: 1, learnings: ['keys repeat'], suggestions: ['look at the copy'] },
    ])
    expect(closed).toEqual({
      round: 1,
      token,
      improved: false,
      best: { experiment: 'exp_0001', value: 90 },
      stall: 1,
      stop: null,
      prune: [],
      learnings: ['keys repeat', 'look at the copy'],
    })
    expect(await close(project, token)).toEqual({ ...closed, repeated: true })
    const next = await open(project)
    expect(next).toMatchObject({ round: 2, learnings: ['keys repeat', 'look at the copy'] })
    const stale = await send(project, ['round', 'briefs', '--token', 'beef'], { briefs: [] })
    expect(problemOf(stale).data).toEqual({ round: 2, token: next.token })
  })

  test('briefs of which none became a lane cannot be written again, or end the loop when the second ones are good', async () => {
    const project = await start()
    const { token } = await open(project)
    const none = await briefs(project, token, [brief('exp_0404', 'from nowhere')])
    expect([none.lanes, none.refused.map(({ reason }) => reason)]).toEqual([[], ['parent']])
    const laid = await briefs(project, token, [brief('exp_0000', 'from the baseline')])
    expect([laid.lanes.length, laid.repeated]).toEqual([1, undefined])
    expect(await briefs(project, token, [brief('exp_0000', 'too late')])).toEqual({ ...laid, repeated: true })
    expect(await close(project, token)).toMatchObject({ stop: null })
  })

  test('an open experiment of a lane stays open after its round, or one of no lane or with a verdict is closed with it', async () => {
    const project = await start()
    const { token } = await open(project)
    await briefs(project, token, [brief('exp_0000', 'two steps')])
    const at = (depth: number) => ['--round', '1', '--lane', '1', '--depth', `${depth}`]
    await project.data('new', '--parent', 'exp_0000', '-m', 'left', ...at(1))
    await project.data('new', '--parent', 'exp_0000', '-m', 'judged', ...at(2))
    const bystander = await project.open(ms(70))
    expect(await project.data('run', 'exp_0002')).toMatchObject({ status: 'rejected', reason: 'empty' })
    await close(project, token)
    const statusOf = async (id: string) => (await project.data<{ status: string }>('show', id)).status
    const all = ['exp_0001', 'exp_0002', bystander.experiment]
    expect(await Promise.all(all.map(statusOf))).toEqual(['discarded', 'rejected', 'open'])
    const lines = project.repo.read('.assay/runs/run_0001/ledger.jsonl').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'discarded')).toEqual([
      expect.objectContaining({ experiment: 'exp_0001', failure_class: 'environment' }),
    ])
  })

  test('two drivers that open, brief and close at once make two rounds, or two sets of lanes', async () => {
    const project = await start()
    const opened = await Promise.all([open(project), open(project), open(project)])
    expect(new Set(opened.map(({ token }) => token)).size).toBe(1)
    expect(opened.map(({ round }) => round)).toEqual([1, 1, 1])
    const token = opened[0]?.token ?? null
    const laid = await Promise.all(
      ['one thing', 'another matter'].map((text) => briefs(project, token, [brief('exp_0000', text)])),
    )
    expect(laid[0]?.lanes).toEqual(laid[1]?.lanes)
    const closed = await Promise.all([close(project, token), close(project, token)])
    expect(closed.map(({ stall }) => stall)).toEqual([1, 1])
    expect((await open(project)).round).toBe(2)
  })
})

describe('improvement', () => {
  test('a child that is better than its parent but no new best counts, or a new best does not', async () => {
    const project = await start()
    expect(await turn(project, 'exp_0000', [90])).toMatchObject({ improved: true, stall: 0 })
    const branch = await turn(project, 'exp_0000', [95])
    expect(branch).toMatchObject({ improved: false, stall: 1, best: { value: 90 } })
    expect((await project.data<{ counts: { kept: number } }>('status')).counts.kept).toBe(3)
    expect(await turn(project, 'exp_0000', [90])).toMatchObject({ improved: false, stall: 2 })
    expect(await turn(project, 'exp_0000', [89])).toMatchObject({ improved: true, stall: 0 })
  })

  test('a new best that an audit flags or revokes before the close counts as improvement', async () => {
    const project = await start()
    const { token } = await open(project)
    await briefs(project, token, [brief('exp_0000', 'two doubtful gains')])
    const doubted = await project.attempt(ms(50))
    const audited = dataOf(
      await send<{ status: string; best: object }>(project, ['audit', doubted.experiment], {
        findings: [{ code: 'opinion', message: 'it looks up the answers' }],
      }),
    )
    expect(audited).toMatchObject({ status: 'kept', best: { experiment: 'exp_0000', value: 100 } })
    const proved = await project.attempt(ms(40))
    await revoke(project, proved.experiment)
    expect(await close(project, token)).toMatchObject({
      improved: false,
      stall: 1,
      best: { experiment: 'exp_0000', value: 100 },
    })
    const next = await open(project)
    expect(next.parents.map(({ experiment }) => experiment)).toEqual(['exp_0000'])
    const laid = await briefs(project, next.token, [
      brief(doubted.experiment, 'go on from what is doubted'),
      brief(proved.experiment, 'go on from what is revoked'),
    ])
    expect(laid.refused.map(({ reason }) => reason)).toEqual(['parent', 'parent'])
  })
})

/** What an audit with evidence writes; the evidence itself is another test's business. */
async function revoke(project: Project, experiment: string): Promise<void> {
  const ledger = Ledger.open(project.repo.path('.assay/runs/run_0001/ledger.jsonl'))
  if (!ledger.ok) throw new Error(ledger.problem.message)
  const findings = [{ code: 'task_set' as const, message: 'other tasks' }]
  const event = { type: 'audited' as const, experiment, attempt: 1, outcome: 'revoked' as const, findings }
  const proposal = ledger.value.propose<'audited'>(event, new Date())
  expect(proposal).toMatchObject({ ok: true, value: { accepted: true } })
}

test('wait: for a round or a loop that is over it waits, or for one that is open it does not', async () => {
  const project = await start()
  expect(await project.problem('wait', '--for', 'loop')).toMatchObject({ exit: 3, code: 'no_loop' })
  const { token } = await open(project)
  const early = await project.cli(['wait', '--for', 'round', '--timeout', '1ms'])
  expect([early.code, dataOf(early)]).toEqual([124, { event: null, experiment: null, timed_out: true }])
  const [waited] = await Promise.all([project.data('wait', '--for', 'round'), close(project, token)])
  expect(waited).toEqual({ event: 'round_closed', experiment: null, timed_out: false })
  expect(await project.data('wait', '--for', 'loop')).toMatchObject({
    event: 'loop_stopped',
    timed_out: false,
  })
})

test('an audit of a rejected attempt counts for the attempt that was kept after a repair', async () => {
  const project = await start()
  const again = async () => {
    const made = ['new', '--parent', 'exp_0000', '-m', 'it', '--key', 'lane-1']
    return project.data<{ experiment: string; worktree: string; audited?: true }>(...made)
  }
  const audit = async () => dataOf(await send(project, ['audit', experiment], { findings: [] }))
  const { experiment, worktree } = await again()
  writeFiles(worktree, ms(120))
  expect(await project.data('run', experiment)).toMatchObject({ status: 'rejected' })
  await audit()
  expect(await again()).toMatchObject({ status: 'rejected' })
  expect(await again()).not.toHaveProperty('audited')
  writeFiles(worktree, ms(90))
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept' })
  expect(await again()).not.toHaveProperty('audited')
  await audit()
  expect(await again()).toMatchObject({ status: 'kept', audited: true })
})
