import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf, problemOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { makeTemp } from '../rig/temp.ts'
import { openScene } from './loop-scene.ts'
import { answers, numberFiles, numberSpec, verdicts } from './number-scene.ts'

/** A host that spoils the benchmark in the store and takes the checkouts away, with its second edit and while it writes the third brief. */
const damaging = (folder: string) =>
  answers({
    implement: `(card) => {
      if (read(card) === 99) damage('edit')
      return implement(card)
    }`,
    brief: `(card) => {
      if (card.round === 3) damage('brief')
      return brief(card)
    }`,
  }).replace(
    'export default',
    `import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
const damage = (when) => {
  const mark = '${folder}/' + when
  if (existsSync(mark)) return
  writeFileSync(mark, '')
  const cwd = readFileSync('${folder}/store', 'utf8')
  const oid = execFileSync('git', ['rev-parse', 'refs/damage'], { cwd, encoding: 'utf8' }).trim()
  const file = cwd + '/objects/' + oid.slice(0, 2) + '/' + oid.slice(2)
  rmSync(file)
  writeFileSync(file, 'no object')
  // A checkout that holds the file already does not need the object.
  rmSync(cwd + '/../m', { recursive: true, force: true })
}
export default`,
  )

test('a loop goes on with a damaged store: it gives up what nobody could measure, and opens rounds', async () => {
  const folder = makeTemp('damage')
  const host = scriptedHost(damaging(folder))
  const scene = await openScene(
    numberFiles,
    numberSpec(host, { loop: { stall: 9 }, budget: { experiments: 3 } }),
  )
  const store = scene.repo.path('.assay', '.git')
  writeFileSync(join(folder, 'store'), store)
  const oid = scene.repo.git('rev-parse', 'HEAD:bench/run.sh')
  scene.repo.git('--git-dir', store, 'update-ref', 'refs/damage', oid)

  const stopped = {
    message: expect.stringMatching(
      new RegExp(
        `damaged or gone: ${oid.slice(0, 12)} \\(bench/run\\.sh\\).*assay doctor --fix fetches them`,
      ),
    ),
    hint: expect.stringContaining('continue with: assay loop'),
  }
  const rounds = () => [scene.eventsOf('round_opened').length, scene.eventsOf('round_closed').length]
  const repaired = async () =>
    expect(dataOf(await scene.cli(['doctor', '--fix']))).toMatchObject({ healthy: true })

  expect(problemOf(await scene.loop())).toMatchObject(stopped)
  expect(verdicts(scene)).toEqual([
    ['exp_0000', 'kept', 100],
    ['exp_0001', 'kept', 99],
  ])
  expect(rounds()).toEqual([2, 1])
  // Nothing was repaired: it ends again, and nothing is given up.
  expect(problemOf(await scene.loop())).toMatchObject(stopped)
  expect(scene.eventsOf('judged')).toHaveLength(2)
  await repaired()

  expect(problemOf(await scene.loop())).toMatchObject(stopped)
  expect(verdicts(scene).slice(2)).toEqual([['exp_0002', 'kept', 98]])
  expect(rounds()).toEqual([3, 2])
  await repaired()

  expect(dataOf(await scene.loop())).toMatchObject({ stop: 'budget', best: { value: 97 } })
  expect(verdicts(scene).slice(3)).toEqual([['exp_0003', 'kept', 97]])
  expect(scene.eventsOf('judged').map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
})
