import { expect, test } from 'vitest'
import { all, type Found, paying, statesOf, switches, switchProject } from './attribute-scene.ts'
import { hook, makeProject } from './project.ts'

test('two parts that gain only together are taken apart, and the rest stays with them', async () => {
  const project = switchProject(5, '8 * p[2] * p[4]')
  await project.data('init')
  const { experiment } = await project.attempt(switches(5, all(5)))
  const found = await project.data<Found>('attribute', experiment)
  expect(paying(found)).toEqual(['h2', 'h4'])
  expect(found.reduced).toMatchObject({ status: 'kept', value: 92 })
})

test('of two parts of which each alone gives the whole gain, both go, or both stay', async () => {
  const project = switchProject(4, '(p[2] || p[3]) ? 6 : 0')
  await project.data('init')
  const { experiment } = await project.attempt(switches(4, all(4)))
  const found = await project.data<Found>('attribute', experiment)
  expect(paying(found)).toHaveLength(1)
  expect(found.reduced).toMatchObject({ status: 'kept', value: 94 })
})

test('a part that harms stays, since the whole is measured against the parent only', async () => {
  const project = switchProject(3, '8 * p[1] - 3 * p[3]')
  await project.data('init')
  const { experiment } = await project.attempt(switches(3, all(3)))
  const found = await project.data<Found>('attribute', experiment)
  expect(statesOf(found)).toEqual({ h1: 'pays', h2: 'dead_weight', h3: 'dead_weight' })
  expect(found.reduced).toMatchObject({ status: 'kept', value: 92 })
})

const builds = (line: string) => ({ worktree: { build: { command: ['sh', '-c', line] } } })
const BUILD = `awk '$1 == "part" { p[$2] = $3 } END { if (p[3] == "uses" && p[1] != "helper") { print "error: \\"helper\\" is not defined"; exit 1 } }' src/parts.txt`

test('a part without which nothing builds counts as dead weight, or as a gain', async () => {
  const project = switchProject(4, '5 * (p[3] == "uses")', { spec: builds(BUILD) })
  await project.data('init')
  const { experiment } = await project.attempt(switches(4, all(4), { 1: 'helper', 3: 'uses' }))
  const found = await project.data<Found>('attribute', experiment)
  expect(statesOf(found)).toEqual({ h1: 'needed', h2: 'dead_weight', h3: 'pays', h4: 'dead_weight' })
  expect(found.parts[0]?.message).toContain('worktree.build fails')
  expect(found.reduced).toMatchObject({ status: 'kept', value: 95 })
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
})

test('a part that is only needed by dead weight stays with it for ever', async () => {
  const project = switchProject(4, '5 * p[2]', { spec: builds(BUILD) })
  await project.data('init')
  const { experiment } = await project.attempt(switches(4, all(4), { 1: 'helper', 3: 'uses' }))
  const found = await project.data<Found>('attribute', experiment)
  expect(paying(found)).toEqual(['h2'])
  expect(found).toMatchObject({ lines: { all: 8, kept: 2 }, reduced: { status: 'kept', value: 95 } })
})

test('what two parts are worth together is the sum of what each is worth, whatever both are measured at', async () => {
  const project = switchProject(4, '4 * p[1] + 4 * p[2] + 2 * p[1] * p[2] + 3 * p[3]')
  await project.data('init')
  const { experiment } = await project.attempt(switches(4, all(4)))
  const found = await project.data<Found>('attribute', experiment, '--interactions')
  expect(paying(found)).toEqual(['h1', 'h2', 'h3'])
  // 87 is the whole; 93 without one of the two, 90 without the third, 97 without both of the two.
  const beyond = found.interactions.find(({ units }) => units.join() === 'h1,h2')?.beyond
  expect(beyond).toBeCloseTo(10 / 97 - 2 * (6 / 93), 6)
  expect(found.interactions).toHaveLength(3)
})

test('what was measured before is measured once more', async () => {
  const project = switchProject(4, '5 * p[1]')
  await project.data('init')
  const { experiment } = await project.attempt(switches(4, all(4)))
  // What is left when the first test leaves out one part.
  const cut = await project.data<Found>('attribute', experiment, '--pairs', '1')
  expect(cut).toMatchObject({ tests: 1, summary: expect.stringContaining('the pairs were used up') })
  const before = project.starts().length
  const found = await project.data<Found>('attribute', experiment, '--pairs', '20')
  expect(paying(found)).toEqual(['h1'])
  expect(found.tests).toBe(4)
  // Three tests, and the verdict on what is left.
  expect(project.starts().length - before).toBe(3 * 2 + 2)
})

test('finish --reduced takes the whole diff, or does not say what each part is worth', async () => {
  const project = switchProject(4, '8 * p[2]')
  await project.data('init')
  await project.attempt(switches(4, all(4)))
  expect(await project.problem('finish', '--reduced')).toMatchObject({ code: 'not_reduced', exit: 3 })
  await project.data<Found>('attribute')
  const whole = await project.data<{ smaller: object }>('finish', '--branch', 'whole')
  expect(whole.smaller).toEqual({ experiment: 'exp_0002', kept: 2, lines: 8 })
  const done = await project.data<{ experiment: string; branch: string; text: string }>('finish', '--reduced')
  expect(done.experiment).toBe('exp_0002')
  expect(done.text).toMatch(/^- exp_0002, src\/parts\.txt:6-12 .*: pays \+8 %$/m)
  const changed = project.repo.git('diff', '--numstat', 'HEAD', done.branch)
  expect(changed.trim()).toBe('1\t1\tsrc/parts.txt')
})

test('a comment that the compiler leaves out is measured, or stays', async () => {
  const lines = (comment: string, cost: number) =>
    [comment, ...Array.from({ length: 9 }, (_, n) => `/* ${n} */`), `cost ${cost}`, ''].join('\n')
  const project = makeProject({
    spec: { worktree: { build: { command: ['sh', '-c', "grep -v '^//' src/cost.c > built"] } } },
    files: {
      'src/cost.c': lines('// first', 100),
      ...hook('awk \'$1 == "cost" { print "METRIC ms=" $2 }\' built; exit $?'),
    },
  })
  await project.data('init')
  const { experiment } = await project.attempt({ 'src/cost.c': lines('// second', 90) })
  const before = project.starts().length
  const found = await project.data<Found>('attribute', experiment)
  expect(statesOf(found)).toEqual({ h1: 'dead_weight', h2: 'pays' })
  expect(found.parts[0]?.message).toBe('it builds to the same')
  // Without both parts it is the parent, whose value is known. The verdict on what is left takes two samples.
  expect(project.starts().length - before).toBe(2)
})

test('what is left crashes once by chance at its verdict, and the whole winner stays', async () => {
  const project = switchProject(3, '8 * p[2]')
  const { control, repo } = project
  // The first sample is that of the test.
  const lines = `if [ "$(grep 'part . 1' src/parts.txt)" = 'part 2 1' ]; then echo >> '${control}/n'; [ "$(($(wc -l < '${control}/n')))" != 2 ] || exit 1; fi`
  repo.commit('each sample', { 'src/hook.sh': `${lines}\n${repo.read('src/hook.sh')}` })
  await project.data('init')
  const { experiment } = await project.attempt(switches(3, all(3)))
  const found = await project.data<Found>('attribute', experiment)
  expect(found.reduced).toMatchObject({ status: 'kept', value: 92 })
  expect(await project.data('show', String(found.reduced?.experiment))).toMatchObject({
    attempts: [{ status: 'failed' }, { status: 'kept' }],
  })
})
