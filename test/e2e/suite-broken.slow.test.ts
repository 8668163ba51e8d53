/** Tasks that do anything but their job, in one of two suites that run side by side. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isAlive } from '../rig/alive.ts'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { makeTemp } from '../rig/temp.ts'
import { learningSpec, openSuite, scores, suiteFiles, suiteSpec } from './suite-scene.ts'

/** Each line of the text says what a task scores, or what it does instead. It writes the ids of all processes that it begins. */
const PROGRAM = (seen: string) => `import { spawn } from 'node:child_process'
import { appendFileSync, ftruncateSync, openSync, readFileSync, writeFileSync } from 'node:fs'
const { name } = JSON.parse(process.env.ASSAY_TASK)
const word = readFileSync('prompts/preamble.md', 'utf8').split('\\n').findLast((one) => one.startsWith(name + ' '))?.split(' ')[1]
const result = process.env.ASSAY_RESULT
const note = (pid) => appendFileSync(${JSON.stringify(`${seen}/pids`)}, pid + '\\n')
const huge = (path) => ftruncateSync(openSync(path, 'w'), 2 ** 30)
const acts = {
  hang: () => {
    note(process.pid)
    note(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true }).pid)
    setInterval(() => {}, 1000)
  },
  crash: () => {
    writeFileSync('prompts/pitfalls.md', 'left by a crash')
    throw new Error('broken on purpose')
  },
  nan: () => writeFileSync(result, '{"eval": NaN}'),
  floods: () => {
    for (const path of [process.env.TMPDIR + '/huge', 'huge', result]) huge(path)
    const line = 'x'.repeat(1 << 20)
    for (;;) process.stdout.write(line)
  },
}
if (word === undefined) throw new Error('no line for ' + name)
if (acts[word]) acts[word]()
else writeFileSync(result, JSON.stringify({ eval: Number(word) }))
`

interface SuiteData {
  epochs: { loss: number; tasks: Record<string, number>; outcome: string }[]
  variance: { task: string; runs: number; mean: number }[]
}

test('tasks that hang, crash, print NaN or write 1 GB leave no loss, hold up the epoch, or reach the other suite', async () => {
  const seen = makeTemp('seen')
  const text = 'one hang\ntwo crash\nthree nan\nfour floods\n'
  const host = scriptedHost(`export default {
    gradient: ({ brief: { artifact } }) => ({
      artifact, content: ${JSON.stringify(text)}, rationale: 'r', expected_loss_reduction: 0.1, confidence: 1,
    }),
  }`)
  const tasks = ['one', 'two', 'three', 'four'].map((name) => ({
    ...{ name, task: `Do ${name}.` },
    ...(name === 'one' ? { budget: { max_wall_time: 2 } } : {}),
  }))
  const gradient = { learning_rate: 0.5, candidates: ['preamble'] }
  const measure = { isolation: 'none', output: '8MiB' }
  const spec = learningSpec(host.argv, { gradient, measure }, { tasks })
  const good = `${scores(0.5, 0.5, 0.5)}four 0.5\n`
  const scene = await openSuite(suiteFiles(good, PROGRAM(seen)), spec)
  const other = suiteSpec({ name: 'other', measure }, { name: 'another suite' })
  writeFileSync(scene.repo.path('other.yaml'), JSON.stringify(other))
  scene.repo.commit('another suite')
  dataOf(await scene.cli(['init', 'other.yaml', '--new']))

  await Promise.all([
    scene.loop('--rounds', '1', '--run', 'run_0001').then(dataOf),
    scene.loop('--rounds', '3', '--run', 'run_0002').then(dataOf),
  ])
  const of = async (run: string) => dataOf(await scene.cli<SuiteData>(['artifact', '--run', run]))
  const { epochs } = await of('run_0001')
  expect(epochs.map(({ outcome }) => outcome)).toEqual(['baseline', 'not_kept'])
  expect(epochs[1]).toMatchObject({
    loss: expect.closeTo(3.5 / 4),
    tasks: { one: 1, two: 1, three: expect.closeTo(0.5), four: 1 },
  })
  expect(scene.eventsOf('round_closed')).toHaveLength(1)
  const { variance } = await of('run_0002')
  expect(variance.map(({ task, runs, mean }) => [task, runs, mean])).toEqual([
    ['one', 3, expect.closeTo(0.5)],
    ['two', 3, expect.closeTo(0.5)],
    ['three', 3, expect.closeTo(0.5)],
  ])
  // Nothing of it is left: no process, no file in the slot, and the checkout of the user is as it was.
  const pids = readFileSync(`${seen}/pids`, 'utf8').trim().split('\n')
  expect([pids.length, pids.filter((pid) => isAlive(Number(pid)))]).toEqual([2, []])
  expect(existsSync(scene.repo.path('.assay/m/0/desk'))).toBe(false)
  for (const place of ['a', 'b'].map((name) => scene.repo.path('.assay/m/0', name)).filter(existsSync))
    expect(readdirSync(place)).not.toContain('huge')
  expect(scene.repo.git('status', '--porcelain', '--untracked-files=no')).toBe('')
})
