/** Results of one experiment from two machines. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { makeProject, ms } from './project.ts'

test('a confirmation on a different machine that contradicts does not say so, or the same machine is recorded twice', async () => {
  const project = makeProject({
    spec: {
      noise: { mode: 'paired', calibrate: 2 },
      // The number of a file is no time of a run: a fall that no clock shows would be in doubt.
      metric: { name: 'ms', direction: 'minimize', unit: 'points' },
    },
  })
  const worse = join(project.control, 'worse')
  // The candidate alone is worse, once the file is there.
  const bench = `n=$(cat src/metrics.txt | sed 's/.*=//')\nif [ -f '${worse}' ] && [ "$n" = 90 ]; then n=130; fi\necho METRIC ms=$n\n`
  project.repo.commit('a benchmark', { 'bench/run.sh': bench })
  await project.data('init')
  const { experiment, status } = await project.attempt(ms(90))
  expect(status).toBe('kept')
  const ledger = project.repo.path('.assay/runs/run_0001/ledger.jsonl')
  const machines = () => {
    const lines = readFileSync(ledger, 'utf8').trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as { type: string }).filter((event) => 'machine' in event)
  }
  expect(machines().map(({ type }) => type)).toEqual(['run_started'])
  expect(await project.data('show', experiment)).not.toHaveProperty('other_machine')

  const preload = join(project.control, 'other.cjs')
  writeFileSync(
    preload,
    "const os = require('node:os')\nos.availableParallelism = () => 999\nos.release = () => '9.9'\n",
  )
  writeFileSync(worse, '')
  const elsewhere = { env: { NODE_OPTIONS: `--require=${preload}` } }
  const data = dataOf(
    await project.cli<{ passed: boolean; message: string }>(['confirm', experiment], elsewhere),
  )
  expect(data.passed).toBe(false)
  expect(data.message).toMatch(
    /; this machine is not the one of the verdict: 999 cores in place of \d+; Linux 9\.9 in place of Linux /,
  )
  expect(machines().map(({ type }) => type)).toEqual(['run_started', 'confirmed'])

  const { experiment: next } = await project.open(ms(80))
  dataOf(await project.cli(['run', next], elsewhere))
  // The same as that of the confirmation, so it is not recorded again.
  expect(machines()).toHaveLength(2)
  expect(await project.data('show', next)).toMatchObject({
    other_machine: expect.stringMatching(/^999 cores in place of \d+; Linux 9\.9 in place of Linux /),
  })
})
