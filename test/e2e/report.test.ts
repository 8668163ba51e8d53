import { appendFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Draft } from '../../cli/ledger/events.ts'
import { identify } from '../../cli/process.ts'
import { created, judged, keptNode, sealed, stamped, started } from '../ledger/drafts.ts'
import { assay, startAssay } from '../rig/assay.ts'
import { makeProject, ms, type Project } from './project.ts'

interface Report {
  run: string
  best: { experiment: string; value: number } | null
  bests: string[]
  points: { experiment: string; epoch: number; value: number | null }[]
  path: { experiment: string; value: number | null }[]
  improvements: {
    experiment: string
    from: number | null
    gain: number | null
    interval: [number, number] | null
  }[]
  duration: { first: string; last: string; ms: number; active_ms: number }
  spend: { calls: number; tokens_in: number; usd: number; at_least: boolean }
  left: { repairable: string[]; retests: string[]; ideas: string[] }
  experiments: { experiment: string; hypothesis: string }[]
  stop: string | null
}

let next = 0
/** Appended as another process would have written them. */
function remember(project: Project, drafts: readonly Draft[], run = 'run_0001') {
  const lines = drafts.map((draft) => `${JSON.stringify({ ...stamped(draft, `rig${next++}`), at: AT })}\n`)
  appendFileSync(project.repo.path(`.assay/runs/${run}/ledger.jsonl`), lines.join(''))
}
const AT = '2099-01-02T03:04:05.000Z'

const textOf = async (project: Project, ...args: string[]) => {
  const ran = await assay(['report', ...args], { cwd: project.repo.dir })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return ran.stdout
}

describe('a run with some history', () => {
  let project: Project
  beforeAll(async () => {
    project = makeProject({ spec: { metric: { name: 'ms', direction: 'minimize' } } })
    await project.data('init')
    remember(project, [
      ...keptNode('exp_0001', 'exp_0000', 80),
      created('exp_0002', 'exp_0001'),
      sealed('exp_0002'),
      started('exp_0002'),
      judged('exp_0002', 'kept', { value: 60, parent_value: 80, against: 'exp_0001', interval: [15, 25] }),
      { ...created('exp_0003', 'exp_0002'), hypothesis: '=1+1, "quoted"\n\u001b[2J' },
      sealed('exp_0003'),
      started('exp_0003'),
      judged('exp_0003', 'failed', { failure_class: 'eval' }),
      {
        type: 'usage',
        role: 'implement',
        host: 'x',
        experiment: null,
        round: null,
        ms: 5,
        outcome: 'ok',
        usage: { tokens_in: 1000, tokens_out: 234, usd: 1.5 },
      },
      {
        type: 'usage',
        role: 'verify',
        host: 'x',
        experiment: null,
        round: null,
        ms: 5,
        outcome: 'ok',
        usage: { tokens_in: null, tokens_out: null, usd: null },
      },
      {
        type: 'proposed',
        round: null,
        refused: [],
        accepted: [{ hypothesis: 'idea of exp_0001' }, { hypothesis: 'something fresh' }],
      },
    ])
  })

  test('the summary misses what it took, what it cost, what is left, or the interval of a gain', async () => {
    const lines = (await textOf(project)).split('\n')
    const summary = lines.slice(lines.indexOf('') + 1)
    expect(summary[0]).toBe('ms             100 → 60  40 % better  exp_0000 → exp_0002')
    expect(summary[1]).toBe('experiments    4  ● 3 kept  × 1 failed')
    expect(summary[3]).toMatch(/^duration {7}\d+ h, [\d.]+ m?s of it at work$/)
    expect(summary.slice(4, 6)).toEqual([
      'spend          2 agent calls, at least 1234 tokens, at least 1.5 usd',
      'left           1 repairable, 1 to retest, 1 idea not tried',
    ])
    expect(summary.slice(6)).toEqual([
      'key improvements',
      '  exp_0001  100 → 80               20 % better  idea of exp_0001',
      '  exp_0002  80 → 60   25 % better, by 15 to 25  idea of exp_0002',
      '',
    ])
  })

  test('the JSON is not complete', async () => {
    const data = await project.data<Report>('report')
    expect(data).toMatchObject({
      run: 'run_0001',
      best: { experiment: 'exp_0002', value: 60 },
      bests: ['exp_0000', 'exp_0001', 'exp_0002'],
      duration: { last: AT },
      spend: { calls: 2, tokens_in: 1000, usd: 1.5, at_least: true },
      left: { repairable: ['exp_0003'], retests: ['exp_0003'], ideas: ['something fresh'] },
      stop: null,
    })
    expect(data.improvements).toMatchObject([
      { experiment: 'exp_0001', from: 100, value: 80, gain: 0.2, interval: null },
      { experiment: 'exp_0002', from: 80, value: 60, gain: 0.25, interval: [15, 25] },
    ])
    expect(data.experiments).toHaveLength(4)
  })

  test('a part of a report has more experiments than asked for, or the next part does not begin behind it', async () => {
    type Part = Report & { next?: string; more?: Record<string, number> }
    const ids = ({ experiments, points }: Part) =>
      [experiments, points].map((list) => list.map((one) => one.experiment))
    const first = await project.data<Part>('report', '--limit', '2')
    expect(ids(first)).toEqual(Array.from({ length: 2 }, () => ['exp_0000', 'exp_0001']))
    expect(first).toMatchObject({
      next: 'exp_0001',
      bests: ['exp_0001', 'exp_0002'],
      more: { bests: 1, path: 1 },
    })
    const second = await project.data<Part>('report', '--limit', '2', '--after', 'exp_0001')
    expect(ids(second)).toEqual(Array.from({ length: 2 }, () => ['exp_0002', 'exp_0003']))
    expect(second.next).toBeUndefined()
    const last = await project.data<Part>('report', '--limit', '1')
    expect(last).toMatchObject({
      improvements: [{ experiment: 'exp_0002', from: 80 }],
      more: { improvements: 1 },
    })
    const ofAll = await assay(['report', '--all', '--json', '--after', 'exp_0001'], { cwd: project.repo.dir })
    expect(ofAll).toMatchObject({ code: 2, json: { problem: { code: 'after_one' } } })
    const path = await project.data<{ path: { experiment: string }[]; next?: string }>(
      'path',
      'exp_0003',
      '--limit',
      '3',
    )
    expect(path.path.map(({ experiment }) => experiment)).toEqual(['exp_0000', 'exp_0001', 'exp_0002'])
    expect(path.next).toBe('exp_0002')
    const rest = await assay(['path', 'exp_0003', '--after', 'exp_0002'], { cwd: project.repo.dir })
    expect(rest.stdout).toMatch(/^exp_0003 /)
    const wrong = await assay(['path', 'exp_0001', '--after', 'exp_0003'], { cwd: project.repo.dir })
    expect(wrong).toMatchObject({ code: 2, stdout: '' })
  })

  test('a spreadsheet runs what an agent wrote, or a line breaks', async () => {
    const lines = (await textOf(project, '--csv')).split('\n')
    expect(lines[0]).toBe(
      'run,experiment,parent,status,reason,failure_class,epoch,round,lane,depth,value,parent_value,improvement,improvement_abs,interval_low,interval_high,samples,attempts,created,judged,hypothesis',
    )
    expect(lines).toHaveLength(6)
    expect(lines[3]).toBe(
      `run_0001,exp_0002,exp_0001,kept,improved,,1,,,,60,80,,,15,25,2,1,${AT},${AT},idea of exp_0002`,
    )
    expect(lines[4]).toBe(
      `run_0001,exp_0003,exp_0002,failed,crash,eval,1,,,,,10,,,,,2,1,${AT},${AT},"'=1+1, ""quoted"" \\x1b[2J"`,
    )
  })

  test('scores of two epochs stand on one axis, or in one path', async () => {
    remember(project, [
      { type: 'epoch_opened', epoch: 2, why: 'another machine' },
      sealed('exp_0000', 2, 'again'),
      started('exp_0000', 2),
      judged('exp_0000', 'kept', { attempt: 2, value: 1000, reason: null }),
      {
        type: 'confirmed',
        experiment: 'exp_0002',
        attempt: 1,
        against: 'exp_0000',
        passed: true,
        value: 700,
        comparison: {
          outcome: 'improved',
          against: 'exp_0000',
          improvement: 0.3,
          improvement_abs: 300,
          interval: null,
          inputs: {},
        },
      },
    ])
    const lines = (await textOf(project)).split('\n')
    expect(lines[0]).toBe('ms, lower is better; 2 of earlier epochs not shown')
    expect(lines.slice(1).join('\n')).not.toMatch(/ (80|60) /)
    expect(lines.find((line) => line.startsWith('ms  '))).toBe(
      'ms             1000 → 700  30 % better  exp_0000 → exp_0002',
    )
    expect(lines.slice(lines.indexOf('key improvements') + 1)).toEqual([
      expect.stringMatching(/^ {2}exp_0002 {2}1000 → 700 {2}30 % better/),
      '',
    ])
    const data = await project.data<Report>('report')
    expect(data.points.map(({ epoch, value }) => [epoch, value])).toEqual([
      [2, 1000],
      [1, 80],
      [2, 700],
      [1, null],
    ])
    expect(data.bests).toEqual(['exp_0000', 'exp_0002'])
    expect(data.path.map(({ value }) => value)).toEqual([1000, null, 700])
  })

  test.each([
    ['--limit 1', '--limit has no effect without --json', 'add --json, or leave out --limit'],
    ['--csv --after exp_0001', '--after has no effect without --json', 'add --json, or leave out --after'],
    ['--full', '--full has no effect without --html FILE', 'add --html FILE, or leave out --full'],
  ])('report %s shows everything, as if the flag were not there', async (flags, message, hint) => {
    const { code, stderr } = await assay(['report', ...flags.split(' ')], { cwd: project.repo.dir })
    expect(code).toBe(2)
    expect(stderr).toContain(message)
    expect(stderr).toContain(hint)
  })

  test('--all knows only the active run, or mixes runs', async () => {
    await project.data('init', '--new')
    expect((await project.problem('report')).code).toBe('several_runs')
    const titles = (await textOf(project, '--all')).split('\n').filter((line) => line.startsWith('run_'))
    expect(titles).toEqual(['run_0001  demo', 'run_0002  demo'])
    const { runs } = await project.data<{ runs: Report[] }>('report', '--all')
    expect(runs.map(({ run, points }) => [run, points.length])).toEqual([
      ['run_0001', 4],
      ['run_0002', 1],
    ])
    expect((await textOf(project, '--all', '--csv')).split('\n')).toHaveLength(7)
    expect(await project.problem('report', '--all', '--watch')).toMatchObject({ code: 'watch_one', exit: 2 })
  })
})

describe('--watch', () => {
  let project: Project
  const watch = async () => {
    const running = startAssay(['report', '--watch'], { cwd: project.repo.dir })
    await running.said('watching run_0001')
    return running
  }
  beforeAll(async () => {
    project = makeProject({ files: ms(100) })
    await project.data('init')
  })

  test('does not tell a new result, or Ctrl-C does not end it with the chart', async () => {
    const running = await watch()
    remember(project, keptNode('exp_0001', 'exp_0000', 80))
    await running.said('exp_0001 kept 80')
    running.kill('SIGINT')
    const ran = await running.ended
    expect(ran.code).toBe(130)
    expect(ran.stdout).toContain('100 → 80  20 % better')
  })

  test('continues when the driver has stopped', async () => {
    const owner = identify()
    if (!owner) throw new Error('no identity')
    const drove = { type: 'drove' as const, driver: 'rig', owner, active_ms: 0 }
    remember(project, [{ ...drove, phase: 'start' }])
    const running = await watch()
    remember(project, keptNode('exp_0002', 'exp_0001', 70))
    await running.said('exp_0002 kept 70')
    expect(running.output().stdout).toBe('')
    remember(project, [{ ...drove, phase: 'stop' }])
    const ran = await running.ended
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('100 → 70  30 % better')
  })

  test('waits for ever for a run that has a reason to stop', async () => {
    remember(project, [{ type: 'stopped', why: 'enough' }])
    const ran = await assay(['report', '--watch'], { cwd: project.repo.dir })
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('stopped        a person stopped it')
  })
})
