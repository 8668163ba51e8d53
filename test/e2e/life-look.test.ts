import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { makeProject, ms, type Project, type RunData } from './project.ts'

let project: Project
/** exp_0001 kept 90 ── exp_0002 kept 80, exp_0003 rejected 120, exp_0004 open. */
beforeAll(async () => {
  project = makeProject({ spec: { metric: { name: 'ms', direction: 'minimize', target: 10 } } })
  await project.data('init')
  await project.attempt(ms(90))
  await project.attempt(ms(80), 'exp_0001')
  await project.attempt(ms(120))
  await project.open(ms(5))
})

const audit = (experiment: string, input: unknown) =>
  project.cli(['audit', experiment], { input: typeof input === 'string' ? input : JSON.stringify(input) })

test('status has other fields than its contract', async () => {
  const { knobs, ...status } = await project.data<Record<string, unknown> & { budget: { hours: object } }>(
    'status',
  )
  expect(knobs).toMatchObject({ max_attempts: 3 })
  const unused = { used: 0, limit: null, at_least: false }
  expect(status).toEqual({
    run: 'run_0001',
    spec_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    epoch: 1,
    metric: { name: 'ms', direction: 'minimize', target: 10 },
    baseline: { experiment: 'exp_0000', value: 100 },
    best: { experiment: 'exp_0002', value: 80 },
    counts: { open: 1, running: 0, kept: 3, rejected: 1, failed: 0, discarded: 0, pruned: 0, revoked: 0 },
    budget: {
      experiments: { ...unused, used: 3 },
      hours: { ...unused, used: expect.any(Number) },
      failures: unused,
      tokens: unused,
      usd: unused,
    },
    round: null,
    driver: null,
    turn: null,
    waiting: null,
    doubts: [],
    autonomous: null,
    paused: null,
    steering: { waiting: 0, delivered: 0 },
    stop: null,
    stop_cause: null,
    flagged: [],
    outdated: 0,
    notes: 0,
    stuck: [],
    spec: null,
  })
})

const plain = [
  {
    experiment: 'exp_0000',
    parent: null,
    status: 'kept',
    reason: null,
    value: 100,
    hypothesis: 'the baseline',
  },
  {
    experiment: 'exp_0001',
    parent: 'exp_0000',
    status: 'kept',
    reason: 'improved',
    value: 90,
    hypothesis: 'an idea',
  },
  {
    experiment: 'exp_0002',
    parent: 'exp_0001',
    status: 'kept',
    reason: 'improved',
    value: 80,
    hypothesis: 'an idea',
  },
  {
    experiment: 'exp_0003',
    parent: 'exp_0000',
    status: 'rejected',
    reason: 'not_better',
    value: 120,
    hypothesis: 'an idea',
  },
  {
    experiment: 'exp_0004',
    parent: 'exp_0000',
    status: 'open',
    reason: null,
    value: null,
    hypothesis: 'an idea',
  },
]
const nodes = plain.map((node) => ({ ...node, epoch: 1, flagged: false }))

test('tree or path leave out nodes, or do not say so', async () => {
  expect(await project.data('tree')).toEqual({ nodes, truncated: false })
  expect(await project.data('tree', '--limit', '2')).toEqual({ nodes: nodes.slice(0, 2), truncated: true })
  expect(await project.data('path', 'exp_0002')).toEqual({
    path: nodes.slice(0, 3),
    worktree: project.repo.path('.assay/w/1-0002'),
    artifacts: project.repo.path('.assay/runs/run_0001/exp/0002/artifacts'),
  })
})

test('frontier picks what is not kept, or records that it was asked', async () => {
  const asked = await project.data<{ parents: object[] }>('frontier', '--policy', 'argmax', '-k', '1')
  expect(asked).toEqual({
    policy: 'argmax',
    parents: [{ experiment: 'exp_0002', value: 80, rank: 1, why: expect.any(String) }],
  })
  const all = await project.data<{ parents: { experiment: string }[] }>(
    'frontier',
    '--policy',
    'argmax',
    '-k',
    '9',
  )
  expect(all.parents.map(({ experiment }) => experiment)).toEqual(['exp_0002', 'exp_0001', 'exp_0000'])
  const wrong = await project.cli(['frontier', '--policy', 'argmin'])
  expect(wrong.code).toBe(2)
  expect(problemOf(wrong).hint).toContain('argmax')
})

test('show has other fields than its contract, or an open experiment has values', async () => {
  const shown = await project.data<Record<string, unknown>>('show', 'exp_0001')
  expect(shown).toMatchObject({
    ...nodes[1],
    failure_class: null,
    children: ['exp_0002'],
    gates: [],
    artifacts: {},
    improvement: 0.1,
    improvement_abs: 10,
    parent_value: 100,
    candidate: { ref: 'refs/assay/run_0001/exp_0001/1' },
  })
  const [attempt] = shown.attempts as Record<string, unknown>[]
  expect(attempt).toMatchObject({
    attempt: 1,
    status: 'kept',
    reason: 'improved',
    value: 90,
    gates: [],
    diffstat: { files: 1, added: 1, removed: 1 },
    started: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    finished: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  })
  const sample = { side: 'candidate', pair: 0, value: 90, exit: 0, signal: null, seed: expect.any(Number) }
  const cost = { wall_ms: expect.any(Number), cpu_ms: expect.any(Number) }
  expect(attempt?.measurements).toMatchObject([
    { ...sample, ...cost, stage: 'judge' },
    { ...sample, ...cost, stage: 'confirm' },
  ])
  expect(await project.data('show', 'exp_0004')).toMatchObject({
    value: null,
    improvement: null,
    candidate: null,
    attempts: [],
  })
  const { commit } = shown.candidate as { commit: string }
  expect(project.repo.git('--git-dir', '.assay/.git', 'rev-parse', 'refs/assay/run_0001/exp_0001/1')).toBe(
    commit,
  )
})

test('diff compares with something else than the parent, or with nothing', async () => {
  expect(await project.data('diff', 'exp_0002')).toEqual({
    experiment: 'exp_0002',
    against: 'exp_0001',
    files: [{ path: 'src/metrics.txt', status: 'M', added: 1, removed: 1 }],
    patch: expect.stringContaining('\n-METRIC ms=90\n+METRIC ms=80\n'),
  })
  expect(await project.data('diff', 'exp_0002', 'exp_0000', '--stat')).toMatchObject({
    against: 'exp_0000',
    files: [{ path: 'src/metrics.txt' }],
    patch: null,
  })
  expect(await project.problem('diff', 'exp_0004')).toMatchObject({ exit: 3, code: 'not_sealed' })
})

test('report disagrees with status and path', async () => {
  expect(await project.data('report')).toMatchObject({
    metric: { name: 'ms', direction: 'minimize', target: 10 },
    baseline: { experiment: 'exp_0000', value: 100 },
    best: { experiment: 'exp_0002', value: 80 },
    bests: ['exp_0000', 'exp_0001', 'exp_0002'],
    points: nodes.map(({ experiment, status, value }) => ({ experiment, status, value })),
    path: nodes.slice(0, 3).map(({ experiment, value, hypothesis }) => ({ experiment, value, hypothesis })),
  })
})

test('text for people is not the verdict, or a rejected candidate is an error', async () => {
  const ran = await assay(['run', 'exp_0003'], { cwd: project.repo.dir })
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  expect(ran.stdout).toContain('exp_0003 rejected (not_better)  120')
  const unknown = await assay(['show', 'exp_0099'], { cwd: project.repo.dir })
  expect([unknown.code, unknown.stdout]).toEqual([2, ''])
  expect(unknown.stderr).toBe('assay: run_0001 has no experiment exp_0099\n  → assay tree lists them\n')
})

test('an opinion in an audit revokes, or a flagged experiment still counts as best or parent', async () => {
  expect(dataOf(await audit('exp_0002', { findings: [] }))).toMatchObject({
    outcome: 'passed',
    status: 'kept',
    flagged: false,
  })
  const opinion = { findings: [{ code: 'opinion', message: 'It looks too good.' }] }
  expect(dataOf(await audit('exp_0002', opinion))).toEqual({
    experiment: 'exp_0002',
    status: 'kept',
    flagged: true,
    outcome: 'flagged',
    confirmed: [],
    best: { experiment: 'exp_0001', value: 90 },
  })
  const { parents } = await project.data<{ parents: { experiment: string }[] }>(
    'frontier',
    '--policy',
    'argmax',
    '-k',
    '9',
  )
  expect(parents.map(({ experiment }) => experiment)).toEqual(['exp_0001', 'exp_0000'])
})

test('a claim that the record does not prove revokes all the same', async () => {
  // src/metrics.txt is in scope, whatever the auditor says.
  const claim = { findings: [{ code: 'path', message: 'It edits the benchmark.', path: 'src/metrics.txt' }] }
  expect(dataOf(await audit('exp_0001', claim))).toMatchObject({
    outcome: 'flagged',
    confirmed: [],
    status: 'kept',
  })
})

test('an audit that cannot be read is a finding, or one of something unjudged is recorded', async () => {
  for (const input of ['', 'no json', '[]', '{}', { findings: [{ code: 'hash' }] }, { findings: ['x'] }]) {
    const ran = await audit('exp_0001', input)
    expect([ran.code, problemOf(ran).code]).toEqual([2, 'bad_input'])
    expect(problemOf(ran).hint).toContain('"findings"')
  }
  const unjudged = await audit('exp_0004', { findings: [] })
  expect([unjudged.code, problemOf(unjudged).code]).toEqual([3, 'not_judged'])
})

test('what was discarded can be run, or what is kept can be discarded', async () => {
  const discard = (id: string) =>
    project.data('discard', id, '--failure-class', 'hypothesis', '--reason', 'no hot path')
  expect(await discard('exp_0004')).toEqual({ experiment: 'exp_0004', status: 'discarded' })
  expect(await discard('exp_0004')).toEqual({ experiment: 'exp_0004', status: 'discarded', repeated: true })
  expect(await discard('exp_0003')).toMatchObject({ status: 'discarded' })
  expect(await project.data('show', 'exp_0003')).toMatchObject({
    status: 'discarded',
    why: 'no hot path',
    failure_class: 'hypothesis',
    value: 120,
  })
  const kept = await project.problem('discard', 'exp_0001')
  expect(kept).toMatchObject({ exit: 3, code: 'is_kept', hint: 'assay prune exp_0001 --reason TEXT' })
  for (const verb of ['run', 'seal'])
    expect(await project.problem(verb, 'exp_0004')).toMatchObject({ exit: 3, code: 'is_discarded' })
  expect(await project.problem('new', '--parent', 'exp_0003', '-m', 'x')).toMatchObject({
    exit: 3,
    code: 'bad_parent',
  })
  const wrong = await project.cli(['discard', 'exp_0001', '--failure-class', 'idea'])
  expect(wrong.code).toBe(2)
  // The same files tried again are known, though their experiment was given up.
  const again = await project.attempt(ms(120))
  expect(again satisfies RunData).toMatchObject({ reason: 'duplicate' })
})

test('an audit with evidence that the record proves only flags, or descendants still count', async () => {
  // As if an earlier release had let through what this one knows to be sealed.
  const file = project.repo.path('.assay/runs/run_0001/spec.json')
  const spec = JSON.parse(readFileSync(file, 'utf8'))
  spec.scope.immutable.push('src/metrics.txt')
  writeFileSync(file, JSON.stringify(spec))
  const finding = { code: 'path', message: 'It edits what measures it.', path: 'src/metrics.txt' }
  expect(dataOf(await audit('exp_0001', { findings: [finding] }))).toEqual({
    experiment: 'exp_0001',
    status: 'revoked',
    flagged: true,
    outcome: 'revoked',
    confirmed: [finding],
    best: { experiment: 'exp_0000', value: 100 },
  })
  expect(await project.data('frontier', '--policy', 'argmax', '-k', '9')).toMatchObject({
    parents: [{ experiment: 'exp_0000' }],
  })
  expect(await project.data('status')).toMatchObject({ counts: { kept: 2, revoked: 1 } })
  expect(await project.problem('new', '--parent', 'exp_0001', '-m', 'x')).toMatchObject({
    exit: 3,
    code: 'bad_parent',
  })
})
