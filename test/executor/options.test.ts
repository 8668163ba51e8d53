import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { seenInWords } from '../../cli/executor/command.ts'
import { refusedOption } from '../../cli/executor/config.ts'
import type { Executor, JobSeen } from '../../cli/executor/executor.ts'
import { claimJob, readResult, withdrawJob, writeResult } from '../../cli/executor/job-folder.ts'
import { lookShared } from '../../cli/executor/shared-look.ts'
import { seenInSlurm } from '../../cli/executor/slurm.ts'
import { makeTemp } from '../rig/temp.ts'

describe('options of sbatch', () => {
  test.each([
    ['--requeue', 'paid for twice'],
    ['--reque', 'paid for twice'],
    ['--array=1-4', 'executor.jobs'],
    ['-a1-4', 'executor.jobs'],
    ['--wrap=true', 'writes the script'],
    ['--output=/x', 'what a job prints'],
    ['-o/x', 'what a job prints'],
    ['--export=ALL', 'measure.environment'],
    ['--job-name=x', 'finds its jobs'],
    ['--signal=B:USR1@5', 'act before'],
    ['--time=5', 'executor.limit'],
    ['-J', 'finds its jobs'],
    ['perf', 'no option'],
    ['--', 'no option'],
  ])('%s is passed on, or is refused without a reason', (option, why) => {
    expect(refusedOption(option)).toContain(why)
  })

  test.each([
    '--constraint=zen4',
    '--account=perf',
    '-Aperf',
    '--qos=high',
    '--mem=8G',
    '--reservation=bench',
    '-wn1',
  ])('%s is refused', (option) => {
    expect(refusedOption(option)).toBeNull()
  })
})

describe('what an engine says', () => {
  test.each([
    ['PENDING', { state: 'queued', why: 'Resources' }],
    ['RUNNING', { state: 'running', node: 'n1' }],
    ['COMPLETING', { state: 'running', node: 'n1' }],
    ['COMPLETED', { state: 'ended', how: 'done' }],
    ['CANCELLED by 1000', { state: 'ended', how: 'cancelled' }],
    ['NODE_FAIL', { state: 'ended', how: 'node' }],
    ['OUT_OF_ME+', { state: 'unknown' }],
    ['TIMEOUT', { state: 'ended', how: 'timeout' }],
    ['', { state: 'unknown' }],
  ])('%s of Slurm is read as something else', (word, seen) => {
    expect(seenInSlurm(word, 'n1', 'Resources')).toEqual(seen)
  })

  test.each([
    ['PEND', 'queued'],
    ['idle', 'queued'],
    ['RUN', 'running'],
    ['running', 'running'],
    ['DONE', 'ended'],
    ['EXIT', 'ended'],
    ['SuccessCriteriaMetComplete', 'known'],
    ['SuccessCriteriaMet Complete', 'ended'],
    ['FailureTarget Failed', 'ended'],
    ['', 'absent'],
    ['1', 'known'],
    ['Job', 'known'],
    ['Failed Job', 'ended'],
    ['Suspended Job', 'queued'],
  ])('%s of another engine is read as something else', (word, state) => {
    expect(seenInWords(word).state).toBe(state)
  })
})

test('two hundred jobs ask the engine more than once in an interval', async () => {
  const asked: string[][] = []
  const executor: Pick<Executor, 'look'> = {
    look(ids) {
      asked.push([...ids])
      return Promise.resolve(
        new Map(ids.map((id): [string, JobSeen] => [id, { state: 'queued', why: null }])),
      )
    },
  }
  const file = join(makeTemp('jobs'), 'seen.json')
  const ids = Array.from({ length: 200 }, (_, n) => `job-${n}`)
  // Each process comes once, then all come again.
  for (const id of ids) await lookShared(executor as Executor, { file, id, ageMs: 60_000 })
  const before = asked.length
  for (const id of ids)
    expect(await lookShared(executor as Executor, { file, id, ageMs: 60_000 })).toEqual({
      state: 'queued',
      why: null,
    })
  expect(asked).toHaveLength(before)
  // The next interval: one question, for all of them.
  await lookShared(executor as Executor, { file, id: 'job-7', ageMs: 0 })
  expect(asked.slice(before).map((some) => some.length)).toEqual([200])
})

describe('the folder of a job', () => {
  const outcome = { ok: true as const, answer: { artifacts: {} } }
  const result = {
    v: 1 as const,
    key: 'k',
    attempt: 1,
    steps: { sha256: 'x', lines: 1 },
    began: '',
    ended: '',
    outcome,
  }

  test('a torn result, or that of another attempt, is read', () => {
    const folder = makeTemp('job')
    writeResult(folder, result)
    expect(readResult(folder, { key: 'k', attempt: 1 })?.outcome).toEqual(outcome)
    expect(readResult(folder, { key: 'k', attempt: 2 })).toBeNull()
    expect(readResult(folder, { key: 'other', attempt: 1 })).toBeNull()
    writeFileSync(join(folder, 'result.json'), JSON.stringify(result).slice(0, 40))
    expect(readResult(folder, { key: 'k', attempt: 1 })).toBeNull()
  })

  test('a job that nobody waits for begins', () => {
    const folder = makeTemp('job')
    withdrawJob(folder)
    expect(claimJob(folder, 0)).toBe(false)
  })

  test('a second start of a job measures', () => {
    const folder = makeTemp('job')
    expect(claimJob(folder, 1)).toBe(false)
    expect(claimJob(folder, 0)).toBe(true)
    expect(claimJob(folder, 0)).toBe(false)
    expect(existsSync(join(folder, 'claim-0'))).toBe(true)
    mkdirSync(join(folder, 'record'))
    expect(claimJob(folder, 2)).toBe(false)
  })
})
