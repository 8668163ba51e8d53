import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { snapshotTree } from '../rig/snapshot.ts'
import { makeProject, ms, type NewData, type RunData, specText, WHO, writeFiles } from './project.ts'

const FILES = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`src/part/${n}.txt`, `part ${n}\n`]))

test('of 24 calls of new at once, two get the same experiment, or one gets an incomplete worktree', async () => {
  const project = makeProject({ files: FILES })
  await project.data('init')
  const ids = Array.from({ length: 24 }, (_, n) => n + 1)
  const made = await Promise.all(ids.map((n) => project.data<NewData>('new', '-m', `idea ${n}`)))
  expect(new Set(made.map(({ experiment }) => experiment)).size).toBe(24)
  expect(new Set(made.map(({ worktree }) => worktree)).size).toBe(24)
  const whole = snapshotTree(project.repo.dir, { except: ['.git', '.assay'] })
  for (const { worktree } of made) {
    expect(snapshotTree(worktree, { except: ['.git'] })).toEqual(whole)
    const changed = execFileSync('git', ['status', '--porcelain'], { cwd: worktree, env: project.repo.env })
    expect(String(changed)).toBe('')
  }
  const { nodes } = await project.data<{ nodes: { experiment: string; hypothesis: string }[] }>('tree')
  expect(nodes).toHaveLength(25)
  expect(new Set(nodes.map(({ hypothesis }) => hypothesis)).size).toBe(25)
  expect(await project.data('status')).toMatchObject({ counts: { open: 24, kept: 1 } })
})

test('one key opens two experiments, or sets up one worktree twice', async () => {
  const project = makeProject({ files: FILES })
  const log = join(project.control, 'setups')
  project.repo.commit('setup', {
    'assay.yaml': specText({ worktree: { setup: { command: `pwd >> '${log}'` } } }),
  })
  await project.data('init')
  const made = await Promise.all(
    Array.from({ length: 8 }, () => project.data<NewData>('new', '-m', 'idea', '--key', 'k1')),
  )
  expect(new Set(made.map(({ experiment }) => experiment)).size).toBe(1)
  expect(made.filter(({ repeated }) => !repeated)).toHaveLength(1)
  const whole = snapshotTree(project.repo.dir, { except: ['.git', '.assay'] })
  expect(snapshotTree(made[0]?.worktree ?? '', { except: ['.git'] })).toEqual(whole)
  expect(await project.data('status')).toMatchObject({ counts: { open: 1 } })
  const inIt = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line === made[0]?.worktree)
  expect(inIt).toHaveLength(1)
})

test('eight runs of one experiment pay for more than one attempt, or disagree', async () => {
  const project = makeProject()
  await project.data('init')
  const cases = [
    { files: ms(90), verdict: { status: 'kept', reason: 'improved', value: 90 }, starts: 2, paid: 1 },
    { files: ms(110), verdict: { status: 'rejected', reason: 'not_better', value: 110 }, starts: 1, paid: 2 },
    { files: {}, verdict: { status: 'rejected', reason: 'empty', value: null }, starts: 0, paid: 2 },
  ]
  for (const { files, verdict, starts, paid } of cases) {
    const { experiment } = await project.open(files)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => project.data<RunData>('run', experiment)),
    )
    for (const answer of answers) expect(answer).toMatchObject({ experiment, attempt: 1, ...verdict })
    expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1)
    expect(project.starts().filter((id) => id === experiment)).toHaveLength(starts)
    expect(await project.data('status')).toMatchObject({ budget: { experiments: { used: paid } } })
  }
})

test('the last place in the budget is taken twice', async () => {
  const project = makeProject({ spec: { budget: { experiments: 2 } } })
  await project.data('init')
  const opened = await Promise.all([90, 91, 92, 93].map((value) => project.open(ms(value))))
  const ran = await Promise.all(opened.map(({ experiment }) => project.cli<RunData>(['run', experiment])))
  expect(ran.map(({ code }) => code).sort()).toEqual([0, 0, 3, 3])
  expect(project.starts().filter((id) => id !== 'exp_0000')).toHaveLength(4)
  expect(await project.data('status')).toMatchObject({
    counts: { open: 2, running: 0, kept: 3 },
    budget: { experiments: { used: 2, limit: 2 } },
  })
})

test('with one slot two measurements overlap', async () => {
  const project = makeProject()
  const log = join(project.control, 'log')
  project.repo.commit('log', {
    'assay.yaml': specText({ measure: { command: 'sh bench/run.sh', slots: 1 } }),
    'bench/run.sh': `echo "start ${WHO}" >> '${log}'; sleep 0.05; cat src/metrics.txt; echo "end ${WHO}" >> '${log}'\n`,
  })
  await project.data('init')
  const opened = await Promise.all([91, 92, 93, 94, 95, 96].map((value) => project.open(ms(value))))
  const ran = await Promise.all(opened.map(({ experiment }) => project.data<RunData>('run', experiment)))
  expect(ran.map(({ status, value }) => [status, value])).toEqual([
    ['kept', 91],
    ['kept', 92],
    ['kept', 93],
    ['kept', 94],
    ['kept', 95],
    ['kept', 96],
  ])
  const events = readFileSync(log, 'utf8').trim().split('\n')
  // Two for calibration, one for the canary, two for each kept candidate.
  expect(events).toHaveLength(2 * (2 + 1 + 6 * 2))
  for (let i = 0; i < events.length; i += 2) expect(events[i]?.replace('start', 'end')).toBe(events[i + 1])
})

test('init at once in one repository makes two runs, or none', async () => {
  const project = makeProject()
  const answers = await Promise.all(Array.from({ length: 4 }, () => project.cli(['init'])))
  expect(answers.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  for (const answer of answers)
    expect(dataOf(answer)).toMatchObject({ run: 'run_0001', baseline: { value: 100 } })
  expect(project.starts()).toHaveLength(2)
  const { experiment } = await project.open(ms(90))
  writeFiles(project.repo.dir, {})
  expect(await project.data('run', experiment)).toMatchObject({ status: 'kept' })
})
