/** Values that only the rounding of a sum tells apart. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeProject, metrics, type RunData, type StatusData } from './project.ts'

test.each(['deterministic', 'paired'])(
  'a candidate is kept, or a protected metric is worse, for the last digits of a sum (%s)',
  async (mode) => {
    const project = makeProject({
      spec: {
        metric: { name: 'loss', direction: 'minimize' },
        protected: [{ metric: 'size', direction: 'minimize' }],
        tie_breakers: [{ metric: 'size', direction: 'minimize' }],
        noise: { mode, calibrate: 2 },
      },
      files: metrics({ loss: 0.3, size: 0.7 }),
    })
    await project.data('init')
    const attempt = (loss: number, size: number): Promise<RunData> =>
      project.attempt(metrics({ loss, size }), 'exp_0000')
    expect(await attempt(0.29999999999999993, 0.7)).toMatchObject({ status: 'rejected', improvement_abs: 0 })
    expect(await attempt(0.3, 0.6999999999999998)).toMatchObject({ status: 'rejected', improvement_abs: 0 })
    expect(await attempt(0.2999999, 0.7000000000000001)).toMatchObject({ status: 'kept' })
  },
)

test('a whole number of sixteen digits that is one less is taken for rounding', async () => {
  const project = makeProject({
    spec: { metric: { name: 'n', direction: 'minimize' } },
    files: metrics({ n: 9007199254740991 }),
  })
  await project.data('init')
  expect(await project.attempt(metrics({ n: 9007199254740990 }))).toMatchObject({ status: 'kept' })
})

/** A benchmark that prints a sum, which gets other last digits by `differently`. */
function sums(mode: string) {
  const project = makeProject({
    spec: { metric: { name: 'loss', direction: 'minimize' }, noise: { mode, calibrate: 2 } },
    files: metrics({ loss: 0.5 }),
  })
  const flag = join(project.control, 'flag')
  const again = `if [ -e '${flag}' ]; then sed 's/=0.3$/=0.30000000000000004/' src/metrics.txt\n`
  project.repo.commit('sum', { 'bench/run.sh': `${again}else cat src/metrics.txt; fi\n` })
  return { project, differently: () => writeFileSync(flag, '') }
}

test.each(['auto', 'deterministic'])(
  'a keep is revoked because a sum in another order has other last digits (%s)',
  async (mode) => {
    const { project, differently } = sums(mode)
    await project.data('init')
    const { experiment } = await project.attempt(metrics({ loss: 0.3 }))
    differently()
    expect(await project.data('confirm', experiment)).toMatchObject({ passed: true, status: 'kept' })
    expect(await project.data('finish')).toMatchObject({ experiment })
  },
)

test('a value that equals a limit, the floor or the target up to its last digits is taken for another one', async () => {
  const project = makeProject({
    spec: {
      metric: { name: 'loss', direction: 'minimize', target: 0.3, floor: 0.3 },
      constraints: [{ metric: 'loss', op: '<=', value: 0.3 }],
    },
    files: metrics({ loss: 0.3 }),
  })
  await project.data('init')
  expect(await project.data<StatusData>('status')).toMatchObject({ stop: 'target' })
  const above = await project.attempt(metrics({ loss: 0.30000000000000004 }))
  expect(above).toMatchObject({ reason: 'tie' })
})
