/** A metric of the wall clock, on a machine whose processors are all taken. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type InitData, makeProject, metrics, type Project, WHO } from './project.ts'

const neighbours: ChildProcess[] = []
let project: Project

/** Takes about as many milliseconds of a processor as `src/cost` says. */
const BENCHMARK = `const cost = Number(require('node:fs').readFileSync('src/cost', 'utf8'))
if (!cost) process.exit(1)
for (let i = 0; i < cost * 1e6; i++);
console.log('METRIC done=1')
`
const cost = (ms: number) => ({ 'src/cost': String(ms) })

beforeAll(async () => {
  for (let i = 0; i < cpus().length; i++) {
    const script = "console.log('busy'); for (;;);"
    const neighbour = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    neighbours.push(neighbour)
    await once(neighbour.stdout, 'data')
  }
  project = makeProject({
    spec: {
      metric: { name: 'wall_ms', direction: 'minimize' },
      measure: { command: 'node bench/run.cjs', timeout: '30s' },
      noise: { mode: 'auto', calibrate: 2 },
      search: { max_attempts: 1 },
    },
    files: { 'bench/run.cjs': BENCHMARK, ...cost(150) },
  })
})
afterAll(() => {
  for (const neighbour of neighbours) neighbour.kill('SIGKILL')
})

test('a gain that a crowd could have made is kept, or uses up an attempt, or cannot be computed again', async () => {
  const { warnings } = await project.data<InitData>('init')
  expect(warnings.join()).toMatch(/no processor idle while 2 of 2 samples of the baseline were taken/)
  const judged = await project.attempt(cost(20))
  expect(judged).toMatchObject({ status: 'rejected', reason: 'inconclusive', failure_class: 'environment' })
  expect(judged.message).toMatch(/better .* in (\d+) of \1 pairs other programs left no processor idle/)
  const { experiment } = judged
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true, differences: [] })
  // It was its only attempt, and nothing was its fault.
  expect(await project.data('round', 'open')).toMatchObject({ repairable: [experiment] })
})

test('a confirmation in a crowd doubts or revokes a keep, or finish makes a branch by it', async () => {
  const spec = {
    metric: { name: 'wall_ms', direction: 'minimize' },
    noise: { mode: 'paired', calibrate: 2 },
  }
  const project = makeProject({ spec, files: { 'src/wait': '0.025' } })
  const slow = join(project.control, 'slow')
  // Of less than 50 ms it is not known what the processors did; of more it is.
  const bench = `sleep $(cat src/wait || echo none) || exit\nif [ -f '${slow}' ]; then sleep 0.2; fi\necho METRIC done=1\n`
  project.repo.commit('a benchmark', { 'bench/run.sh': bench })
  for (const neighbour of neighbours) neighbour.kill('SIGSTOP')
  await project.data('init')
  const { experiment, status } = await project.attempt({ 'src/wait': '0.001' })
  expect(status).toBe('kept')
  for (const neighbour of neighbours) neighbour.kill('SIGCONT')
  writeFileSync(slow, '')
  for (const verb of [['confirm', experiment], ['finish']]) {
    const { code, message, hint } = await project.problem(...verb)
    expect([code, message, hint]).toEqual([
      'not_measured',
      expect.stringMatching(
        /^exp_0001 could not be measured: in (\d+) of \1 pairs other programs left no processor/,
      ),
      'nothing was recorded; repeat the command when the machine is less busy',
    ])
  }
  expect(await project.data('show', experiment)).toMatchObject({ status: 'kept', flagged: false })
})

/** What the file says, and no time: the CLI would doubt a gain in time that its own clock does not show. */
const size = (value: number) => metrics({ size: value })

/** Each sample waits as long as `src/wait` says, or `slow`. */
async function waiting(spec: object) {
  const project = makeProject({
    spec: { metric: { name: 'size', direction: 'minimize' }, search: { max_attempts: 1 }, ...spec },
    files: { ...size(100), 'src/wait': '0' },
  })
  const slow = join(project.control, 'slow-')
  const bench = `sleep $(cat '${slow}'${WHO} 2> /dev/null || cat src/wait) || exit\ncat src/metrics.txt\n`
  project.repo.commit('a benchmark', { 'bench/run.sh': bench })
  await project.data('init')
  return { project, slow: (id: string, seconds: number) => writeFileSync(`${slow}${id}`, String(seconds)) }
}
const SLOW = 1.5
const BOUND = { constraints: [{ metric: 'wall_ms', op: '<=', value: 1000 }] }
const GUARDED = { protected: [{ metric: 'wall_ms', direction: 'minimize', max_regression: 500 }] }
const noise = (mode: string) => ({ noise: { mode, calibrate: 2, pairs: { max: 8 } } })

test.each([
  [
    'a constraint',
    BOUND,
    /^constraint wall_ms <= 1000 does not hold: it is [\d.]+, but in 1 of 1 samples other programs left/,
  ],
  [
    'a protected metric',
    GUARDED,
    /^it is better; wall_ms went from [\d.]+ to [\d.]+, and a loss of 500 is allowed, but in 8 of 8 pairs/,
  ],
])(
  '%s that is broken only in a crowd counts against a candidate, or uses up its attempt',
  async (_, spec, told) => {
    const { project } = await waiting({ ...spec, ...noise('deterministic') })
    const judged = await project.attempt({ ...size(90), 'src/wait': String(SLOW) })
    expect(judged).toMatchObject({ reason: 'inconclusive', failure_class: 'environment' })
    expect(judged.message).toMatch(told)
    const { experiment } = judged
    expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
    const shown = await project.data<{
      attempts: { measurements: { processors: object }[] }[]
      explained: string[]
    }>('show', experiment)
    const processors = { others: expect.any(Number), idle: expect.any(Number) }
    expect(shown.attempts[0]?.measurements[0]?.processors).toEqual(processors)
    expect(shown.explained.at(-1)).toMatch(/run again on a machine with a processor to spare/)
    expect(await project.data('round', 'open')).toMatchObject({ repairable: [experiment] })
    // What is no better is refused all the same: a crowd has no say in that.
    const worse = await project.attempt({ ...size(110), 'src/wait': String(SLOW) })
    expect(worse).toMatchObject({ reason: 'not_better', failure_class: 'hypothesis' })
    // What holds in a crowd holds.
    expect(await project.attempt(size(80))).toMatchObject({ status: 'kept' })
  },
)

test.each([
  ['a constraint', BOUND, 'deterministic', ['confirm', 'finish']],
  ['a protected metric', GUARDED, 'deterministic', ['confirm']],
  ['a constraint in pairs', BOUND, 'paired', ['confirm']],
])('a keep is revoked for %s that is broken only in a crowd', async (_, spec, mode, verbs) => {
  const { project, slow } = await waiting({ ...spec, ...noise(mode) })
  const { experiment, status } = await project.attempt(size(90))
  expect(status).toBe('kept')
  slow(experiment, SLOW)
  for (const verb of verbs) {
    const { code, message } = await project.problem(verb, ...(verb === 'confirm' ? [experiment] : []))
    expect([code, message]).toEqual([
      'not_measured',
      expect.stringMatching(
        /^exp_0001 could not be measured: wall_ms .*, but in (\d+) of \1 (samples|pairs) other programs/,
      ),
    ])
  }
  expect(await project.data('show', experiment)).toMatchObject({
    status: 'kept',
    flagged: false,
    doubt: null,
  })
})
