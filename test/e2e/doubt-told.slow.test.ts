import { expect, test } from 'vitest'
import { makeProject } from './project.ts'

test('a program that reads `run`, `wait` or `status` believes a gain that only the clock of the benchmark shows', async () => {
  const bench = `import { elapsed } from '../src/clock.mjs'
const from = performance.now()
while (performance.now() - from < 1000);
console.log('METRIC took_ms=' + elapsed(performance.now() - from))
`
  const project = makeProject({
    files: { 'bench/run.mjs': bench, 'src/clock.mjs': 'export const elapsed = (ms) => ms\n' },
    spec: {
      measure: { command: [process.execPath, 'bench/run.mjs'] },
      metric: { name: 'took_ms', direction: 'minimize' },
      noise: { calibrate: 2 },
    },
  })
  await project.data('init')
  const ran = await project.attempt({ 'src/clock.mjs': 'export const elapsed = (ms) => ms * 0.8\n' })
  const doubted = {
    doubt: expect.stringMatching(/took_ms fell by .* ms, but wall time .* does the benchmark time itself\?/),
    // A look of a person, or of clocks that show it, takes it away.
    lasting_doubt: null,
  }
  expect(ran).toMatchObject({ experiment: 'exp_0001', status: 'kept', best: false, ...doubted })
  expect(await project.data('wait', '--for', 'exp_0001', '--timeout', '0s')).toMatchObject({
    event: 'judged',
    experiment: 'exp_0001',
    status: 'kept',
    best: false,
    ...doubted,
  })
  expect(await project.data('status')).toMatchObject({
    best: { experiment: 'exp_0000' },
    flagged: ['exp_0001'],
    doubts: [{ experiment: 'exp_0001', ...doubted, hint: expect.stringContaining('assay confirm exp_0001') }],
  })
  expect(await project.problem('new', '-m', 'on it', '--parent', 'exp_0001')).toMatchObject({ exit: 3 })
})
