import { expect, test } from 'vitest'
import { makeProject } from './project.ts'
import { prints, reading, show } from './reading-scene.ts'

test('a pattern takes 998.2 ms and 1.0021 s for 998.2 and 1.0021, and a slower candidate is the best', async () => {
  const project = makeProject({
    spec: reading({ regex: 'Time \\(mean ± σ\\):\\s+([\\d.]+)' }),
    files: prints('  Time (mean ± σ):     998.2 ms ±  12.3 ms'),
  })
  expect(await project.data('init')).toMatchObject({ baseline: { value: 998.2, unit: 'ms' } })
  const slower = await project.attempt(prints('  Time (mean ± σ):     1.0021 s ±  0.1 s'))
  expect(slower).toMatchObject({ status: 'rejected', reason: 'not_better', value: 1002.1 })
  expect(await project.attempt(prints('Time (mean ± σ):     1.5 MB'))).toMatchObject({
    reason: 'metric_error',
    value: null,
    message: show('the unit of lat changed from ms to MB; the line was: Time (mean ± σ):     1.5 MB'),
  })
})

test('a pattern reads 1 of 1,002, and a slower candidate is the best', async () => {
  const bench = (text: string) => prints(`test tests::parse ... bench:         ${text} ns/iter (+/- 21)`)
  const project = makeProject({ spec: reading({ regex: 'bench:\\s+(\\d+)' }), files: bench('999') })
  await project.data('init')
  expect(await project.attempt(bench('1,002'))).toMatchObject({
    reason: 'metric_error',
    message: show('the pattern stops inside of 1,002'),
  })
})

test('a candidate that prints a METRIC line before the benchmark prints its JSON is believed', async () => {
  const project = makeProject({ spec: reading('auto', 'n'), files: prints('{\n  "n": 100\n}') })
  await project.data('init')
  expect(await project.attempt(prints('METRIC n=1\n{\n  "n": 100\n}'))).toMatchObject({
    reason: 'metric_error',
    message: show('a METRIC line says n = 1, a JSON object 100'),
  })
})
