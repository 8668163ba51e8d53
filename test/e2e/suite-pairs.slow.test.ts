/** Pairs of a suite: each task is run by both sides, one after the other, before the suite goes on. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAlive } from '../rig/alive.ts'
import { assay, dataOf, startAssay } from '../rig/assay.ts'
import { steadyChance } from '../rig/chance.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import type { NewData, RunData } from './project.ts'
import { openSuite, scores, suiteFiles, suiteSpec } from './suite-scene.ts'

/**
 * The machine gets worse with each run of a task, by a quarter of its loss each time. It writes which text was run with which
 * task, and waits at the run whose number is in `hold`.
 */
const DRIFTING = (
  control: string,
) => `import { appendFileSync, existsSync, readFileSync, watch, writeFileSync } from 'node:fs'
const at = (name) => ${JSON.stringify(`${control}/`)} + name
const { name } = JSON.parse(process.env.ASSAY_TASK)
const text = readFileSync('prompts/preamble.md', 'utf8')
const who = /better/.test(text) ? 'better' : /same/.test(text) ? 'same' : 'old'
appendFileSync(at('runs'), who + ' ' + name + '\\n')
const run = readFileSync(at('runs'), 'utf8').split('\\n').length - 1
const loss = (1 - Number(text.split('\\n').findLast((one) => one.startsWith(name + ' ')).split(' ')[1])) * (1 + run / 400)
const say = () => writeFileSync(process.env.ASSAY_RESULT, JSON.stringify({ eval: 1 - Math.min(1, loss) }))
if (!existsSync(at('hold')) || readFileSync(at('hold'), 'utf8') !== String(run)) say()
else {
  writeFileSync(at('held'), String(process.pid))
  const watcher = watch(${JSON.stringify(control)}, () => existsSync(at('released')) && (watcher.close(), say()))
}
`

async function open(nonce = 1) {
  const control = makeTemp('control')
  const spec = suiteSpec({ noise: { mode: 'paired' }, measure: { isolation: 'none' } }, { concurrency: 1 })
  const files = suiteFiles(scores(0.2, 0.3, 0.1), DRIFTING(control))
  const scene = await openSuite(files, spec, ['--no-canary'])
  const env = steadyChance(nonce)
  const cli = async <T>(args: string[]) =>
    dataOf(await assay<T>([...args, '--json'], { cwd: scene.repo.dir, env }))
  const candidate = async (text: string) => {
    const { experiment, worktree } = await cli<NewData>(['new', '-m', 'another text'])
    writeFileSync(join(worktree, 'prompts/preamble.md'), text)
    return experiment
  }
  const at = (name: string) => join(control, name)
  const runs = () => (existsSync(at('runs')) ? readFileSync(at('runs'), 'utf8').trim().split('\n') : [])
  const isSame = async (experiment: string) =>
    (await cli<{ same: boolean }>(['show', experiment, '--recompute'])).same
  return { ...{ scene, control, env, cli, candidate, at, runs, isSame } }
}

test('pairs run the suite as a whole on each side, so a machine that gets worse decides', async () => {
  const { candidate, cli, runs, isSame } = await open()
  const before = runs().length
  const same = await candidate(`${scores(0.2, 0.3, 0.1)}same\n`)
  const found = await cli<RunData>(['run', same])
  expect(found.status).toBe('rejected')
  const own = runs().slice(before)
  for (let at = 0; at < own.length; at += 2) {
    const [one = '', two = ''] = own.slice(at, at + 2).map((line) => line.split(' '))
    expect([one[1], new Set([one[0], two[0]])]).toEqual([two[1], new Set(['same', 'old'])])
  }
  const firsts = own.filter((_, at) => at % 2 === 0).map((line) => line.split(' ')[0])
  expect(new Set(firsts)).toEqual(new Set(['same', 'old']))
  // One pair has both orders: a coin of the pair alone would not do that.
  expect(
    firsts.slice(0, 3).every((who) => who === firsts[0]) &&
      firsts.slice(3, 6).every((who) => who === firsts[3]),
  ).toBe(false)
  // No task differs by more than the next run of it would.
  const { attempts } = await cli<{
    attempts: { measurements: { pair: number; stage: string; side: string; value: number }[] }[]
  }>(['show', same])
  const measured = attempts[0]?.measurements ?? []
  for (const { pair, value } of measured.filter(({ side }) => side === 'candidate')) {
    const other = measured.find((one) => one.pair === pair && one.side === 'parent')?.value ?? 0
    expect(Math.abs(value / other - 1)).toBeLessThan(0.003)
  }
  expect(await isSame(same)).toBe(true)

  const better = await candidate(`${scores(0.15, 0.25, 0.08)}better\n`)
  expect(await cli<RunData>(['run', better])).toMatchObject({ status: 'kept' })
  expect(await isSame(better)).toBe(true)
})

test('a suite that is killed amid a pair counts half of it, or ends in another verdict than an undisturbed one', async () => {
  const text = `${scores(0.15, 0.25, 0.08)}better\n`
  const twin = await open()
  const undisturbed = await twin.cli<RunData>(['run', await twin.candidate(text)])
  const { candidate, cli, at, runs, env, scene, isSame, control } = await open()
  const experiment = await candidate(text)
  const before = runs().length
  // At the second task of the first pair, at the last run of the second pair, and at the first of the third.
  for (const run of [before + 3, before + 12, before + 13]) {
    writeFileSync(at('hold'), String(run))
    const worker = startAssay(['run', experiment, '--json'], { cwd: scene.repo.dir, env })
    await until(() => existsSync(at('held')), { what: `run ${run}`, dir: control })
    worker.kill('SIGKILL')
    await worker.ended
    const pid = Number(readFileSync(at('held'), 'utf8'))
    await until(() => !isAlive(pid), { what: 'the task of the dead worker to end' })
    rmSync(at('held'))
    const kept = before + 6 * Math.floor((run - before - 1) / 6)
    writeFileSync(
      at('runs'),
      runs()
        .slice(0, kept)
        .map((line) => `${line}\n`)
        .join(''),
    )
  }
  writeFileSync(at('hold'), '')
  const { status, value, samples, interval, message } = undisturbed
  expect(await cli<RunData>(['run', experiment])).toMatchObject({ status, value, samples, interval, message })
  expect(runs()).toEqual(twin.runs())
  expect(await isSame(experiment)).toBe(true)
})
