import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { steadyChance } from '../rig/chance.ts'
import { crash } from '../rig/crash.ts'
import { makeTemp, tempBase } from '../rig/temp.ts'
import { ISOLATIONS } from './isolated.ts'
import { makeProject, type RunData, type SpecParts, specText } from './project.ts'

/**
 * Tells what it sees of its checkout: who it is by the comment in `src/main.sh`, and of each file and folder whether its times of
 * change, modification and birth are younger than the file `began`, which the test writes before each command.
 */
const AGES = `
const { appendFileSync, readFileSync, statSync } = require('node:fs')
const { basename, join } = require('node:path')
const control = process.argv[2]
const began = statSync(join(control, 'began')).mtimeMs
const git = /^gitdir: (.*)$/m.exec(readFileSync('.git', 'utf8'))[1]
const paths = ['.', '.git', 'src', 'src/main.sh', 'src/other.sh', 'src/deep', 'src/deep/x', 'bench', join(git, 'HEAD')]
const seen = paths.map((path) => {
  const { mtimeMs, ctimeMs, birthtimeMs } = statSync(path)
  return basename(path) + ' ' + [mtimeMs, ctimeMs, birthtimeMs].map((time) => (time >= began ? 'new' : 'old')).join(' ')
})
const who = /# (.*)/.exec(readFileSync('src/main.sh', 'utf8'))?.[1] ?? ''
if (who !== '') appendFileSync(join(control, 'ages'), JSON.stringify({ who, seen }) + '\\n')
`

interface Aged {
  who: string
  seen: string[]
}

const CHANCE = steadyChance(1)

async function open(isolation: string, main: string, more: SpecParts = {}) {
  const project = makeProject({ env: { ...CHANCE, TMPDIR: makeTemp('node') } })
  const { control } = project
  const began = join(control, 'began')
  const log = join(control, 'ages')
  project.repo.commit('ages', {
    'assay.yaml': specText({
      measure: {
        command: 'sh bench/run.sh',
        timeout: '30s',
        isolation,
        ...(isolation === 'none' ? {} : { allow: [tempBase()] }),
      },
      metric: { name: 'n', direction: 'minimize' },
      noise: { mode: 'paired', calibrate: 3 },
      ...more,
    }),
    'bench/run.sh': `node bench/ages.cjs '${control}'\nn=$(BEGAN='${began}' sh src/main.sh)\necho METRIC n=$((n * 100 + ASSAY_SEED % 7))\n`,
    'bench/ages.cjs': AGES,
    'src/main.sh': `${main} # the baseline\n`,
    'src/other.sh': 'true\n',
    '.gitignore': 'made\n',
    'src/deep/x': 'x\n',
  })
  const after = async <T>(...args: string[]): Promise<T> => {
    writeFileSync(began, '')
    rmSync(log, { force: true })
    return project.data<T>(...args)
  }
  const lines = (name: string) => {
    const file = join(control, name)
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  }
  await after('init')
  return {
    project,
    lines,
    after,
    attempt: async (text: string, parent = 'exp_0000') => {
      const { experiment } = await project.open({ 'src/main.sh': text }, parent)
      return after<RunData>('run', experiment)
    },
    /** What each of the two sides saw, without repetitions. */
    ages: (): Record<string, string[]> => {
      const seen = new Map<string, Set<string>>()
      for (const { who, seen: what } of lines('ages').map((line) => JSON.parse(line) as Aged))
        seen.set(who, (seen.get(who) ?? new Set()).add(what.join('\n')))
      return Object.fromEntries([...seen].map(([who, all]) => [who, [...all]]))
    },
  }
}

/** Compared are both sides of each command, without repetitions. */
function expectSame(compared: Record<string, string[]>[]): void {
  expect(compared.map((sides) => Object.keys(sides).length)).toEqual(compared.map(() => 2))
  for (const sides of compared) {
    const [one, other] = Object.values(sides)
    expect(one).toEqual(other)
  }
}

/** It runs for the candidate only, and its traces are removed. */
const GATES = [{ name: 'trace', command: 'touch src/trace' }]

describe.each([
  ...ISOLATIONS.map((isolation) => ({ how: `isolation ${isolation}`, isolation, more: {} })),
  { how: 'jobs', isolation: 'none', more: { executor: { kind: 'local', jobs: 2 } } },
])('$how', ({ isolation, more }) => {
  test('the age of a file or folder tells a program whether it is the candidate or the parent', async () => {
    const { attempt, ages, after } = await open(isolation, 'echo 100', { gates: GATES, ...more })
    const compared: Record<string, string[]>[] = []
    for (const name of ['one', 'two', 'three']) {
      await attempt(`echo 100 # ${name}\n`)
      compared.push(ages())
    }
    expect(await attempt('echo 90 # better\n')).toMatchObject({ status: 'kept' })
    compared.push(ages())
    await after('confirm', 'exp_0004')
    compared.push(ages())
    expectSame(compared)
  })

  test('a change of a comment is kept, because the parent is slow where its file is old', async () => {
    const main = 'if [ src/main.sh -nt "$BEGAN" ]; then echo 90; else echo 120; fi'
    const { attempt } = await open(isolation, main, more)
    const found: string[] = []
    for (const name of ['one', 'two', 'three', 'four'])
      found.push((await attempt(`${main} # ${name}\n`)).status)
    expect(found).not.toContain('kept')
  })
})

test('files that got new ages are taken for changed, so that setup runs again for each candidate', async () => {
  const setups = join(makeTemp('setups'), 'log')
  const setup = `echo ran >> '${setups}'; mkdir -p src/made; echo 1 > src/made/x; echo 1 > made`
  const { attempt } = await open('none', 'echo 100', {
    worktree: { setup: { command: setup } },
    gates: [{ name: 'trace', command: 'touch trace src/trace && cat made src/made/x' }],
  })
  const ran = () => readFileSync(setups, 'utf8').split('\n').length
  await attempt('echo 100 # one\n')
  const before = ran()
  for (const name of ['two', 'three']) expect((await attempt(`echo 100 # ${name}\n`)).status).toBe('rejected')
  // In the worktrees that the candidates were edited in.
  expect(ran() - before).toBe(2)
})

test.each(['before', 'after'] as const)(
  'a kill %s a folder of a checkout is in its place again leaves a checkout that no later attempt repairs',
  async (how) => {
    const { project, attempt, after, ages } = await open('none', 'echo 100', { gates: GATES })
    const { experiment } = await project.open({ 'src/main.sh': 'echo 90 # killed\n' })
    const death = crash({ name: '^renameSync .*/[ab]\\.aside$', how, who: 'one', nth: 3 })
    const options = `${death.env.NODE_OPTIONS} ${CHANCE.NODE_OPTIONS}`
    await project.cli(['run', experiment], { env: { ...death.env, NODE_OPTIONS: options } })
    expect(death.deaths()).toBe(1)
    expect(await after('run', experiment)).toMatchObject({ status: 'kept' })
    const compared = [ages()]
    await attempt('echo 90 # next\n', experiment)
    compared.push(ages())
    expectSame(compared)
  },
)
