import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Files } from '../rig/repo.ts'
import { makeProject, type Project, type SpecParts } from './project.ts'

/**
 * Prints `size` of the candidate with 2 % noise of a fixed sequence: the n-th sample of a project always draws the same.
 * `noise` of the candidate sets another spread, in percent.
 */
const NOISY = `
const { readFileSync, existsSync, appendFileSync } = require('node:fs')
const log = process.argv[2]
appendFileSync(log, '.')
let x = readFileSync(log).length * 2654435761 % 4294967296
const next = () => { x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0; return (x + 0.5) / 4294967296 }
for (let i = 0; i < 8; i++) next()
const normal = Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next())
const spread = existsSync('src/noise') ? Number(readFileSync('src/noise', 'utf8')) : 2
const size = Number(readFileSync('src/size', 'utf8'))
console.log('METRIC cost=' + size * Math.exp(spread / 100 * normal))
console.log('METRIC bytes=' + (existsSync('src/bytes') ? readFileSync('src/bytes', 'utf8').trim() : 7))
`

const size = (value: number, more: Files = {}): Files => ({ 'src/size': `${value}\n`, ...more })

function noisyProject(spec: SpecParts = {}, files: Files = {}): Project {
  const project = makeProject({ files: { 'bench/noisy.cjs': NOISY, ...size(100), ...files } })
  const command = `node bench/noisy.cjs '${join(project.control, 'draws')}'`
  project.repo.commit('noisy', {
    'assay.yaml': JSON.stringify({
      version: 1,
      name: 'noisy',
      goal: 'Make it small.',
      scope: { mutable: ['src/**'], immutable: ['bench/**'] },
      measure: { command, timeout: '30s' },
      metric: { name: 'cost', direction: 'minimize' },
      ...spec,
    }),
  })
  return project
}

test('noise is taken for a gain, a gain for noise, or an old timing is compared with a new one', async () => {
  const project = noisyProject()
  expect(await project.data('init')).toMatchObject({ baseline: { noise: 'paired', samples: 5 } })
  const noop = await project.attempt(size(100, { 'src/comment': 'nothing' }))
  expect(noop).toMatchObject({
    status: 'rejected',
    reason: expect.stringMatching(/^(not_better|inconclusive)$/),
  })
  const gain = await project.attempt(size(90))
  expect(gain).toMatchObject({ status: 'kept', reason: 'improved', against: 'exp_0000', best: true })
  expect(Math.abs((gain.improvement ?? 0) - 0.1)).toBeLessThan(0.04)
  expect(gain.interval?.[0]).toBeGreaterThan(0)
  const better = await project.attempt(size(80), gain.experiment)
  expect(better).toMatchObject({ status: 'kept', parent_value: gain.value, best: true })
  // The score is the baseline times the confirmed ratios of its path.
  const ratio = 1 - (better.improvement ?? 0)
  expect(better.value).toBeCloseTo((gain.value ?? 0) * ratio, 6)
})

interface Shown {
  explained: string[]
  doubt: string | null
  attempts: { measurements: { side: string; stage: string; pair: number; seed: number; value: number }[] }[]
}

test('a verdict does not follow from its record, a changed record goes unnoticed, or nobody says why', async () => {
  const project = noisyProject({ noise: { pairs: { max: 8 } } })
  await project.data('init')
  const unclear = await project.attempt(size(99))
  const { experiment } = await project.attempt(size(70))
  for (const id of ['exp_0000', unclear.experiment, experiment])
    expect(await project.data('show', id, '--recompute')).toMatchObject({ same: true, differences: [] })
  const shown = await project.data<Shown>('show', experiment)
  expect(shown.explained).toEqual([
    expect.stringMatching(/^Judged against exp_0000: 5 of at most 8 pairs, \d\d(\.\d+)? % better/),
    expect.stringMatching(
      /^Confirmed on fresh pairs against exp_0000: 7 of at most 8 pairs, .*as soon as the/,
    ),
  ])
  // The same seed for both sides of a pair, another one for each pair.
  const samples = shown.attempts[0]?.measurements ?? []
  const seeds = (side: string) =>
    Object.fromEntries(
      samples.filter((one) => one.side === side).map((one) => [`${one.stage} ${one.pair}`, one.seed]),
    )
  expect(seeds('parent')).toEqual(seeds('candidate'))
  expect(new Set(Object.values(seeds('parent'))).size).toBe(12)
  const attempt = project.repo.path('.assay', 'runs', 'run_0001', 'exp', '0002', 'attempts', '1')
  const steps = join(attempt, 'steps.jsonl')
  const original = readFileSync(steps, 'utf8')
  writeFileSync(steps, original.replace(/"value":7\d\.\d+/, '"value":99.5'))
  const changed = await project.cli(['show', experiment, '--recompute'])
  expect(changed.code).toBe(4)
  expect(changed.json).toMatchObject({ data: { same: false, record: 'changed' } })
  writeFileSync(steps, original)
  appendFileSync(steps, '')
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
})
