import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isAlive } from '../rig/alive.ts'
import { dataOf, startAssay } from '../rig/assay.ts'
import { until } from '../rig/until.ts'
import { notRecomputed } from './noisy.ts'
import { hook, makeProject, ms, type Project, type RunData, WHO } from './project.ts'

/** `exp_0001` is kept with ms=90, and what is built on it holds in any sample whose number is held. */
async function builtOnOne() {
  const project = makeProject()
  const { control } = project
  const began = (id: string) => join(control, `began-${id}`)
  const hold = (id: string, sample: number) => join(control, `hold-${id}-${sample}`)
  const held: string[] = []
  const release = () => {
    for (const file of held.splice(0)) rmSync(file, { force: true })
  }
  // A worker that outlives a test that failed would keep the slot from the next one.
  onTestFinished(release)
  const slow = hook(`echo $$ >> '${control}'/began-${WHO}
n=$(wc -l < '${control}'/began-${WHO})
while [ -f '${control}'/hold-${WHO}-$((n)) ]; do sleep 0.05; done`)
  await project.data('init')
  await project.attempt(ms(90))
  const pids = (id: string) =>
    existsSync(began(id)) ? readFileSync(began(id), 'utf8').split('\n').filter(Boolean).map(Number) : []
  return {
    project,
    pids,
    release,
    child: async (value: number) => {
      const { experiment } = await project.open({ ...ms(value), ...slow }, 'exp_0001')
      return experiment
    },
    hold: (id: string, sample: number) => {
      held.push(hold(id, sample))
      writeFileSync(hold(id, sample), '')
    },
    began: (id: string, times: number) =>
      until(() => pids(id).length >= times, { what: `sample ${times} of ${id} to begin`, dir: control }),
  }
}

/** By evidence that the record proves: as if an earlier release had let through what this one knows to be sealed. */
async function revoke(project: Project, experiment: string): Promise<void> {
  const file = project.repo.path('.assay/runs/run_0001/spec.json')
  const text = readFileSync(file, 'utf8')
  const spec = JSON.parse(text)
  spec.scope.immutable.push('src/metrics.txt')
  writeFileSync(file, JSON.stringify(spec))
  const findings = [{ code: 'path', message: 'It edits what measures it.', path: 'src/metrics.txt' }]
  const ran = await project.cli(['audit', experiment], { input: JSON.stringify({ findings }) })
  writeFileSync(file, text)
  expect(dataOf(ran)).toMatchObject({ status: 'revoked' })
}

const start = (project: Project, id: string) =>
  startAssay<RunData>(['run', id, '--json'], { cwd: project.repo.dir })

const BUILT_ON = 'is built on exp_0001, which was revoked: It edits what measures it.'

test('a descendant of a revoked experiment is measured further, counts against its idea, or is recomputed differently', async () => {
  const { project, child, hold, began, release } = await builtOnOne()
  const [measured, waiting, open] = [await child(80), await child(70), await child(60)]
  hold(measured, 1)
  const first = start(project, measured)
  await began(measured, 1)
  const second = start(project, waiting)
  await until(
    async () => (await project.data<{ counts: { running: number } }>('status')).counts.running === 2,
    { what: 'the second one to wait for the slot' },
  )
  await revoke(project, 'exp_0001')
  release()
  const dependency = { status: 'rejected', reason: 'dependency', failure_class: 'environment', best: false }
  const judged = dataOf(await first.ended)
  expect(judged).toMatchObject({ ...dependency, samples: 1 })
  expect(judged.message).toContain(BUILT_ON)
  expect(judged.message).toContain('assay new --parent exp_0000')
  expect(dataOf(await second.ended)).toMatchObject({ ...dependency, samples: 0 })
  // One sample that was under way, and none after it.
  expect(project.starts().filter((id) => id === measured || id === waiting)).toEqual([measured])
  for (const verb of ['seal', 'run']) {
    const refused = await project.problem(verb, open)
    expect(refused).toMatchObject({ exit: 3, code: 'parent_revoked' })
    expect(refused.message).toContain(`${open} ${BUILT_ON}`)
    expect(refused.hint).toContain('assay new --parent exp_0000')
  }
  expect(project.starts()).not.toContain(open)
  expect(await project.data('context')).toMatchObject({ repairable: { items: [] } })
  expect(await notRecomputed(project)).toEqual([])
  // A person may think otherwise; then the same files are judged, and the attempt was not used up.
  await project.data('restore', 'exp_0001', '--reason', 'a false alarm')
  expect(await project.data('run', measured)).toMatchObject({ status: 'kept', value: 80, samples: 2 })
  expect(await project.data('show', waiting)).toMatchObject({ status: 'rejected' })
})

test('an attempt of a dead process is resumed although its parent was revoked, or is lost from the record', async () => {
  const { project, child, hold, began, pids, release } = await builtOnOne()
  const id = await child(80)
  hold(id, 2)
  const worker = start(project, id)
  await began(id, 2)
  worker.kill('SIGKILL')
  await worker.ended
  const [, sample = 0] = pids(id)
  await until(() => !isAlive(sample), { what: 'the sample of the dead worker to end' })
  await revoke(project, 'exp_0001')
  release()
  expect(await project.data('run', id)).toMatchObject({ reason: 'dependency', samples: 1, value: 80 })
  expect(pids(id)).toHaveLength(2)
  expect(await notRecomputed(project)).toEqual([])
})
