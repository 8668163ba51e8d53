import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rngOf } from '../../cli/search/random.ts'
import { makeProject, ms } from './project.ts'

interface Line {
  type: string
  experiment?: string
  nonce?: string
  takes_over?: string
}

const LEDGER = '.assay/runs/run_0001/ledger.jsonl'

test('an agent can compute the seeds before the seal, or an old run with known seeds is not recomputed to the same verdict', async () => {
  const project = makeProject()
  const log = join(project.control, 'seeds')
  project.repo.commit('seeds', {
    'bench/run.sh': `echo "$ASSAY_EXPERIMENT $ASSAY_SAMPLE $ASSAY_SEED" >> '${log}'; cat src/metrics.txt\n`,
  })
  await project.data('init')
  const { experiment } = await project.attempt(ms(90))
  await project.data('confirm', experiment)
  const events = (): Line[] =>
    readFileSync(project.repo.path(LEDGER), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const drawn = events().filter(({ type }) => type === 'started' || type === 'confirmed')
  expect(drawn.map(({ type, experiment: id }) => [type, id])).toEqual([
    ['started', 'exp_0000'],
    ['started', 'exp_0001'],
    ['confirmed', 'exp_0001'],
  ])
  expect(drawn.filter(({ nonce }) => /^[0-9a-f]{32}$/.test(nonce ?? ''))).toHaveLength(3)
  expect(new Set(drawn.map(({ nonce }) => nonce)).size).toBe(3)
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  const guessed = Math.floor(rngOf(1, experiment, 1, 'judge', 0)() * 2 ** 31)
  expect(lines.filter((line) => line.endsWith(` ${guessed}`))).toEqual([])
  // Two of init, the one with empty files, two of run, three of confirm: all of one name.
  expect(lines.map((line) => line.split(' ')[0])).toEqual(Array.from({ length: 8 }, () => 'experiment'))
  // The sample with which init looks whether anything is read has the seed of the first.
  expect(new Set(lines).size).toBe(6)
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
  const old = events().map(({ nonce: _, ...event }) => JSON.stringify(event))
  writeFileSync(project.repo.path(LEDGER), `${old.join('\n')}\n`)
  expect(await project.data('show', experiment, '--recompute')).toMatchObject({ same: true })
  const { experiment: next } = await project.attempt(ms(80))
  expect(await project.data('show', next)).toMatchObject({ status: 'kept', value: 80 })
})
