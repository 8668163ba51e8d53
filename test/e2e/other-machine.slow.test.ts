/** Results of one experiment from two machines. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PageHead } from '../../cli/view/page-model.ts'
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

/**
 * The governor that the kernel tells for each group of processors, and the microcode, in the place of this machine's; none = it
 * tells nothing.
 */
const GOVERNED = `
const fs = require('node:fs')
const { readdirSync, readFileSync } = fs
const CLOCKS = '/sys/devices/system/cpu/cpufreq'
const governors = (process.env.GOVERNORS ?? '').split(' ').filter(Boolean)
fs.readdirSync = (path, ...rest) =>
  path === CLOCKS ? ['boost', ...governors.map((_, i) => 'policy' + i)] : readdirSync(path, ...rest)
fs.readFileSync = (path, ...rest) => {
  if (path === '/proc/cpuinfo') return 'microcode\\t: ' + process.env.MICROCODE
  const found = /^[/]sys.*cpufreq[/]policy([0-9]+)[/]scaling_governor$/.exec(String(path))
  return found ? governors[Number(found[1])] + '\\n' : readFileSync(path, ...rest)
}
`

test('another governor of the clock rate or microcode is not told, or one that becomes known is taken for another machine', async () => {
  const project = makeProject()
  const preload = join(project.control, 'governed.cjs')
  writeFileSync(preload, GOVERNED)
  let microcode = '0x1'
  const under = async <T>(governors: string, ...args: string[]) =>
    dataOf(
      await project.cli<T>(args, {
        env: { NODE_OPTIONS: `--require=${preload}`, GOVERNORS: governors, MICROCODE: microcode },
      }),
    )
  const recorded = () =>
    readFileSync(project.repo.path('.assay/runs/run_0001/ledger.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as { machine?: { governor?: string } }).machine ?? [])
      .map(({ governor }) => governor ?? null)
  const judged = async (value: number, governors: string) => {
    const { experiment } = await project.open(ms(value))
    await under(governors, 'run', experiment)
    return project.data<{ other_machine?: string }>('show', experiment)
  }
  await under('', 'init')
  expect(recorded()).toEqual([null])
  expect(await judged(90, 'powersave powersave')).not.toHaveProperty('other_machine')
  expect(recorded()).toEqual([null, 'powersave'])
  await under('powersave', 'epoch', 'open', '--reason', 'the governor is known')
  expect(recorded()).toEqual([null, 'powersave'])
  expect(await judged(80, 'powersave performance')).toMatchObject({
    other_machine: 'the governor performance, powersave in place of powersave',
  })
  expect(await judged(70, 'performance')).toMatchObject({
    other_machine: 'the governor performance in place of powersave',
  })
  microcode = '0x2'
  expect(await judged(60, 'performance')).toMatchObject({
    other_machine: 'the governor performance in place of powersave; the microcode 0x2 in place of 0x1',
  })
  expect(recorded()).toEqual([null, 'powersave', 'performance, powersave', 'performance', 'performance'])

  const file = join(project.control, 'report.html')
  await project.data('report', '--html', file)
  const text = /data-kind="head">(.*?)<\/script>/s.exec(readFileSync(file, 'utf8'))?.[1] ?? ''
  const { environment } = (JSON.parse(text) as { head: PageHead }).head
  expect(environment.machine).toMatchObject({ governor: 'powersave', microcode: '0x1' })
  expect(environment.other_machines).toEqual([
    'the governor performance, powersave in place of powersave',
    'the governor performance in place of powersave',
    'the governor performance in place of powersave; the microcode 0x2 in place of 0x1',
  ])
})
