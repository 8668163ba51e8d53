import { describe, expect, test } from 'vitest'
import { ms, type Project, type RunData, type SpecParts } from '../e2e/project.ts'
import { missingProgram } from '../rig/needs.ts'
import { makeTemp } from '../rig/temp.ts'
import { eventsOf, projectOnNode, waitedFor } from './scene.ts'

interface Standing {
  best: { experiment: string; other_machine?: string }
}

/** Its jobs say that they ran on another processor, with another C library. */
const onAnother = waitedFor(
  `sed -i 's/"cpu":"[^"]*"/"cpu":"Other CPU"/; s/"libc":"[^"]*"/"libc":"glibc 9.99"/' node.json`,
) as { submit: string[] }

test('a best that another machine measured than the baseline looks like one of the same', async () => {
  const project = projectOnNode({ spec: { executor: waitedFor() } })
  await project.data('init', '--no-canary')
  const same = await project.attempt(ms(90))
  expect((await project.data<Standing>('status')).best).toEqual({ experiment: same.experiment, value: 90 })
  const set = ['executor.submit', JSON.stringify(onAnother.submit)]
  await project.data('config', 'set', ...set, '--reason', 'a test')
  const other = await project.attempt(ms(80), same.experiment)
  const { best } = await project.data<Standing>('status')
  expect(best).toMatchObject({
    experiment: other.experiment,
    other_machine: expect.stringMatching(
      /^Other CPU in place of .*; the libc glibc 9\.99 in place of glibc \d/,
    ),
  })
  // Jobs on both kinds of machine: each experiment has its own.
  const back = ['executor.submit', JSON.stringify((waitedFor() as { submit: string[] }).submit)]
  await project.data('config', 'set', ...back, '--reason', 'a test')
  await project.attempt(ms(95))
  const shown = await project.data<{ other_machine?: string }>('show', other.experiment)
  expect(shown.other_machine).toContain('Other CPU in place of')
  const first = await project.data<{ other_machine?: string }>('show', same.experiment)
  expect(first.other_machine).toBeUndefined()
})

test('nothing says on which kind of machine a job tested a part', async () => {
  const project = projectOnNode({
    spec: { executor: onAnother },
    files: { 'src/a.txt': 'a\n', 'src/b.txt': 'b\n' },
  })
  await project.data('init', '--no-canary')
  const { experiment, status } = await project.attempt({ ...ms(90), 'src/a.txt': 'c\n' })
  expect(status).toBe('kept')
  expect(await project.data('attribute', experiment)).toMatchObject({ experiment, ended: true })
  const tested = eventsOf(project).filter(({ type }) => type === 'attributed')
  expect(tested).toMatchObject([{ placed: { machine: { cpu: 'Other CPU' } } }])
})

/**
 * A number that varies with the kind of machine, and not otherwise, such as the size of a program that was compiled for it.
 * `times`: how much larger it is on the other one. The file `slower` in the folder of the test makes each value larger by 5.
 */
function ofMachine(mode: 'auto' | 'deterministic', times: number, rest: SpecParts = {}): Project {
  const control = makeTemp('machine')
  const project = projectOnNode({
    spec: {
      executor: waitedFor(),
      metric: { name: 'bytes', direction: 'minimize' },
      noise: { mode, calibrate: 2 },
      ...rest,
    },
    files: {
      'bench/run.sh': `n=$(cat src/n) s=$(cat src/startup) || exit 1
[ ! -f src/hook.sh ] || . src/hook.sh
[ ! -e ${control}/slower ] || n=$((n + 5))
case $(uname -r) in 2.6*) n=$(echo "$n" | awk '{ print $1 * ${times} }'); s=$((s + 4)) ;; esac
echo METRIC bytes=$n
echo METRIC startup=$s
`,
      'src/n': '100\n',
      'src/startup': '3\n',
    },
  })
  return { ...project, control }
}

/** Its jobs run on another kind of machine from now on. */
async function elsewhere(project: Project): Promise<void> {
  const { submit } = waitedFor() as { submit: string[] }
  const other = submit.map((one) => one.replace('sh "$1" >', 'setarch "$(uname -m)" --uname-2.6 sh "$1" >'))
  await project.data('config', 'set', 'executor.submit', JSON.stringify(other), '--reason', 'a test')
}

const setarch = missingProgram('util-linux', ['setarch', '--version'])

describe.skipIf(setarch !== null)('a metric that varies with the kind of machine', () => {
  const NOTHING = { 'src/note': 'nothing\n' }
  const recomputed = (project: Project, { experiment }: RunData) =>
    project.data<{ same: boolean }>('show', experiment, '--recompute')

  test('a candidate that changes nothing is kept on a machine with lower values', async () => {
    const project = ofMachine('auto', 0.5)
    await project.data('init', '--no-canary')
    await elsewhere(project)
    const nothing = await project.attempt(NOTHING)
    expect(nothing).toMatchObject({ status: 'rejected', parent_value: 100 })
    expect(['tie', 'inconclusive', 'not_better']).toContain(nothing.reason)
    expect(await recomputed(project, nothing)).toMatchObject({ same: true })
  })

  test('a gain is rejected on a machine with higher values', async () => {
    const project = ofMachine('auto', 3)
    await project.data('init', '--no-canary')
    await elsewhere(project)
    const gain = await project.attempt({ 'src/n': '90\n' })
    expect(gain).toMatchObject({ status: 'kept', parent_value: 100 })
    expect(gain.value).toBeCloseTo(90, 4)
    expect(await recomputed(project, gain)).toMatchObject({ same: true })
  })

  test('a spec that says deterministic makes a candidate that changes nothing better there, or a gain worse', async () => {
    const project = ofMachine('deterministic', 0.5)
    await project.data('init', '--no-canary')
    await elsewhere(project)
    for (const files of [NOTHING, { 'src/n': '90\n' }]) {
      const verdict = await project.attempt(files)
      expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
      expect(verdict.message).toMatch(
        /exp_0000 gives 50 here, and gave 100 when it was judged, on another kind of machine \(Linux 2\.6.*executor\.constraint/,
      )
      expect(await recomputed(project, verdict)).toMatchObject({ same: true })
    }
  })

  test('a value that is the same on both is compared with another one than the record', async () => {
    const project = ofMachine('deterministic', 1)
    await project.data('init', '--no-canary')
    await elsewhere(project)
    const gain = await project.attempt({ 'src/n': '90\n' })
    expect(gain).toMatchObject({ status: 'kept', value: 90, samples: 3 })
    expect(await recomputed(project, gain)).toMatchObject({ same: true })
    // Its parent was measured on this kind of machine.
    const next = await project.attempt({ 'src/n': '80\n' }, gain.experiment)
    expect(next).toMatchObject({ status: 'kept', value: 80, samples: 2 })
  })

  test('a protected metric or a tie-breaker that is worse on the machine itself counts against a candidate', async () => {
    const project = ofMachine('deterministic', 1, {
      protected: [{ metric: 'startup', direction: 'minimize', max_regression: 0 }],
    })
    await project.data('init', '--no-canary')
    const gain = await project.attempt({ 'src/n': '90\n' })
    await elsewhere(project)
    const next = await project.attempt({ 'src/n': '80\n' }, gain.experiment)
    expect(next).toMatchObject({ status: 'kept', value: 80 })
    expect(await recomputed(project, next)).toMatchObject({ same: true })
    const worse = await project.attempt({ 'src/n': '70\n', 'src/startup': '8\n' }, gain.experiment)
    expect(worse).toMatchObject({ status: 'rejected', reason: 'protected' })
  })

  test('a confirmation on another kind of machine revokes a gain', async () => {
    const project = ofMachine('deterministic', 2)
    await project.data('init', '--no-canary')
    const { experiment } = await project.attempt({ 'src/n': '90\n' })
    await elsewhere(project)
    expect(await project.data('confirm', experiment)).toMatchObject({
      passed: true,
      value: 180,
      against_value: 200,
      message: expect.stringContaining('exp_0000, which gave 100 before'),
    })
    expect(await project.data('show', experiment)).toMatchObject({ status: 'kept', flagged: false })
  })

  test('a machine that changes between two samples costs the candidate its idea', async () => {
    const project = ofMachine('deterministic', 1)
    await project.data('init', '--no-canary')
    const file = `${project.control}/slower`
    const hook = { 'src/hook.sh': `[ -e ${file}.now ] && touch ${file}; touch ${file}.now\n` }
    const verdict = await project.attempt({ 'src/n': '90\n', ...hook })
    expect(verdict).toMatchObject({ status: 'failed', failure_class: 'environment' })
    expect(verdict.message).toContain('exp_0000 gives 105 here, and gave 100 when it was judged')
    expect(await recomputed(project, verdict)).toMatchObject({ same: true })
  })
})
