/** Many commands at once on one repository, from wherever they are called. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeProject, ms, type NewData, type RunData, type StatusData, writeFiles } from '../e2e/project.ts'
import { dataOf } from '../rig/assay.ts'
import { type Crash, crash } from '../rig/crash.ts'
import { makeTemp } from '../rig/temp.ts'
import { NOTHING_LOST, recordsOf, takeToll } from './toll.ts'

const SPEC = { noise: { mode: 'deterministic', calibrate: 2 }, loop: { width: 2, depth: 1 } }
/** Answers of a command that was overtaken, and says so. */
const OVERTAKEN = [0, 3]

test('thirty-two processes that do different things at once lose an event, share a number, or crash', async (context) => {
  const project = makeProject({ spec: SPEC })
  await project.data('init')
  const kept = await project.attempt(ms(90))
  const losers = await Promise.all(
    [91, 92, 93, 94].map(async (value) => project.attempt(ms(value), kept.experiment)),
  )
  const ready = await Promise.all([80, 81, 82, 83].map((value) => project.open(ms(value), kept.experiment)))
  const calls: string[][] = [
    ...Array.from({ length: 8 }, (_, n) => ['new', '--parent', 'exp_0000', '-m', `idea ${n}`]),
    ...ready.flatMap(({ experiment }) => [
      ['run', experiment],
      ['run', experiment],
    ]),
    ...losers.flatMap(({ experiment }) => [
      ['discard', experiment, '--reason', 'no use'],
      ['annotate', experiment, 'a remark'],
    ]),
    ['round', 'open'],
    ['round', 'open'],
    ['note', 'a learning'],
    ['status'],
    ['report'],
    ['tree'],
    ['gc', '--dry-run'],
    ['doctor'],
  ]
  expect(calls).toHaveLength(32)
  const crashes: Crash[] = []
  const answers = await Promise.all(
    calls.map(async (args) => {
      const traced = crash(null)
      crashes.push(traced)
      return { args, ran: await project.cli<Record<string, unknown>>(args, { env: traced.env }) }
    }),
  )
  for (const { args, ran } of answers) {
    expect([args, OVERTAKEN.includes(ran.code ?? -1), ran.json === null]).toEqual([args, true, false])
  }
  const data = (verb: string) =>
    answers
      .filter(({ args }) => args[0] === verb)
      .map(({ ran }) => dataOf(ran as never) as Record<string, unknown>)
  expect(new Set(data('new').map(({ experiment }) => experiment)).size).toBe(8)
  expect(new Set(data('round').map(({ token }) => token)).size).toBe(1)
  expect(data('run').map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'kept'))
  expect(data('discard')).toHaveLength(4)
  const status = await project.data<StatusData>('status')
  expect(status.counts).toMatchObject({ open: 8, running: 0, kept: 6, discarded: 4 })
  expect(status.budget.experiments.used).toBe(9)
  expect(await takeToll(context, { repo: project.repo, crashes, starts: project.starts().length })).toEqual(
    NOTHING_LOST,
  )
})

test('a command that is called in the root, a sub-folder or a worktree takes one run of a repository for a different one', async (context) => {
  const project = makeProject({ spec: SPEC })
  const first = await project.data<{ run: string }>('init')
  const second = await project.data<{ run: string }>('init', '--new')
  expect([first.run, second.run]).toEqual(['run_0001', 'run_0002'])
  expect(await project.problem('status')).toMatchObject({ exit: 2, code: 'several_runs' })
  const open = (run: string) => project.data<NewData>('new', '--run', run, '-m', `for ${run}`)
  const made = await Promise.all([first.run, second.run, first.run, second.run].map(open))
  expect(new Set(made.map(({ worktree }) => worktree)).size).toBe(4)
  for (const [n, { worktree }] of made.entries()) writeFiles(worktree, ms(90 - n))
  // From inside of a worktree it is clear which run is meant.
  const inside = made.map(({ experiment, worktree }) =>
    project.cli<RunData>(['run', experiment], { cwd: join(worktree, 'src') }),
  )
  expect((await Promise.all(inside)).map((ran) => dataOf(ran).value)).toEqual([90, 89, 88, 87])
  const linked = join(makeTemp('linked'), 'work')
  project.repo.git('worktree', 'add', '--quiet', '--detach', linked)
  mkdirSync(join(linked, 'deep', 'er'), { recursive: true })
  const best = async (cwd: string, run: string) =>
    dataOf(await project.cli<StatusData>(['status', '--run', run], { cwd })).best?.value
  for (const cwd of [project.repo.dir, project.repo.path('src'), linked, join(linked, 'deep', 'er')])
    expect([await best(cwd, first.run), await best(cwd, second.run)]).toEqual([88, 87])
  const ledgers = recordsOf(project.repo.path('.assay')).filter(({ file }) => file.endsWith('ledger.jsonl'))
  expect(ledgers.map(({ lines }) => lines.filter(({ type }) => type === 'created').length)).toEqual([3, 3])
  execFileSync('git', ['worktree', 'remove', '--force', linked], {
    cwd: project.repo.dir,
    env: project.repo.env,
  })
  expect(await takeToll(context, { repo: project.repo, crashes: [] })).toEqual(NOTHING_LOST)
})
