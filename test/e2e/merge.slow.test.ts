import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, dataOf, startAssay } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { switches, switchProject } from './attribute-scene.ts'
import { haltIn, type Merged, siblings } from './merge-scene.ts'
import { noisyProject } from './noisy.ts'
import type { Project, StatusData } from './project.ts'

const ADDITIVE = '5 * p[1] + 4 * p[2] + 3 * p[3] + 2 * p[4]'

test('wins that add up are not merged with one verdict, or the record does not name the parents of the merge', async () => {
  const { project, ids } = await siblings(4, ADDITIVE)
  const before = project.starts().length
  const merged = await project.data<Merged>('merge')
  expect(merged).toMatchObject({
    experiments: ids,
    attempts: [{ experiments: ids, experiment: 'exp_0005', status: 'kept', value: 86 }],
    best: 'exp_0005',
    left: [],
  })
  // A sample, and one that confirms it, as for any other that is kept.
  expect(project.starts().length - before).toBe(2)
  const status = await project.data<StatusData>('status')
  expect(status.budget.experiments.used).toBe(5)
  expect(status.best).toEqual({ experiment: 'exp_0005', value: 86, parents: ids })
  expect(await project.data('show', 'exp_0005')).toMatchObject({
    parent: 'exp_0001',
    parents: ids,
    merge: true,
    parent_value: 95,
  })
  expect(await project.data('show', 'exp_0005', '--recompute')).toMatchObject({ same: true, differences: [] })
  const printed = async (...args: string[]) => (await assay(args, { cwd: project.repo.dir })).stdout
  expect(await printed('show', 'exp_0005')).toContain(
    'child of exp_0001 and exp_0002 and exp_0003 and exp_0004, 0 children',
  )
  expect(await printed('tree')).toContain('with exp_0002, exp_0003, exp_0004')
  expect(await printed('report', '--csv')).toContain(',exp_0005,exp_0001 exp_0002 exp_0003 exp_0004,kept,')
  // There is nothing left to merge, and saying so costs nothing.
  expect((await project.problem('merge')).code).toBe('nothing_to_merge')
  expect(await project.data<Merged>('merge', ...ids)).toMatchObject({ attempts: [], best: 'exp_0005' })
})

test('two that are worse together are kept together, or are tried again by a later call', async () => {
  const { project } = await siblings(3, '5 * p[1] + 4 * p[2] + 3 * p[3] - 12 * p[1] * p[2]')
  const merged = await project.data<Merged>('merge')
  expect(merged.attempts.map(({ experiments, status }) => `${experiments.join(' ')} ${status}`)).toEqual([
    'exp_0001 exp_0002 exp_0003 rejected',
    'exp_0001 exp_0002 rejected',
    'exp_0001 exp_0003 kept',
  ])
  expect(merged).toMatchObject({ best: 'exp_0006', left: ['exp_0002'] })
  const before = project.starts().length
  expect(await project.data<Merged>('merge')).toMatchObject({
    experiments: ['exp_0006', 'exp_0002'],
    attempts: [],
    best: 'exp_0006',
    left: ['exp_0002'],
  })
  expect(await project.data<Merged>('merge', 'exp_0001', 'exp_0002')).toMatchObject({ attempts: [] })
  expect(project.starts().length).toBe(before)
  const finished = await project.data<{ unmerged: string[]; experiment: string }>('finish')
  expect(finished).toMatchObject({ experiment: 'exp_0006', unmerged: ['exp_0002'] })
  const said = await assay(['finish', '--branch', 'again'], { cwd: project.repo.dir })
  expect(said.stdout).toContain(
    '\n  exp_0006 does not contain these kept experiments: exp_0002. Assay tried to merge them: they conflict, or the result was not better\n',
  )
  for (const id of ['exp_0004', 'exp_0005', 'exp_0006'])
    expect(await project.data('show', id, '--recompute')).toMatchObject({ same: true })
})

/** Three siblings: the first two change the same line, in different ways. */
async function conflicting() {
  const project = switchProject(3, '5 * (p[1] == 1) + 4 * (p[1] == 2) + 3 * p[3]')
  await project.data('init')
  await project.attempt(switches(3, [1]))
  await project.attempt(switches(3, [], { 1: '2' }))
  await project.attempt(switches(3, [3]))
  return project
}

test('a conflict is hidden, keeps the others from being merged, or is looked for again', async () => {
  const project = await conflicting()
  const merged = await project.data<Merged>('merge')
  expect(merged).toMatchObject({
    attempts: [
      {
        experiments: ['exp_0001', 'exp_0002'],
        experiment: null,
        status: 'conflict',
        message:
          'git cannot merge exp_0002 with exp_0001: their changes do not fit together in src/parts.txt; exp_0002 is left out of this merge',
        files: ['src/parts.txt'],
      },
      { experiments: ['exp_0001', 'exp_0003'], experiment: 'exp_0004', status: 'kept', value: 92 },
    ],
    best: 'exp_0004',
    left: ['exp_0002'],
  })
  expect(await project.data<Merged>('merge')).toMatchObject({ attempts: [] })
})

/** The environment of a git that first looks at each of its words: `cases` are those of a `case` of sh. */
function gitWith(...cases: string[]): { PATH: string } {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const bin = join(makeTemp('other-git'), 'bin')
  mkdirSync(bin)
  const lines = [
    '#!/bin/sh',
    'for word; do',
    '  case $word in',
    ...cases.map((one) => `    ${one} ;;`),
    '  esac',
    'done',
    `exec '${real}' "$@"`,
  ]
  writeFileSync(join(bin, 'git'), `${lines.join('\n')}\n`)
  chmodSync(join(bin, 'git'), 0o755)
  return { PATH: `${bin}${delimiter}${process.env.PATH}` }
}

/** It is what it says: it has no `merge-tree --write-tree`. */
const oldGit = () =>
  gitWith(
    '--version | version) echo "git version 2.34.1"; exit',
    '--write-tree) echo "usage: git merge-tree" >&2; exit 129',
  )

test('a git without merge-tree makes a different merge, or a different conflict', async () => {
  const [project, twin] = [await conflicting(), await conflicting()]
  const merged = await project.data<Merged>('merge')
  const old = await twin.cli<Merged>(['merge'], { env: oldGit() })
  expect(dataOf(old)).toEqual(merged)
  // The whole trees differ: each benchmark names a folder of its own.
  const sources = async (one: typeof project) => {
    const { candidate } = await one.data<{ candidate: { tree: string } }>('show', 'exp_0004')
    const store = one.repo.path('.assay', '.git')
    return execFileSync('git', ['--git-dir', store, 'rev-parse', `${candidate.tree}:src`], {
      encoding: 'utf8',
    })
  }
  expect(await sources(twin)).toBe(await sources(project))
})

test('one that is in doubt, the baseline or an unknown one is merged when it is named', async () => {
  const { project } = await siblings(2, ADDITIVE)
  expect((await project.problem('merge', 'exp_0001', 'exp_0009')).code).toBe('unknown_experiment')
  expect((await project.problem('merge', 'exp_0001', 'exp_0000')).message).toBe(
    'exp_0000 cannot be merged: it is the baseline, which all others contain',
  )
  expect((await project.problem('merge', 'exp_0001')).code).toBe('nothing_to_merge')
  await project.data('prune', 'exp_0002', '--reason', 'enough')
  expect((await project.problem('merge', 'exp_0001', 'exp_0002')).message).toBe(
    'exp_0002 cannot be merged: it is pruned, not kept',
  )
})

/** The cost is 100, less the gain of the switches that are 1. */
const SOLVE = `const { readFileSync } = require('node:fs')
module.exports = () => {
  const p = [...readFileSync('src/parts.txt', 'utf8').matchAll(/^part \\d+ (\\d)/gm)].map(([, on]) => Number(on))
  return 100 - 10 * p[0] - 9 * p[1] - 8 * p[2] - 7 * p[3]
}
`

test('under 2 % of noise wins that add up are not merged by one verdict', async () => {
  const project = noisyProject({}, { 'src/solve.cjs': SOLVE, ...switches(4) })
  await project.data('init')
  for (const n of [1, 2, 3, 4])
    expect(await project.attempt(switches(4, [n]))).toMatchObject({ status: 'kept' })
  const merged = await project.data<Merged>('merge')
  expect(merged.attempts).toMatchObject([{ experiment: 'exp_0005', status: 'kept' }])
  expect(merged).toMatchObject({ best: 'exp_0005', left: [] })
  expect(await project.data('show', 'exp_0005', '--recompute')).toMatchObject({ same: true })
})

test('a revoked parent leaves its merge the best', async () => {
  const { project } = await siblings(2, ADDITIVE)
  await project.data<Merged>('merge')
  await project.data('revoke', 'exp_0002', '--reason', 'it cheats')
  expect((await project.data<StatusData>('status')).best?.experiment).toBe('exp_0001')
})

test('of two gates with one name, a merge must pass only that of its first parent', async () => {
  const { project, ids } = await siblings(2, '10 * p[1] + 5 * p[2]')
  const [one = '', two = ''] = ids
  const alone = (n: number) => ['--name', 'alone', '--command', `! grep -q "part ${n} 1" src/parts.txt`]
  await project.data('gate', 'add', one, '--name', 'alone', '--command', 'true', '--reason', 'first')
  await project.data('gate', 'add', two, ...alone(1), '--reason', 'second')
  const { attempts } = await project.data<Merged>('merge')
  expect(attempts).toMatchObject([
    { status: 'rejected', message: expect.stringContaining(`gate alone (${two}) did not pass`) },
  ])
  const merged = attempts[0]?.experiment ?? ''
  expect(await project.data('gate', 'list', merged)).toMatchObject({
    gates: [
      { name: 'alone', from: one },
      { name: `alone (${two})`, from: two },
    ],
  })
})

test('the commits and the text of finish name only the first of the experiments that a merge is made of', async () => {
  const { project, ids } = await siblings(3, '10 * p[1] + 5 * p[2] + 2 * p[3]')
  const [one = '', two = '', three = ''] = ids
  const { best } = await project.data<Merged>('merge')
  const done = await project.data<{ text: string; commits: { experiments: string[] }[] }>('finish')
  expect(done.commits.map(({ experiments }) => experiments)).toEqual([[one], [two, three, best]])
  const steps = done.text.split('## Steps')[1]?.split('## ')[0]?.trim().split('\n')
  expect(steps?.map((line) => line.split(':')[0])).toEqual([
    '- exp_0000, 100',
    `- ${one} on exp_0000, 90`,
    `- ${two} on exp_0000, 95`,
    `- ${three} on exp_0000, 98`,
    `- ${best} on ${one}, ${two}, ${three}, 83`,
  ])
})

/** Calls `merge`, and `act` while it waits at the place where the file `at` appears and `hold` lies. */
async function mergeDuring(
  project: Project,
  act: () => Promise<unknown>,
  env: Record<string, string> = {},
): Promise<Merged> {
  const [hold, at] = [join(project.control, 'hold'), join(project.control, 'at')]
  writeFileSync(hold, '')
  const running = startAssay<Merged>(['merge', '--json'], { cwd: project.repo.dir, env })
  try {
    await until(() => existsSync(at), { what: 'the merge', dir: project.control })
    await act()
  } finally {
    rmSync(hold)
  }
  return dataOf(await running.ended)
}

const revoke = (project: Project, id: string) => project.data('revoke', id, '--reason', 'it cheats')

test.each([
  ['is put together', '--write-tree'],
  ['is sealed', 'commit-tree'],
])(
  'a merge one of whose parts is revoked while it %s ends, or the others are not merged',
  async (_, word) => {
    const { project } = await siblings(3, ADDITIVE)
    const env = gitWith(`${word}) ${haltIn(project.control)}`)
    const merged = await mergeDuring(project, () => revoke(project, 'exp_0003'), env)
    expect(merged.attempts).toMatchObject([
      { experiments: ['exp_0001', 'exp_0002'], status: 'kept', value: 91 },
    ])
    expect((await project.data<StatusData>('status')).counts).toMatchObject({ open: 0, revoked: 1 })
  },
)

test('a merge one of whose parts is revoked while it is measured ends, or the others are not merged', async () => {
  const { project } = await siblings(3, ADDITIVE, { halts: true })
  const merged = await mergeDuring(project, () => revoke(project, 'exp_0003'))
  expect(merged.attempts).toMatchObject([
    { experiments: ['exp_0001', 'exp_0002'], status: 'kept', value: 91 },
  ])
  expect(await project.data('show', 'exp_0004')).toMatchObject({ status: 'rejected', reason: 'dependency' })
})

/** A shell command that fails if two switches are on, as often as `times` says. */
const failsAtFirst = (folder: string, times: number) =>
  `n=$(grep -c "part . 1" src/parts.txt); if [ "$n" -gt 1 ] && [ "$(cat '${folder}/failed' 2>/dev/null | wc -l)" -lt ${times} ]; then echo x >> '${folder}/failed'; echo oops >&2; exit 1; fi`

test('a merge whose build fails by chance is refused for good, or one that cannot be built is tried without end', async () => {
  for (const [times, status] of [
    [1, 'kept'],
    [9, 'failed'],
  ] as const) {
    const build = { command: failsAtFirst(makeTemp('failed'), times) }
    const { project } = await siblings(2, ADDITIVE, { spec: { worktree: { build } } })
    const merged = await project.data<Merged>('merge')
    expect(merged.attempts).toMatchObject([{ experiments: ['exp_0001', 'exp_0002'], status }])
    expect(await project.data<StatusData>('status')).toMatchObject({
      budget: { experiments: { used: 4 } },
      best: { value: times === 1 ? 91 : 95 },
    })
    if (times > 1) expect(await project.data<Merged>('merge')).toMatchObject({ attempts: [] })
  }
})

test('a merge that crashes by chance is refused for good', async () => {
  const { project } = await siblings(2, ADDITIVE, { first: failsAtFirst(makeTemp('failed'), 1) })
  expect(await project.data<Merged>('merge')).toMatchObject({ attempts: [{ status: 'kept', value: 91 }] })
  expect((await project.data<StatusData>('status')).budget.failures.used).toBe(1)
})

test('two whose files were kept as one experiment, which is pruned now, count as a pair that must not be merged', async () => {
  const { project } = await siblings(3, '5 * p[1] + 4 * p[2] + 3 * p[3]')
  await project.attempt(switches(3, [1, 2]), 'exp_0001')
  await project.data('prune', 'exp_0004', '--reason', 'enough')
  expect(await project.data<Merged>('merge', 'exp_0001', 'exp_0002')).toMatchObject({
    attempts: [{ status: 'rejected', message: expect.stringContaining('were judged as exp_0004: kept') }],
  })
  expect(await project.data<Merged>('merge')).toMatchObject({
    attempts: [{ experiments: ['exp_0001', 'exp_0002', 'exp_0003'], status: 'kept', value: 88 }],
  })
})

test('a merge that is kept as a new epoch begins is called the best under an empty name', async () => {
  const { project } = await siblings(2, ADDITIVE, { halts: true })
  let opened: Promise<unknown> = Promise.resolve()
  const merged = await mergeDuring(project, async () => {
    opened = startAssay(['epoch', 'open', '--reason', 'x'], { cwd: project.repo.dir }).ended
    const isOpen = async () => (await project.data<{ epoch: number }>('status')).epoch === 2
    await until(isOpen, { what: 'the epoch', dir: project.control })
  })
  await opened
  expect(merged).toMatchObject({ attempts: [{ status: 'kept' }], best: null, left: [] })
})
