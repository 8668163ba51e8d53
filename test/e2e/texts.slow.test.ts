import { expect, test } from 'vitest'
import { assay } from '../rig/assay.ts'
import { makeProject } from './project.ts'

test('a gain that no outside clock shows is kept without a message, or its name has to say the unit', async () => {
  const bench = `import { elapsed } from '../src/clock.mjs'
const from = performance.now()
while (performance.now() - from < 1000);
console.log('METRIC elapsed=' + elapsed(performance.now() - from))
`
  const project = makeProject({
    files: { 'bench/run.mjs': bench, 'src/clock.mjs': 'export const elapsed = (ms) => ms\n' },
    spec: {
      measure: { command: [process.execPath, 'bench/run.mjs'] },
      metric: { name: 'elapsed', direction: 'minimize' },
      noise: { calibrate: 2 },
    },
  })
  await project.data('init')
  const { experiment } = await project.open({ 'src/clock.mjs': 'export const elapsed = (ms) => ms * 0.3\n' })
  const ran = await assay(['run', experiment, '--quiet'], { cwd: project.repo.dir })
  expect(ran.stdout).toContain('\n  in doubt, so not a parent yet: elapsed fell by 700 ms, but wall time ')
  expect(ran.stdout).toContain('Next: measure it again: assay confirm exp_0001\n')
  expect(await project.data('run', experiment)).toMatchObject({
    status: 'kept',
    best: false,
    doubt: expect.stringContaining('does the benchmark time itself?'),
    lasting_doubt: null,
  })
})
