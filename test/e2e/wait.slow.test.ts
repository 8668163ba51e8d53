import { expect, test } from 'vitest'
import { makeProject, ms } from './project.ts'

test('wait --for an experiment that nobody judges times out, or does not say how to have it judged', async () => {
  const project = makeProject({ spec: { budget: { experiments: 1 } } })
  await project.data('init')
  const { experiment } = await project.open(ms(90))
  const waited = () => project.problem('wait', '--for', experiment)
  const repair = { exit: 3, code: 'not_judged', hint: `measure it: assay run ${experiment}` }
  expect(await waited()).toMatchObject({
    ...repair,
    message: `no process judges ${experiment}: it is not sealed`,
  })
  await project.data('seal', experiment)
  const sealed = { ...repair, message: `no process judges ${experiment}: its last seal was not run` }
  expect(await waited()).toMatchObject(sealed)
  // Its run is refused, since the budget is used up meanwhile.
  await project.attempt(ms(95))
  expect(await project.problem('run', experiment)).toMatchObject({ exit: 3 })
  expect(await waited()).toMatchObject(sealed)
})
