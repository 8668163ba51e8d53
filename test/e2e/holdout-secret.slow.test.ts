import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'
import { heldOut, SECRET, solve } from './held-out.ts'
import { notRecomputed, type Shown, steady } from './noisy.ts'

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )

test('a candidate that knows the answers is kept, a real gain is not, or the next candidate can find the data', async () => {
  const { project, init } = heldOut()
  await init()
  const held = (experiment: string) =>
    project.draws().filter((draw) => draw.experiment === experiment && draw.heldOut).length
  expect(held('exp_0000')).toBe(1)
  const cheat = await project.attempt(solve("input === 'visible' ? 50 : 120"))
  expect(cheat).toMatchObject({ status: 'rejected', reason: 'holdout', failure_class: 'hypothesis' })
  // By how much would be a word about the data, spelt by the candidate.
  expect(cheat.message).toMatch(/on held-out data cost is worse than allowed, against the baseline$/)
  // It shouts what it reads, and says where it was.
  const where = join(project.control, 'where')
  const loud = `console.log(input); console.error(input); if (process.env.ASSAY_HOLDOUT) writeFileSync(${JSON.stringify(where)}, process.env.ASSAY_HOLDOUT)`
  const gain = await project.attempt(solve('80', loud))
  expect(gain).toMatchObject({ status: 'kept', best: true })
  expect(held(gain.experiment)).toBe(1)
  expect(existsSync(readFileSync(where, 'utf8'))).toBe(false)
  const broken = await project.attempt(solve('70', "if (input !== 'visible') throw new Error(input)"))
  expect(broken).toMatchObject({ status: 'failed', reason: 'crash', failure_class: 'eval' })
  // Kept, and not the best: nobody looks how it does on the held-out data.
  const second = await project.attempt(solve('90'))
  expect(second).toMatchObject({ status: 'kept', best: false })
  expect(held(second.experiment)).toBe(0)
  const telling = filesOf(project.repo.path('.assay')).filter((path) => readFileSync(path).includes(SECRET))
  expect(telling).toEqual([])
  const shown = await project.data<Shown>('show', gain.experiment)
  const sample = shown.attempts[0]?.measurements.find(({ stage }) => stage === 'holdout')
  // Who could read it could climb on it.
  expect(sample).toMatchObject({ stage: 'holdout', value: null })
  expect(await notRecomputed(project)).toEqual([])
})

test('held-out data that a different container measures on are removed, or those of a dead process stay', async () => {
  const { project, init } = heldOut()
  await init()
  const tmp = makeTemp('tmp')
  const space = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  // No pid is that large.
  const [theirs, dead] = [
    join(tmp, 'assay-held-out-1-99999999-x'),
    join(tmp, `assay-held-out-${space}-99999999-x`),
  ]
  for (const folder of [theirs, dead]) mkdirSync(folder)
  const { experiment } = await project.open(solve('90'))
  expect(dataOf(await project.cli(['run', experiment], { env: { TMPDIR: tmp } }))).toMatchObject({
    status: 'kept',
    best: true,
  })
  expect([existsSync(theirs), existsSync(dead)]).toEqual([true, false])
})

test('an agent can read in the repository where the held-out file lies, or the value of a candidate on it', async () => {
  const { project, file, init } = heldOut({ noise: { mode: 'deterministic', calibrate: 2 } }, steady)
  await init()
  // It gives a value that stands nowhere else.
  const cheat = await project.attempt(solve("input === 'visible' ? 50 : 77123"))
  expect(cheat).toMatchObject({ status: 'rejected', reason: 'holdout' })
  const holding = (text: string) =>
    filesOf(project.repo.path('.assay/runs')).filter((path) => readFileSync(path).includes(text))
  expect(holding(file)).toEqual([])
  expect(holding('77123')).toEqual([])
  // The state folder of the user has the key and the path, for nobody else to read.
  const state = join(isolatedEnv().XDG_STATE_HOME ?? '', 'assay')
  const kept = filesOf(state)
  expect(kept.filter((path) => readFileSync(path, 'utf8') === file)).toHaveLength(1)
  expect(kept.map((path) => statSync(path).mode & 0o77)).toEqual(kept.map(() => 0))
  expect(await notRecomputed(project)).toEqual([])
  expect(await project.data('init', '--holdout', file)).toMatchObject({ run: 'run_0001', repeated: true })
  // Elsewhere the values cannot be read, and the file cannot be found: both are said.
  const env = { XDG_STATE_HOME: makeTemp('elsewhere') }
  const again = await project.cli(['show', cheat.experiment, '--recompute'], { env })
  expect(problemOf(again)).toMatchObject({ code: 'sealed_elsewhere' })
  const { experiment } = await project.open(solve('80'))
  expect(dataOf(await project.cli(['run', experiment], { env }))).toMatchObject({
    status: 'failed',
    failure_class: 'environment',
    message: expect.stringContaining('the path of the held-out file is not known here'),
  })
})
