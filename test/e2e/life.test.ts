import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import {
  hook,
  makeProject,
  metrics,
  ms,
  type NewData,
  type Project,
  type RunData,
  type StatusData,
  writeFiles,
} from './project.ts'

describe('verdicts', () => {
  let project: Project
  beforeAll(async () => {
    project = makeProject({
      files: { ...metrics({ ms: 100, mb: 5 }), 'src/before.txt': 'good\n', 'src/after.txt': 'good\n' },
      spec: {
        metric: { name: 'ms', direction: 'minimize', min_improvement: '1%' },
        tie_breakers: [{ metric: 'mb', direction: 'minimize' }],
        constraints: [{ metric: 'mb', op: '<=', value: 50 }],
        measure: { command: ['sh', 'bench/run.sh'], timeout: '1s' },
        gates: [
          { name: 'unit', command: 'grep -q good src/before.txt', phase: 'before' },
          { name: 'whole', command: 'grep -q good src/after.txt', phase: 'after' },
        ],
      },
    })
    await project.data('init')
  })

  test('a better candidate is not kept, or the answer has other fields than its contract', async () => {
    const opened = await project.data<NewData>('new', '--parent', 'exp_0000', '-m', 'Cache it')
    expect(opened).toEqual({
      experiment: 'exp_0001',
      parent: 'exp_0000',
      worktree: project.repo.path('.assay/w/1-0001'),
      artifacts: project.repo.path('.assay/runs/run_0001/exp/0001/artifacts'),
    })
    writeFiles(opened.worktree, metrics({ ms: 90, mb: 5 }))
    const ran = await project.cli<RunData>(['run', 'exp_0001'], { cwd: opened.worktree })
    expect(ran.code).toBe(0)
    const answer = {
      experiment: 'exp_0001',
      attempt: 1,
      status: 'kept',
      reason: 'improved',
      failure_class: null,
      value: 90,
      parent_value: 100,
      improvement: 0.1,
      improvement_abs: 10,
      interval: null,
      samples: 2,
      against: 'exp_0000',
      best: true,
      gates: [
        { name: 'unit', phase: 'before', passed: true },
        { name: 'whole', phase: 'after', passed: true },
      ],
      message: 'ms = 90: 10 better (10 %, minimize) against exp_0000 (100)',
      doubt: null,
      lasting_doubt: null,
    }
    expect(dataOf(ran)).toEqual(answer)
    const starts = project.starts().length
    expect(await project.data('run', 'exp_0001')).toEqual({ ...answer, repeated: true })
    expect(project.starts()).toHaveLength(starts)
  })

  test('a child is compared with the baseline instead of its parent', async () => {
    expect(await project.attempt(metrics({ ms: 95, mb: 5 }), 'exp_0001')).toMatchObject({
      status: 'rejected',
      reason: 'not_better',
      failure_class: 'hypothesis',
      value: 95,
      parent_value: 90,
      improvement: -5 / 90,
      improvement_abs: -5,
      against: 'exp_0001',
      best: false,
      samples: 1,
    })
  })

  test('`new` without a parent does not take the best', async () => {
    expect(await project.data('new', '-m', 'next')).toMatchObject({ parent: 'exp_0001' })
  })

  test('a gain below min_improvement is kept, or a tie-breaker decides the wrong way', async () => {
    expect(await project.attempt(metrics({ ms: 99.5, mb: 5 }))).toMatchObject({
      status: 'rejected',
      reason: 'tie',
      value: 99.5,
    })
    expect(await project.attempt(metrics({ ms: 100, mb: 4 }))).toMatchObject({
      status: 'kept',
      reason: 'tie_broken',
      improvement: 0,
      best: false,
      message: 'ms = 100: no change against exp_0000 (100); mb 5 → 4 breaks the tie',
    })
    expect(await project.attempt(metrics({ ms: 100, mb: 6 }))).toMatchObject({
      status: 'rejected',
      reason: 'tie',
      message: 'a tie with exp_0000: no change; mb 5 → 6 is worse',
    })
  })

  test('a gate of phase before runs after the measurement, or one of phase after does not run', async () => {
    const starts = project.starts().length
    const before = await project.attempt({ ...metrics({ ms: 1, mb: 5 }), 'src/before.txt': 'bad\n' })
    expect(before).toMatchObject({
      status: 'rejected',
      reason: 'gate',
      value: null,
      best: false,
      samples: 0,
      gates: [{ name: 'unit', phase: 'before', passed: false }],
      message: 'gate unit did not pass: exit 1, without a word on stderr',
    })
    expect(project.starts()).toHaveLength(starts)
    const after = await project.attempt({ ...metrics({ ms: 1, mb: 5 }), 'src/after.txt': 'bad\n' })
    expect(after).toMatchObject({ status: 'rejected', reason: 'gate', value: 1, best: false })
    expect(after.gates).toEqual([
      { name: 'unit', phase: 'before', passed: true },
      { name: 'whole', phase: 'after', passed: false },
    ])
  })

  test('a violated constraint is outweighed by a better value', async () => {
    const answer = await project.attempt(metrics({ ms: 1, mb: 51 }))
    expect(answer).toMatchObject({ status: 'rejected', reason: 'constraint', failure_class: 'hypothesis' })
    expect(answer.message).toContain('mb')
    expect(answer.message).toContain('51')
  })

  test('what could not be judged counts as a rejection, or exits as a bug or a usage error', async () => {
    const cases: [Record<string, string>, string, string][] = [
      [hook('echo boom >&2; exit 3') as Record<string, string>, 'crash', 'exit 3: boom'],
      [hook('kill -9 $$') as Record<string, string>, 'crash', 'SIGKILL'],
      [hook('exec sleep 30') as Record<string, string>, 'timeout', 'time limit of 1 s'],
      [{ 'src/metrics.txt': 'METRIC ms=NaN\n' }, 'metric_error', 'METRIC ms=NaN'],
      [{ 'src/metrics.txt': 'nothing\n' }, 'metric_error', 'ms'],
    ]
    for (const [files, reason, words] of cases) {
      const { experiment } = await project.open(files)
      const ran = await project.cli<RunData>(['run', experiment])
      expect(ran.code).toBe(4)
      const answer = dataOf(ran)
      expect(answer).toMatchObject({
        status: 'failed',
        reason,
        failure_class: 'eval',
        value: null,
        best: false,
      })
      expect(answer.message).toContain(words)
    }
  })

  test('a program that is missing is blamed on the idea, and uses up an attempt', async () => {
    const { experiment, worktree } = await project.open(hook('no-such-program'))
    writeFiles(worktree, { 'src/hook.sh': 'no-such-program || exit 127\n' })
    for (let attempt = 1; attempt <= 4; attempt++) {
      const ran = await project.cli<RunData>(['run', experiment])
      expect(ran.code).toBe(4)
      expect(dataOf(ran)).toMatchObject({ attempt, reason: 'environment', failure_class: 'environment' })
    }
    writeFiles(worktree, { ...hook('true'), ...metrics({ ms: 60, mb: 5 }) })
    expect(await project.data('run', experiment)).toMatchObject({ attempt: 5, status: 'kept', value: 60 })
  })

  test('status, best or counts disagree with the verdicts', async () => {
    const status = await project.data<StatusData>('status')
    expect(status.best).toEqual({ experiment: 'exp_0015', value: 60 })
    expect(status.counts).toEqual({
      open: 1,
      running: 0,
      kept: 4,
      rejected: 6,
      failed: 5,
      discarded: 0,
      pruned: 0,
      revoked: 0,
    })
    expect(status.budget.failures.used).toBe(5)
  })
})

test('a candidate whose second sample is not better is kept', async () => {
  const project = makeProject()
  await project.data('init')
  const count = join(project.control, 'count')
  const answer = await project.attempt({
    ...ms(50),
    ...hook(`if [ -f '${count}' ]; then echo METRIC ms=51; exit; fi; touch '${count}'`),
  })
  expect(answer).toMatchObject({
    status: 'rejected',
    reason: 'unconfirmed',
    value: 50,
    // The third shows that its parent has not changed.
    samples: 3,
    best: false,
  })
  expect(await project.data('status')).toMatchObject({ best: { experiment: 'exp_0000', value: 100 } })
})

test('a candidate that edits its judge while it runs is believed', async () => {
  const project = makeProject({ files: { 'bench/expected.txt': 'right\n' } })
  await project.data('init')
  const answer = await project.attempt({ ...ms(1), ...hook('echo wrong > bench/expected.txt') })
  expect(answer).toMatchObject({
    status: 'rejected',
    reason: 'out_of_scope',
    best: false,
    message: 'its own run changed what judges it: bench/expected.txt',
  })
  // The next candidate is measured with the judge as it was sealed.
  const next = await project.attempt({ ...ms(99), ...hook('grep -q right bench/expected.txt || exit 5') })
  expect(next).toMatchObject({ status: 'kept', value: 99 })
})

test('a direction or a value of 0 is confused with no value', async () => {
  const project = makeProject({ files: ms(0), spec: { metric: { name: 'ms', direction: 'maximize' } } })
  await project.data('init')
  expect(await project.attempt(ms(-1))).toMatchObject({ status: 'rejected', reason: 'not_better', value: -1 })
  expect(await project.attempt(ms(2))).toMatchObject({
    status: 'kept',
    value: 2,
    parent_value: 0,
    improvement: null,
    improvement_abs: 2,
    best: true,
  })
})
