import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, dataOf } from '../rig/assay.ts'
import { makeRepo, type Repo } from '../rig/repo.ts'
import { ISOLATIONS } from './isolated.ts'

interface Verdict {
  status: string
  reason: string | null
  value: number | null
  message: string
}

const SPEC = { version: 1, name: 'slot', goal: 'Lower v.', metric: { name: 'v', direction: 'minimize' } }
const BENCH = 'echo "METRIC v=$(cat src/v.txt)"\n'

/** A run in a fresh repository; `v` of the baseline is what its benchmark prints. */
async function begin(spec: object, files: Record<string, string>): Promise<Repo> {
  const repo = makeRepo({ files: { 'src/v.txt': '100\n', 'bench/run.sh': BENCH, ...files } })
  const whole = {
    ...SPEC,
    scope: { mutable: ['src/**'], immutable: ['bench/**'] },
    measure: { command: 'sh bench/run.sh' },
    noise: { calibrate: 2 },
    ...spec,
  }
  repo.write({ 'assay.yaml': JSON.stringify(whole) })
  dataOf(await assay(['init', '--no-canary', '--json'], { cwd: repo.dir }))
  return repo
}

async function judge(repo: Repo, edit: Record<string, string>): Promise<Verdict> {
  const made = dataOf(
    await assay<{ experiment: string; worktree: string }>(
      ['new', '--parent', 'exp_0000', '-m', JSON.stringify(edit), '--json'],
      { cwd: repo.dir },
    ),
  )
  const inside = Object.entries(edit).map(([path, text]) => [
    join('.assay/w', made.worktree.split('/').at(-1) ?? '', path),
    text,
  ])
  repo.write(Object.fromEntries(inside))
  return dataOf(await assay<Verdict>(['run', made.experiment, '--json'], { cwd: repo.dir }))
}

test('the next candidate reads an ignored cache of the last one, so a true gain becomes a tie', async () => {
  const repo = await begin(
    {
      measure: {
        command: 'mkdir -p .cache; [ -f .cache/v ] || cp src/v.txt .cache/v; echo "METRIC v=$(cat .cache/v)"',
      },
    },
    { '.gitignore': '.cache\n' },
  )
  expect(await judge(repo, { 'src/v.txt': '50\n' })).toMatchObject({ status: 'kept', value: 50 })
})

test.each(ISOLATIONS)(
  'a candidate that rewrites what setup made is kept, or poisons the next one: isolation %s',
  async (isolation) => {
    const repo = await begin(
      {
        worktree: {
          setup: { command: "mkdir -p node_modules && echo 'cat src/v.txt' > node_modules/lib.sh" },
        },
        measure: { command: 'sh src/code.sh; sh bench/run.sh', isolation },
      },
      {
        '.gitignore': 'node_modules\n',
        'src/code.sh': 'true\n',
        'bench/run.sh': 'echo "METRIC v=$(sh node_modules/lib.sh)"\n',
      },
    )
    expect(await judge(repo, { 'src/code.sh': 'echo "echo 7" > node_modules/lib.sh\n' })).toMatchObject({
      status: 'rejected',
      reason: 'out_of_scope',
      message: expect.stringContaining('node_modules/lib.sh'),
    })
    const putBack =
      'cp -p node_modules/lib.sh src/keep; echo "echo 7" > node_modules/lib.sh; cat src/keep > node_modules/lib.sh\n'
    expect(await judge(repo, { 'src/code.sh': putBack })).toMatchObject({
      status: 'rejected',
      reason: 'out_of_scope',
      message: 'its own run changed what judges it: node_modules/lib.sh',
    })
    expect(await judge(repo, { 'src/v.txt': '200\n' })).toMatchObject({ status: 'rejected', value: 200 })
  },
)

test('a setup that rewrites a sealed file does not run again for the next candidate', async () => {
  const repo = await begin(
    {
      scope: { mutable: ['src/**'] },
      worktree: { setup: { command: 'echo 200 > bench/lock.txt' } },
      measure: { command: 'echo "METRIC v=$(cat bench/lock.txt)"' },
    },
    { 'bench/lock.txt': '100\n' },
  )
  for (const text of ['one\n', 'two\n']) {
    expect(await judge(repo, { 'src/note.txt': text })).toMatchObject({
      status: 'rejected',
      reason: 'tie',
      value: 200,
    })
  }
})

test('a checkout that a different run built with a different command counts as built', async () => {
  const build = (by: string) => ({
    worktree: { build: { command: `mkdir -p dist && sed s/^/${by}/ src/v.txt > dist/out.txt` } },
    measure: { command: 'echo "METRIC v=$(cat dist/out.txt)"' },
  })
  const repo = await begin(build('1'), { '.gitignore': 'dist\n' })
  repo.write({
    'assay.yaml': JSON.stringify({
      ...SPEC,
      scope: { mutable: ['src/**'] },
      noise: { calibrate: 2 },
      ...build('2'),
    }),
  })
  const second = await assay<{ baseline: { value: number } }>(['init', '--new', '--no-canary', '--json'], {
    cwd: repo.dir,
  })
  expect(dataOf(second).baseline.value).toBe(2100)
})

test('a measurement checkout that was deleted is made again without its setup', async () => {
  const repo = await begin(
    {
      worktree: { setup: { command: 'mkdir -p nm && cp src/v.txt nm/v' } },
      measure: { command: 'test -f nm/v && sh bench/run.sh' },
    },
    { '.gitignore': 'nm\n' },
  )
  rmSync(repo.path('.assay/m/0/b'), { recursive: true })
  expect(await judge(repo, { 'src/v.txt': '90\n' })).toMatchObject({ status: 'kept', value: 90 })
})

test('a gate rewrites the candidate, so what is measured is not what diff shows', async () => {
  const repo = await begin(
    { gates: [{ name: 'code', command: 'sh src/code.sh', phase: 'before' }] },
    { 'src/code.sh': 'true\n' },
  )
  expect(await judge(repo, { 'src/code.sh': 'echo 3 > src/v.txt\n' })).toMatchObject({
    status: 'rejected',
    reason: 'out_of_scope',
    message: expect.stringContaining('src/v.txt'),
  })
})

test('a benchmark outside of every glob may be rewritten by the candidate', async () => {
  const repo = await begin(
    { scope: { mutable: ['src/**'] }, gates: [{ name: 'code', command: 'sh src/code.sh', phase: 'before' }] },
    { 'src/code.sh': 'true\n' },
  )
  expect(await judge(repo, { 'src/code.sh': 'echo "echo METRIC v=1" > bench/run.sh\n' })).toMatchObject({
    status: 'rejected',
    reason: 'out_of_scope',
  })
})

test('a log that the benchmark itself rewrites makes every candidate out of scope', async () => {
  const repo = await begin(
    { measure: { command: 'date +%N > run.log; sh bench/run.sh' } },
    { 'run.log': 'none\n' },
  )
  expect(await judge(repo, { 'src/v.txt': '90\n' })).toMatchObject({ status: 'kept', value: 90 })
})
