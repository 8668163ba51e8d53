import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hook, makeProject, ms } from './project.ts'

test('a confirmation passes although a protected metric got worse, or refuses one that merely varies', async () => {
  const project = makeProject({
    spec: { protected: [{ metric: 'q', direction: 'maximize', max_regression: '10%' }] },
    files: { ...ms(100), ...hook('echo METRIC q=100') },
  })
  const [bad, random] = [join(project.control, 'bad'), join(project.control, 'random')]
  await project.data('init')
  const quality = (value: number) =>
    hook(`if [ -f '${bad}' ]; then echo METRIC q=${value - 20}
elif [ -f '${random}' ]; then echo >> '${random}'; echo METRIC q=$((${value} - $(wc -l < '${random}') % 5 + 2)); else echo METRIC q=${value}; fi`)
  const { experiment } = await project.attempt({ ...ms(90), ...quality(95) })
  const child = await project.attempt({ ...ms(80), ...quality(94) }, experiment)
  expect(child).toMatchObject({ status: 'kept' })
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: true, samples: 5 })
  // Within the allowance, and never the same twice: ten pairs, and nobody is refused.
  writeFileSync(random, '')
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: true, samples: 23 })
  rmSync(random)
  writeFileSync(bad, '')
  // Against another than its parent it is told, and changes nothing.
  const aside = await project.data<{ message: string }>('confirm', child.experiment, '--against', 'exp_0000')
  expect(aside).toMatchObject({ passed: false, status: 'kept', flagged: false })
  expect(aside.message).toContain('q went from 100 to 74')
  const own = await project.data<{ message: string }>('confirm', experiment)
  expect(own).toMatchObject({ passed: false, status: 'revoked' })
  expect(own.message).toContain('q went from 100 to 75, and a loss of 10 % is allowed')
})

test.each([
  ['the same each time', ''],
  ['a little different each time', ' + $(od -An -N1 -tu1 /dev/urandom) % 3 - 1'],
])(
  'losses that each step may make add up to one that finish refuses, where the metric is %s',
  async (_, chance) => {
    const project = makeProject({
      spec: { protected: [{ metric: 'q', direction: 'maximize', max_regression: '10%' }] },
      files: { ...ms(100), ...hook(`echo METRIC q=$((100${chance}))`) },
    })
    await project.data('init')
    const quality = (value: number) => hook(`echo METRIC q=$((${value}${chance}))`)
    const first = await project.attempt({ ...ms(90), ...quality(94) })
    const second = await project.attempt({ ...ms(80), ...quality(87) }, first.experiment)
    expect(second).toMatchObject({ status: 'rejected', reason: 'protected', best: false })
    expect(second.message).toMatch(
      /against exp_0000, q went from [\d.]+ to 8[\d.]+, and a loss of 10 % is allowed/,
    )
    expect(await project.data('show', second.experiment, '--recompute')).toMatchObject({ same: true })
    const third = await project.attempt({ ...ms(70), ...quality(93) }, first.experiment)
    expect(third).toMatchObject({ status: 'kept', best: true })
    expect(await project.data('finish')).toMatchObject({ experiment: third.experiment })
  },
)

test('finish names the experiment that it has just refused as the next best', async () => {
  const project = makeProject({
    spec: { protected: [{ metric: 'q', direction: 'maximize', max_regression: '10%' }] },
    files: { ...ms(100), ...hook('echo METRIC q=100') },
  })
  const shift = join(project.control, 'shift')
  writeFileSync(shift, '0')
  await project.data('init')
  const quality = (value: number) => hook(`echo METRIC q=$((${value} - $(cat '${shift}')))`)
  const first = await project.attempt({ ...ms(90), ...quality(98) })
  const second = await project.attempt({ ...ms(80), ...quality(95) }, first.experiment)
  writeFileSync(shift, '8')
  const refused = await project.problem('finish')
  expect(refused).toMatchObject({ code: 'not_confirmed' })
  expect(refused.message).toContain(`${second.experiment} did not hold up against exp_0000`)
  expect(refused.hint).toContain('assay confirm ID --against exp_0000')
  expect(refused.hint).toContain(`assay revoke ${second.experiment}`)
  await project.data('revoke', second.experiment, '--reason', 'finish refuses it')
  expect(await project.data('finish')).toMatchObject({ experiment: first.experiment })
})
