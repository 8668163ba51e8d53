import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTemp } from '../rig/temp.ts'
import { type Files, hook, type InitData, makeProject, type Project } from './project.ts'

const DATA = { worktree: { data: ['data/**'] } }

/** The benchmark adds what stands in data/, which git ignores, to the number of the candidate. */
function withData(files: Files = {}, spec: Record<string, unknown> = DATA): Project {
  const project = makeProject({
    spec,
    files: {
      '.gitignore': 'data/\n',
      'bench/run.sh':
        'set -e\nif [ -f src/hook.sh ]; then . ./src/hook.sh; fi\nn=$(cat src/number.txt)\necho METRIC ms=$((n + $(cat data/base.txt)))\n',
      'src/number.txt': '90\n',
      ...files,
    },
  })
  project.repo.write({ 'data/base.txt': '10\n', 'data/deep/more.bin': 'x' })
  return project
}

const number = (value: number): Files => ({ 'src/number.txt': `${value}\n` })

test('ignored data does not reach the checkouts, can be written there, or becomes part of a candidate', async () => {
  const project = withData({}, { ...DATA, scope: { mutable: ['**'], immutable: ['bench/**'] } })
  const init = await project.data<InitData>('init')
  expect(init.baseline.value).toBe(100)
  const made = await project.open({ ...number(80), 'data/base.txt2': 'ignored anyway' })
  const copy = join(made.worktree, 'data/base.txt')
  expect(readFileSync(copy, 'utf8')).toBe('10\n')
  expect(lstatSync(copy).mode & 0o777).toBe(0o444)
  expect(lstatSync(copy).nlink).toBe(1)
  expect(lstatSync(copy).ino).not.toBe(lstatSync(project.repo.path('data/base.txt')).ino)
  expect(await project.data('run', made.experiment)).toMatchObject({ status: 'kept', value: 90 })
  // What the agent does to its own copy changes nothing that is measured.
  const other = await project.open({ ...number(70) })
  const mine = join(other.worktree, 'data/base.txt')
  writeFileSync(`${mine}.new`, '-1000\n')
  renameSync(`${mine}.new`, mine)
  expect(await project.data('run', other.experiment)).toMatchObject({ status: 'kept', value: 80 })
  expect(project.repo.read('data/base.txt')).toBe('10\n')
})

test('worktree.data that no .gitignore names is deleted from the checkouts, or refused as uncommitted work', async () => {
  const project = withData(
    { '.gitignore': '\n' },
    { ...DATA, scope: { mutable: ['src/**', 'data/**'], immutable: ['bench/**'] } },
  )
  project.repo.commit('tracked data', { 'data/kept.txt': 'in git\n' })
  project.repo.git('rm', '--quiet', '--cached', 'data/base.txt', 'data/deep/more.bin')
  project.repo.git('commit', '--quiet', '-m', 'not these')
  expect(await project.data('init')).toMatchObject({ baseline: { value: 100 } })
  expect(await project.attempt(number(80))).toMatchObject({ status: 'kept', value: 90 })
  expect(await project.attempt(number(70))).toMatchObject({ status: 'kept', value: 80 })
})

test('a candidate that writes to its data is judged by it, or spoils the next one', async () => {
  const project = withData()
  await project.data('init')
  const cheat = await project.attempt({
    ...number(80),
    ...hook('chmod u+w data/base.txt; echo 1 > data/base.txt'),
  })
  expect(cheat).toMatchObject({ status: 'rejected', reason: 'out_of_scope' })
  expect(cheat.message).toContain('data/base.txt')
  expect(project.repo.read('data/base.txt')).toBe('10\n')
  expect(await project.attempt(number(80))).toMatchObject({ status: 'kept', value: 90 })
})

test('a file that a candidate leaves among the data is still there for the next candidate', async () => {
  const project = withData({
    'bench/run.sh':
      'if [ -f src/hook.sh ]; then . ./src/hook.sh; fi\necho METRIC ms=$(($(cat src/number.txt) + $(ls data | wc -l)))\n',
  })
  const outside = makeTemp('outside')
  writeFileSync(join(outside, 'mine.txt'), '')
  expect(await project.data('init')).toMatchObject({ baseline: { value: 92 } })
  const planter = await project.attempt({
    ...number(80),
    ...hook(`mkdir -p data/new && touch data/zzz data/new/file; ln -sfn '${outside}' data/link`),
  })
  expect(planter).toMatchObject({ status: 'kept', value: 85 })
  expect(await project.attempt(number(81))).toMatchObject({ status: 'kept', value: 83 })
  expect(readdirSync(outside)).toEqual(['mine.txt'])
})

test('data that changed in the user’s checkout since init is measured, or a new modification time alone is refused', async () => {
  const project = withData()
  await project.data('init')
  const made = await project.open(number(80))
  const file = project.repo.path('data/base.txt')
  utimesSync(file, 1_000_000, 1_000_000)
  expect(await project.data('run', made.experiment)).toMatchObject({ status: 'kept', value: 90 })
  const next = await project.open(number(70))
  writeFileSync(file, '11\n')
  const problem = await project.problem('run', next.experiment)
  expect(problem).toMatchObject({ exit: 3, code: 'data_changed', data: { path: 'data/base.txt' } })
  expect(problem.hint).toContain('assay init --new')
  // It has cost nothing.
  expect(await project.data('status')).toMatchObject({ budget: { experiments: { used: 1 } } })
  expect(await project.problem('init')).toMatchObject({ exit: 3, code: 'run_exists' })
  expect(await project.data('init', '--new')).toMatchObject({ run: 'run_0002', baseline: { value: 101 } })
  writeFileSync(file, '10\n')
  expect(await project.data('run', next.experiment, '--run', 'run_0001')).toMatchObject({ value: 80 })
})

test('a data glob that matches nothing is not reported if a different one matches', async () => {
  const project = withData({}, { worktree: { data: ['data/**', 'datas/*.bin'] } })
  const { warnings } = await project.data<InitData>('init')
  expect(warnings).toContain('datas/*.bin under worktree.data matches no file yet')
})

test('data globs that match no file begin a run without data', async () => {
  const project = withData({}, { worktree: { data: ['datas/*.bin'] } })
  const problem = await project.problem('init')
  expect(problem).toMatchObject({ exit: 2, code: 'data_missing' })
  expect(problem.message).toContain('datas/*.bin')
  expect(existsSync(project.repo.path('.assay'))).toBe(false)
})

test('data behind a symbolic link is a link in the checkouts too, so a candidate could write through it', async () => {
  const project = withData({ '.gitignore': '/data\n' })
  const store = makeTemp('store')
  writeFileSync(join(store, 'base.txt'), '20\n')
  mkdirSync(join(store, 'loop'))
  symlinkSync(store, join(store, 'loop', 'back'))
  rmSync(project.repo.path('data'), { recursive: true })
  symlinkSync(store, project.repo.path('data'))
  expect(await project.data('init')).toMatchObject({ baseline: { value: 110 } })
  const made = await project.open(number(80))
  expect(lstatSync(join(made.worktree, 'data')).isDirectory()).toBe(true)
  expect(readdirSync(join(made.worktree, 'data')).sort()).toEqual(['base.txt'])
})

test('the ledger does not say which data a run began with', async () => {
  const project = withData()
  await project.data('init')
  const [first = ''] = project.repo.read('.assay/runs/run_0001/ledger.jsonl').split('\n')
  expect(JSON.parse(first).data).toEqual({
    files: 2,
    bytes: 4,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  const list = JSON.parse(project.repo.read('.assay/runs/run_0001/data.json'))
  expect(list.map((one: { path: string }) => one.path)).toEqual(['data/base.txt', 'data/deep/more.bin'])
  project.repo.write({ '.assay/runs/run_0001/data.json': '[]' })
  const made = await project.problem('new', '-m', 'x')
  expect(made).toMatchObject({ exit: 3, code: 'data_list_lost' })
})
