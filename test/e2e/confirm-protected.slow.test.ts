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
elif [ -f '${random}' ]; then echo METRIC q=$((${value} - ASSAY_SEED % 5 + 2)); else echo METRIC q=${value}; fi`)
  const { experiment } = await project.attempt({ ...ms(90), ...quality(95) })
  const child = await project.attempt({ ...ms(80), ...quality(94) }, experiment)
  expect(child).toMatchObject({ status: 'kept' })
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: true, samples: 4 })
  // Within the allowance, whatever it draws: ten pairs, and nobody is refused.
  writeFileSync(random, '')
  expect(await project.data('confirm', experiment)).toMatchObject({ passed: true, samples: 22 })
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
