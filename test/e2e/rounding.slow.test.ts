/** Values that only the rounding of a sum tells apart. */
import { expect, test } from 'vitest'
import { makeProject, metrics, type RunData } from './project.ts'

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
