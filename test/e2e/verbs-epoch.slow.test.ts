import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { until } from '../rig/until.ts'
import { makeProject, ms, type RunData, type SpecParts, specText } from './project.ts'

/** The benchmark adds what the file `shift` holds: another machine, for example. */
function shifting(spec: SpecParts = {}) {
  const project = makeProject({ spec })
  const [shift, broken] = [join(project.control, 'shift'), join(project.control, 'broken')]
  writeFileSync(shift, '0')
  project.repo.commit('bench', {
    'bench/run.sh': `test ! -f '${broken}' || { echo "no licence" >&2; exit 9; }
value=$(sed 's/METRIC ms=//' src/metrics.txt)
echo METRIC ms=$((value + $(cat '${shift}')))\n`,
  })
  return { project, broken, shiftBy: (amount: number) => writeFileSync(shift, String(amount)) }
}

test('scores of two epochs are compared, or a confirmation does not bring a node into the new one', async () => {
  const { project, shiftBy } = shifting()
  await project.data('init')
  const good = await project.attempt(ms(90))
  const below = await project.attempt(ms(80), good.experiment)
  const spoilt = await project.attempt(ms(70))
  const open = await project.open(ms(60), good.experiment)
  shiftBy(50)
  const call = ['epoch', 'open', '--reason', 'another machine', '--key', 'e1']
  expect(await project.data(...call)).toMatchObject({
    epoch: 2,
    baseline: { experiment: 'exp_0000', value: 150, before: 100 },
    outdated: [
      { experiment: good.experiment, value: 90 },
      { experiment: below.experiment, value: 80 },
      { experiment: spoilt.experiment, value: 70 },
    ],
    outdated_count: 3,
  })
  expect(await project.data(...call)).toMatchObject({ epoch: 2, repeated: true })
  expect(await project.data('show', 'exp_0000')).toMatchObject({
    status: 'kept',
    value: 150,
    epoch: 2,
    attempts: [
      { attempt: 1, value: 100 },
      { attempt: 2, value: 150 },
    ],
  })
  expect(await project.data('status')).toMatchObject({
    epoch: 2,
    outdated: 3,
    baseline: { value: 150 },
    best: { experiment: 'exp_0000', value: 150 },
    budget: { experiments: { used: 3 } },
  })
  expect(await project.data('frontier', '-k', '5')).toMatchObject({ parents: [{ experiment: 'exp_0000' }] })
  const late = {
    exit: 3,
    code: 'other_epoch',
    hint: `measure it again first: assay confirm ${good.experiment}`,
  }
  expect(await project.problem('new', '--parent', good.experiment, '-m', 'x')).toMatchObject(late)
  expect(await project.problem('run', open.experiment)).toMatchObject(late)
  // Its parent has no score of this epoch, so it is compared with the nearest one above that has.
  expect(await project.data('confirm', below.experiment)).toMatchObject({
    passed: true,
    value: 130,
    recorded: 80,
    against: 'exp_0000',
    against_value: 150,
    epoch: 2,
  })
  expect(await project.data('confirm', good.experiment)).toMatchObject({ passed: true, value: 140 })
  expect(await project.data('status')).toMatchObject({
    outdated: 1,
    best: { experiment: below.experiment, value: 130 },
  })
  // The child is compared with its parent's value of now.
  expect(await project.data('run', open.experiment)).toMatchObject({
    status: 'kept',
    value: 110,
    parent_value: 140,
    improvement_abs: 30,
  })
  // What changes both is neither its gain nor its loss.
  shiftBy(100)
  expect(await project.data('confirm', spoilt.experiment)).toMatchObject({
    passed: true,
    status: 'kept',
    value: 170,
    against_value: 200,
    message:
      'ms = 170, against 200 of exp_0000, which gave 150 before: something outside of the repository changed',
  })
})

test('an epoch whose baseline could not be measured is lost, or opened twice', async () => {
  const { project, broken, shiftBy } = shifting()
  await project.data('init')
  const { experiment } = await project.attempt(ms(90))
  expect(await project.problem('epoch', 'open')).toMatchObject({ exit: 2, code: 'no_reason' })
  writeFileSync(broken, '')
  const ran = await project.cli(['epoch', 'open', '--reason', 'new licence'])
  expect(ran.code).toBe(4)
  expect(dataOf(ran)).toMatchObject({ epoch: 2, baseline: { value: null }, verdict: { status: 'failed' } })
  expect(await project.problem('confirm', experiment)).toMatchObject({ exit: 3, code: 'other_epoch' })
  expect(await project.data('status')).toMatchObject({ epoch: 2, best: null })
  rmSync(broken)
  shiftBy(5)
  expect(await project.data('epoch', 'open', '--reason', 'mended')).toMatchObject({
    epoch: 2,
    baseline: { value: 105, before: 100 },
    verdict: { attempt: 3, status: 'kept' },
  })
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: true, value: 95 })
})

test('an edited spec changes the run, or nobody is told that it does not', async () => {
  const project = makeProject({ spec: { budget: { experiments: 5 } } })
  await project.data('init')
  const spec = async () => (await project.data<{ spec: unknown }>('status')).spec
  const write = (text: string) => project.repo.write({ 'assay.yaml': text })
  const original = specText({ budget: { experiments: 5 } })
  expect(await spec()).toBe(null)
  write(`# a remark\n${original}`)
  expect(await spec()).toBe(null)
  write(specText({ budget: { experiments: 9 } }))
  expect(await spec()).toEqual({
    file: 'assay.yaml',
    state: 'edited',
    frozen: [],
    knobs: [{ key: 'experiments', path: 'budget.experiments', run: 5, file: 9 }],
    other: [],
    hint: 'apply it: assay config sync',
  })
  expect(await project.data('status')).toMatchObject({ budget: { experiments: { limit: 5 } } })
  await project.data('config', 'set', 'budget.experiments', '9', '--reason', 'more')
  expect(await spec()).toBe(null)
  write(specText({ metric: { name: 'other', direction: 'minimize' }, goal: 'Other.' }))
  expect(await spec()).toMatchObject({
    frozen: ['metric.name'],
    other: ['goal'],
    hint: 'a run keeps what it measures; to start a new run: assay init --new',
  })
  write('version: [')
  expect(await spec()).toMatchObject({ state: 'invalid' })
  rmSync(project.repo.path('assay.yaml'))
  expect(await spec()).toMatchObject({ state: 'missing' })
  expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept' })
  const ledger = readFileSync(project.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl'), 'utf8')
  expect(ledger).toContain('"spec_file":"assay.yaml"')
  expect(problemOf(await project.cli(['prune', 'exp_0000', '--reason', 'r'])).code).toBe('is_baseline')
})

test('after an epoch, an honest child is rejected because of what a protected metric, a tie-breaker or a control was in the last one', async () => {
  const project = makeProject({
    spec: {
      protected: [{ metric: 'size', direction: 'minimize' }],
      tie_breakers: [{ metric: 'lines', direction: 'minimize' }],
      controls: ['startup'],
      targets: [{ metric: 'size', op: '<=', value: 100 }],
    },
  })
  const shift = join(project.control, 'shift')
  writeFileSync(shift, '0')
  const bench = `o=$(cat '${shift}'); . ./src/metrics.txt
echo METRIC ms=$((ms+o)); echo METRIC size=$((size+o)); echo METRIC lines=$((lines+o)); echo METRIC startup=$((5+o))\n`
  const at = (ms: number, size: number, lines: number) => ({
    'src/metrics.txt': `ms=${ms} size=${size} lines=${lines}\n`,
  })
  project.repo.commit('bench', { 'bench/run.sh': bench, ...at(100, 100, 50) })
  await project.data('init', '--no-canary')
  const good = await project.attempt(at(90, 100, 50))
  writeFileSync(shift, '7')
  await project.data('epoch', 'open', '--reason', 'another machine')
  await project.data('confirm', good.experiment)
  expect(await project.data('status')).toMatchObject({ targets: [{ actual: 107, met: false }] })
  const tied = await project.attempt(at(90, 100, 49), good.experiment)
  expect(tied).toMatchObject({ status: 'kept', reason: 'tie_broken' })
  const honest = await project.attempt(at(80, 100, 50), good.experiment)
  expect(honest).toMatchObject({ status: 'kept', value: 87 })
  expect(honest.message).not.toContain('doubt')
  expect(await project.data('status')).toMatchObject({ best: { experiment: honest.experiment } })
  const worse = await project.attempt(at(70, 101, 50), good.experiment)
  expect(worse).toMatchObject({ status: 'rejected', reason: 'protected' })
  expect(worse.message).toContain('size went from 107 to 108')
  expect(await project.data('show', honest.experiment, '--recompute')).toMatchObject({ same: true })
})

test.each([
  ['a slot', {}, 50],
  ['a slot', {}, -50],
  ['a job', { executor: { kind: 'local', jobs: 2 } }, 50],
  ['a job', { executor: { kind: 'local', jobs: 2 } }, -50],
])(
  'an attempt in %s is compared with a baseline that was measured in a new epoch meanwhile (%#)',
  async (where, more, by) => {
    const { project, shiftBy } = shifting({
      measure: { command: 'sh bench/run.sh', slots: 2, timeout: '20s' },
      ...more,
    })
    const at = (name: string) => join(project.control, name)
    const nth = where === 'a slot' ? 2 : 1
    const wait = `: > '${at('began')}'; until [ -e '${at('go')}' ]; do sleep 0.05; done`
    const halts = `if grep -q =90 src/metrics.txt; then echo >> '${at('count')}'; [ $(wc -l < '${at('count')}') != ${nth} ] || { ${wait}; }; fi\n`
    project.repo.commit('bench', {
      'bench/run.sh': `${readFileSync(project.repo.path('bench/run.sh'), 'utf8')}${halts}`,
    })
    await project.data('init', '--no-canary')
    const { experiment } = await project.open(ms(90))
    const first = startAssay(['run', experiment], { cwd: project.repo.dir })
    await until(() => existsSync(at('began')), { what: 'the sample', dir: project.control })
    first.kill('SIGKILL')
    await first.ended
    shiftBy(by)
    await project.data('epoch', 'open', '--reason', 'another machine')
    // The node of the job is the machine that it was.
    if (where === 'a job') shiftBy(0)
    writeFileSync(at('go'), '')
    if (where === 'a job') {
      // A job is judged by the state that it began with.
      const verdict = await project.data<RunData>('run', experiment)
      expect(verdict).toMatchObject({ status: 'kept', value: 90, parent_value: 100, best: false })
      expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
      return
    }
    expect(await project.data<RunData>('run', experiment)).toMatchObject({
      status: 'failed',
      failure_class: 'environment',
      message: expect.stringContaining('epoch 2 was opened while it was measured'),
    })
    expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
    expect(await project.data<RunData>('run', experiment)).toMatchObject({
      status: 'kept',
      // That the values of two epochs differ does not make the metric one that varies.
      samples: 2,
      value: 90 + by,
      parent_value: 100 + by,
    })
  },
)
