/** How a run is left: nothing of it works on, and what stays on disk is told. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { notebook, processesIn } from '../e2e/loop-scene.ts'
import { makeProject, ms, specText } from '../e2e/project.ts'
import { startAssay } from '../rig/assay.ts'
import { snapshotTree } from '../rig/snapshot.ts'
import { until } from '../rig/until.ts'

/** A benchmark that says that it began, starts a daemon that leaves its group, and does not listen to SIGTERM. */
async function stubborn() {
  const notes = notebook()
  const project = makeProject()
  await project.data('init')
  const { experiment } = await project.open({
    ...ms(90),
    'src/hook.sh': `trap '' TERM INT HUP
setsid sleep 3600 > /dev/null 2>&1 &
echo $$ >> '${notes.file}'
while :; do sleep 0.05; done
`,
  })
  const running = startAssay(['run', experiment, '--json'], { cwd: project.repo.dir })
  await until(() => notes.lines().length === 1, { what: 'the sample to begin' })
  return { project, running }
}

const nobody = (folder: string) =>
  until(() => processesIn(folder).length === 0, { what: 'the last process to end', limitMs: 20_000 })

test.each(['two interrupts', 'two and one that does not wait'])(
  'after %s a process still runs, or keeps the slot from the next candidate',
  async (count) => {
    const { project, running } = await stubborn()
    running.kill('SIGINT')
    // Two at once may come as one.
    await running.said('finishing the work that is paid for')
    running.kill('SIGINT')
    // Of another kind, since two of one kind may come as one.
    if (count !== 'two interrupts') running.kill('SIGTERM')
    const ended = await running.ended
    expect([ended.code, ended.signal]).toEqual([130, null])
    await nobody(project.repo.dir)
    const other = await project.attempt(ms(80))
    expect(other).toMatchObject({ status: 'kept', value: 80 })
  },
)

test('gc deletes something that --dry-run did not name, a candidate, or a file that is still needed', async () => {
  const project = makeProject({ spec: {} })
  project.repo.commit('spec', { 'assay.yaml': specText({ noise: { mode: 'deterministic', calibrate: 2 } }) })
  await project.data('init')
  const kept = await project.attempt(ms(90))
  const open = await project.open(ms(80))
  const settled = await project.attempt(ms(101))
  await project.data('discard', settled.experiment, '--reason', 'no use')
  const state = project.repo.path('.assay')
  const before = snapshotTree(state, { except: ['.git'] })
  interface Answer {
    deleted: { path: string; experiment: string | null }[]
    kept: { experiment: string }[]
    bytes: number
  }
  const said = await project.data<Answer>('gc', '--dry-run')
  expect(snapshotTree(state, { except: ['.git'] })).toEqual(before)
  const done = await project.data<Answer>('gc')
  expect({ ...done, dry_run: true }).toEqual(said)
  const named = said.deleted.map(({ path }) => path.slice('.assay/'.length))
  // A link that leads nowhere is there as well.
  const gone = Object.keys(before).filter((path) => !lstatSync(join(state, path), { throwIfNoEntry: false }))
  expect(gone.filter((path) => !named.some((one) => path === one || path.startsWith(`${one}/`)))).toEqual([])
  expect(said.kept.map(({ experiment }) => experiment)).toContain(open.experiment)
  for (const { experiment } of [kept, settled]) {
    const { files } = await project.data<{ files: object[] }>('diff', experiment)
    expect(files).toHaveLength(1)
  }
  expect(await project.data('run', open.experiment)).toMatchObject({ status: 'kept', value: 80 })
})
