import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { dataOf, problemOf, type Ran } from '../rig/assay.ts'
import { hook, makeProject, ms, type Project, type SpecParts, writeFiles } from './project.ts'

interface Opened {
  round: number | null
  token: string | null
  stop: string | null
  best: { experiment: string; value: number } | null
  parents: { experiment: string }[]
  width: number
  depth: number
  ideate: { why: string } | null
  repairable: string[]
  retests: string[]
  proposals: { hypothesis: string }[]
  learnings: string[]
  scan: { batches: string[][] }
  repeated?: true
  [key: string]: unknown
}
interface Briefed {
  lanes: { lane: number; parent: string; experiment: string; brief: { objective: string } }[]
  refused: { index: number; reason: string; message: string }[]
  repeated?: true
}
interface Closed {
  improved: boolean
  best: { experiment: string; value: number } | null
  stall: number
  stop: string | null
  [key: string]: unknown
}

async function start(parts: SpecParts = {}): Promise<Project> {
  const project = makeProject({
    spec: {
      noise: { mode: 'deterministic', calibrate: 2 },
      search: { policy: 'argmax', k: 1 },
      loop: { width: 2, depth: 1 },
      ...parts,
    },
  })
  await project.data('init')
  return project
}

const send = <T>(project: Project, args: string[], input: object): Promise<Ran<T>> =>
  project.cli<T>(args, { input: JSON.stringify(input) })
const open = (project: Project) => project.data<Opened>('round', 'open')
const briefs = async (project: Project, token: string | null, list: object[]) =>
  dataOf(await send<Briefed>(project, ['round', 'briefs', '--token', String(token)], { briefs: list }))
const close = async (project: Project, token: string | null, lanes: object[] = []) =>
  dataOf(await send<Closed>(project, ['round', 'close', '--token', String(token)], { lanes }))
const brief = (parent: string, objective: string) => ({ parent, kind: 'edit', objective })

/** One turn whose only lane makes candidates with these numbers, all children of the parent. */
async function turn(project: Project, parent: string, values: number[]): Promise<Closed> {
  const { token } = await open(project)
  await briefs(project, token, [brief(parent, `reach ${values.join(' and ')}`)])
  for (const value of values) await project.attempt(ms(value), parent)
  return close(project, token)
}

describe('the contract of one turn', () => {
  test('a field, a refusal or a repeated answer of open, briefs and close is not as the drivers expect', async () => {
    const project = await start({
      metric: { name: 'ms', direction: 'minimize', target: 10 },
      search: { policy: 'top_k', k: 2, seed: 7 },
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
      meta: null,
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

  test('what a lane left open stays open after its round, or one of nobody’s or with a verdict is closed with it', async () => {
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

describe('what a turn is told', () => {
  test('ideas are not asked for after a stall or after keeps, or are asked for again at once', async () => {
    const project = await start({ loop: { width: 2, depth: 1, stall: 9, ideate: { stall: 2, keeps: 3 } } })
    const asked: (string | null)[] = []
    const next = async (values: number[]) => {
      const { token, ideate } = await open(project)
      asked.push(ideate?.why ?? null)
      await briefs(project, token, [brief('exp_0000', `reach ${values}`)])
      for (const value of values) await project.attempt(ms(value))
      await close(project, token)
    }
    await next([])
    await next([])
    await next([])
    await next([])
    await next([90, 80, 70])
    await next([])
    await next([])
    expect(asked).toEqual([
      null,
      null,
      '2 rounds without a new best',
      null,
      '4 rounds without a new best',
      '3 experiments kept since ideas were last asked for',
      null,
    ])
  })

  test('a scan reads more than its bounds, or what earlier turns have read', async () => {
    const project = await start({ loop: { width: 2, depth: 1, scan: { batch: 2, max: 3 } } })
    const first = await open(project)
    expect(first.scan.batches).toEqual([])
    await briefs(project, first.token, [brief('exp_0000', 'five at once')])
    for (const value of [110, 120, 130, 140, 150]) await project.attempt(ms(value))
    await close(project, first.token)
    const second = await open(project)
    expect(second.scan.batches).toEqual(
      [['exp_0003', 'exp_0004'], ['exp_0005']].map((ids) => ids.map(shifted)),
    )
    await briefs(project, second.token, [brief('exp_0000', 'nothing')])
    await close(project, second.token)
    expect((await open(project)).scan.batches).toEqual([])
  })

  test('a finding is believed whose quote was never printed, or was by another; or one that was printed is not', async () => {
    const project = await start()
    const said = (text: string) => hook(`echo '${text}' >&2`)
    const one = await project.attempt({ ...said('cache  miss at\t0x7f: evicted'), ...ms(120) })
    const two = await project.attempt({ ...said('cache miss at 0x80: evicted'), ...ms(130) })
    const trace = hook(
      `echo '{"task":"parse","log":["said \\"no more room\\" twice"]}' > "$ASSAY_TRACES/parse.json"`,
    )
    const three = await project.attempt({ ...trace, ...ms(140) })
    // As a comparison leaves it: what the parent printed in the same attempt.
    const samples = `.assay/runs/run_0001/exp/${one.experiment.slice(4)}/attempts/1/samples`
    for (const name of ['judge-1-parent.out', 'judge-1-a.json'])
      writeFileSync(project.repo.path(samples, name), '{"said":"only by the parent"}')
    const quote = ({ experiment }: { experiment: string }, text: string) => ({ experiment, quote: text })
    const evicted = [quote(one, 'cache miss at 0x7f: evicted'), quote(two, 'miss at 0x80: evicted')]
    const findings = [
      { kind: 'shared_cause', message: 'The cache is too small', evidence: evicted },
      {
        kind: 'wall',
        message: 'Never printed',
        evidence: [quote(one, 'cache hit at 0x7f'), quote(two, 'miss')],
      },
      { kind: 'wall', message: 'Printed by another', evidence: [quote(two, 'cache miss at 0x7f: evicted')] },
      { kind: 'shared_cause', message: 'Only one shows it', evidence: evicted.slice(0, 1) },
      { kind: 'wall', message: 'In a trace', evidence: [quote(three, 'said "no more room" twice')] },
      { kind: 'shared_cause', message: 'the cache is too small!', evidence: evicted.slice(1) },
      { kind: 'wall', message: 'Of nobody', evidence: [quote({ experiment: 'exp_0404' }, 'cache miss')] },
      { kind: 'wall', message: 'Of the parent', evidence: [quote(one, 'only by the parent')] },
      { kind: 'hunch', message: 'Something is odd', evidence: [] },
    ]
    const before = project.repo.read('.assay/runs/run_0001/ledger.jsonl')
    const answer = dataOf(
      await send<{ findings: { message: string; experiments: string[]; evidence: { file: string }[] }[] }>(
        project,
        ['round', 'findings'],
        { findings },
      ),
    )
    expect(answer.findings.map(({ message, experiments }) => [message, experiments])).toEqual([
      ['The cache is too small', [one.experiment, two.experiment]],
      ['In a trace', [three.experiment]],
    ])
    expect(answer.findings[0]?.evidence[0]?.file).toBe('attempts/1/samples/judge-0-candidate.err')
    expect(answer).toMatchObject({
      dropped: [
        { index: 1, reason: 'unverified' },
        { index: 2, reason: 'unverified' },
        { index: 3, reason: 'not_shared' },
        { index: 5, reason: 'duplicate' },
        { index: 6, reason: 'unverified' },
        { index: 7, reason: 'unverified' },
        { index: 8, reason: 'malformed' },
      ],
    })
    expect(project.repo.read('.assay/runs/run_0001/ledger.jsonl')).toBe(before)
  })

  test('an idea that was tried or proposed before is taken, or a good one does not reach the next turn', async () => {
    const project = await start()
    await project.attempt(ms(90))
    const ideas = [
      {
        hypothesis: 'Cache the parsed header',
        parent: 'exp_0000',
        kind: 'cache',
        uplift: 0.1,
        confidence: 0.5,
      },
      { hypothesis: 'cache the header parsed' },
      { hypothesis: 'an idea' },
      { hypothesis: 'Skip the checksum', parent: 'exp_0099' },
      { hypothesis: '  ' },
    ]
    expect(dataOf(await send(project, ['propose'], { ideas }))).toEqual({
      accepted: [ideas[0]],
      refused: [
        { index: 1, reason: 'duplicate', message: expect.any(String) },
        { index: 2, reason: 'tried', message: expect.stringContaining('exp_0001') },
        { index: 3, reason: 'parent', message: expect.stringContaining('exp_0099') },
        { index: 4, reason: 'empty', message: expect.any(String) },
      ],
    })
    expect(dataOf(await send(project, ['propose'], { ideas: ideas.slice(0, 1) }))).toMatchObject({
      accepted: [],
      refused: [{ index: 0, reason: 'duplicate' }],
    })
    expect((await open(project)).proposals).toEqual([ideas[0]])
    const wrong = await send(project, ['propose'], { ideas: [{ parent: 'exp_0000' }] })
    expect(wrong.code).toBe(2)
  })
})

/** Ids after the one that the only lane reserved. */
const shifted = (id: string) => `exp_${String(Number(id.slice(4)) + 1).padStart(4, '0')}`

describe('the end of the loop', () => {
  const over = async (project: Project, stop: string) => {
    expect(await open(project)).toMatchObject({ round: null, token: null, stop, parents: [], width: 0 })
  }

  test('target: the loop goes on although the best has reached it', async () => {
    const project = await start({ metric: { name: 'ms', direction: 'minimize', target: 80 } })
    expect(await turn(project, 'exp_0000', [81])).toMatchObject({ stop: null })
    expect(await turn(project, 'exp_0002', [])).toMatchObject({ stop: null })
    const { token } = await open(project)
    await briefs(project, token, [brief('exp_0000', 'the last step')])
    await project.attempt(ms(80))
    expect(await close(project, token)).toMatchObject({ improved: true, stop: 'target' })
    await over(project, 'target')
  })

  test('stall: the loop goes on after as many turns without a new best', async () => {
    const project = await start({ loop: { width: 1, depth: 1, stall: 2 } })
    expect(await turn(project, 'exp_0000', [])).toMatchObject({ stall: 1, stop: null })
    expect(await turn(project, 'exp_0000', [])).toMatchObject({ stall: 2, stop: 'stall' })
    await over(project, 'stall')
  })

  test('budget: near its end a round is as large as before, or one attempt too many is paid', async () => {
    const project = await start({ loop: { width: 2, depth: 2 }, budget: { experiments: 3 } })
    const { token, ...size } = await open(project)
    expect([size.width, size.depth]).toEqual([2, 1])
    await briefs(project, token, [brief('exp_0000', 'one'), brief('exp_0000', 'two')])
    await project.attempt(ms(110))
    await project.attempt(ms(120))
    expect(await close(project, token)).toMatchObject({ stop: null })
    const last = await open(project)
    expect([last.width, last.depth]).toEqual([1, 1])
    await project.attempt(ms(130))
    const beyond = await project.open(ms(140))
    expect(await project.problem('run', beyond.experiment)).toMatchObject({
      exit: 3,
      code: 'budget_experiments',
    })
    expect(await close(project, last.token)).toMatchObject({ stop: 'budget' })
    await over(project, 'budget')
    expect(project.starts().filter((id) => id !== 'exp_0000')).toHaveLength(3)
  })

  test('failures: three identical ones in a row, or as many as the budget allows, do not end it', async () => {
    const alike = await start()
    const fail = async (project: Project, text: string) => {
      const { experiment } = await project.open({ 'src/metrics.txt': text })
      expect((await project.cli(['run', experiment])).code).toBe(4)
    }
    await fail(alike, 'first\n')
    await fail(alike, 'second\n')
    expect((await open(alike)).stop).toBeNull()
    await fail(alike, 'third\n')
    const { token } = await open(alike)
    expect(await close(alike, token)).toMatchObject({ stop: 'failures' })
    await over(alike, 'failures')

    const capped = await start({ budget: { failures: 1 } })
    await fail(capped, 'METRIC ms=NaN\n')
    await over(capped, 'failures')
  })

  test('frontier_empty: a round opens although nothing may become a parent', async () => {
    const project = await start()
    const doubt = { findings: [{ code: 'opinion', message: 'the baseline measures the wrong thing' }] }
    dataOf(await send(project, ['audit', 'exp_0000'], doubt))
    await over(project, 'frontier_empty')
  })

  test('no_hypothesis: the loop asks for ever although nobody has an idea', async () => {
    const project = await start()
    const { token } = await open(project)
    expect(await briefs(project, token, [])).toMatchObject({ lanes: [], refused: [] })
    expect(await close(project, token)).toMatchObject({ stop: 'no_hypothesis' })
    await over(project, 'no_hypothesis')
  })
})

test('wait: for a round or a loop that is over it waits, or for one that is open it does not', async () => {
  const project = await start()
  expect(await project.data('wait', '--for', 'loop')).toEqual({
    event: 'loop_stopped',
    experiment: null,
    timed_out: false,
  })
  const { token } = await open(project)
  const early = await project.cli(['wait', '--for', 'round', '--timeout', '1ms'])
  expect([early.code, dataOf(early)]).toEqual([124, { event: null, experiment: null, timed_out: true }])
  const [waited] = await Promise.all([project.data('wait', '--for', 'round'), close(project, token)])
  expect(waited).toEqual({ event: 'round_closed', experiment: null, timed_out: false })
})

test('an audit of an attempt that was not kept passes for one of what was kept after its repair', async () => {
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
