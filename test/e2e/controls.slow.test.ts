import { expect, test } from 'vitest'
import { steadyChance } from '../rig/chance.ts'
import { hook, makeProject, metrics, ms, type RunData } from './project.ts'

interface Doubted extends RunData {
  doubt: string | null
  lasting_doubt: string | null
}

const SPEC = {
  metric: { name: 'ms', direction: 'minimize', floor: 20 },
  controls: ['startup'],
}

test('a keep is trusted although a metric that it cannot touch moved, or although nothing can be that fast', async () => {
  const project = makeProject({ spec: SPEC, files: metrics({ ms: 100, startup: 10 }) })
  await project.data('init')
  const honest = (await project.attempt(metrics({ ms: 90, startup: 10 }))) as Doubted
  expect(honest).toMatchObject({ status: 'kept', doubt: null, best: true })
  const moved = (await project.attempt(metrics({ ms: 80, startup: 7 }))) as Doubted
  expect(moved).toMatchObject({ status: 'kept', best: false })
  expect(moved.lasting_doubt).toBe(
    'the control startup went from 10 to 7 in the same samples, and the change cannot touch it: something else may have made the gain',
  )
  const impossible = (await project.attempt(metrics({ ms: 5, startup: 10 }))) as Doubted
  expect(impossible).toMatchObject({ status: 'kept', best: false })
  expect(impossible.lasting_doubt).toContain('ms = 5 is below metric.floor (20)')
  // No measurement removes this doubt; a person does.
  await project.data('confirm', moved.experiment)
  expect(await project.data('status')).toMatchObject({ best: { experiment: honest.experiment } })
  await project.data('restore', moved.experiment)
  expect(await project.data('status')).toMatchObject({ best: { experiment: moved.experiment } })
  expect(await project.data('show', moved.experiment, '--recompute')).toMatchObject({ same: true })
})

test('init begins a run whose baseline lacks a control or is below the floor, or whose floor is for a maximum', async () => {
  const lacking = makeProject({ spec: SPEC, files: ms(100) })
  expect((await lacking.problem('init')).message).toContain('the control startup is missing')
  const low = makeProject({ spec: SPEC, files: metrics({ ms: 10, startup: 1 }) })
  expect((await low.problem('init')).message).toContain('which is below metric.floor (20)')
  const maximum = makeProject({ spec: { ...SPEC, metric: { ...SPEC.metric, direction: 'maximize' } } })
  const refused = await maximum.problem('init')
  expect(refused.message).toContain('`floor` is for a metric with `direction: minimize`')
})

test('a gain in noisy pairs is trusted although the control moved as much', async () => {
  const noisy = (file: string) =>
    `awk -v s="$ASSAY_SEED" '{ srand(s + NR); n = rand() + rand() + rand() + rand() - 2; printf "METRIC %s=%.6f\\n", $1, $2 * (1 + 0.02 * n) }' ${file}`
  const project = makeProject({
    // No time by its name: the clocks of this benchmark do not show it.
    spec: { ...SPEC, metric: { ...SPEC.metric, name: 'cost' }, noise: { mode: 'paired', calibrate: 5 } },
    env: steadyChance(7),
    files: {
      'src/metrics.txt': 'METRIC unused=1\n',
      'src/two': 'cost 100\nstartup 10\n',
      ...hook(noisy('src/two')),
    },
  })
  await project.data('init')
  const same = (await project.attempt({ 'src/two': 'cost 80\nstartup 10\n' })) as Doubted
  expect(same).toMatchObject({ status: 'kept', doubt: null })
  const moved = (await project.attempt({ 'src/two': 'cost 80\nstartup 8\n' })) as Doubted
  expect(moved).toMatchObject({ status: 'kept', best: false })
  expect(moved.doubt).toContain('the control startup went from')
}, 60_000)
