import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { makeProject, ms, type NewData, type RunData, type StatusData } from './project.ts'

interface Doctor {
  healthy: boolean
  findings: { code: string; what: string; level: string; fixed?: string; fix_failed?: string }[]
}

const gitIn = (folder: string, ...args: string[]) =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim()

/** What an agent can do in its worktree: the file of `path` in the base becomes another, under its old name. */
function rewrite(worktree: string, path: string, bytes: Buffer) {
  const { oid, file } = objectOf(worktree, path)
  rmSync(file)
  writeFileSync(file, bytes)
  return oid.slice(0, 12)
}
function objectOf(worktree: string, path: string) {
  const oid = gitIn(worktree, 'rev-parse', `HEAD:${path}`)
  const common = gitIn(worktree, 'rev-parse', '--path-format=absolute', '--git-common-dir')
  const file = join(common, 'objects', oid.slice(0, 2), oid.slice(2))
  expect(existsSync(file)).toBe(true)
  return { oid, file }
}
const blob = (text: string) => deflateSync(`blob ${Buffer.byteLength(text)}\0${text}`)

test('a benchmark that was rewritten in the store measures or rejects the next candidate, or doctor finds no problem', async () => {
  const project = makeProject()
  const { data, repo } = project
  await data('init')
  const honest = await project.open(ms(80))
  const oid = rewrite(honest.worktree, 'bench/run.sh', blob('echo METRIC ms=1 # forged\n'))
  // A checkout that is there has the true file; the next slot is made from the store.
  rmSync(repo.path('.assay/m'), { recursive: true })

  const said = { code: 'objects_damaged', message: expect.stringContaining(`${oid} (bench/run.sh)`), exit: 4 }
  expect(await project.problem('run', honest.experiment)).toMatchObject({
    ...said,
    hint: expect.stringContaining('assay doctor --fix'),
  })
  expect(await project.problem('new', '--parent', 'exp_0000', '-m', 'an idea')).toMatchObject(said)
  const found = await data<Doctor>('doctor')
  expect(found.healthy).toBe(false)
  expect(found.findings.filter(({ level }) => level === 'problem')).toMatchObject([
    { code: 'objects_damaged', what: `objects of the store are damaged: ${oid} (bench/run.sh)` },
  ])

  const fixed = await data<Doctor>('doctor', '--fix')
  expect(fixed.healthy).toBe(true)
  expect(gitIn(repo.dir, '--git-dir=.assay/.git', 'cat-file', 'blob', oid)).toBe(
    readFileSync(repo.path('bench/run.sh'), 'utf8').trim(),
  )
  expect(await data<RunData>('run', honest.experiment)).toMatchObject({
    status: 'kept',
    value: 80,
    attempt: 1,
  })
  expect(await data<StatusData>('status')).toMatchObject({ budget: { experiments: { used: 1 } } })
})

test('a worktree with a rewritten file is called the edit of its agent', async () => {
  const project = makeProject()
  await project.data('init')
  const first = await project.open(ms(80))
  const oid = rewrite(first.worktree, 'bench/run.sh', blob('echo METRIC ms=1 # forged\n'))
  // Git of the agent wrote the forged file itself.
  gitIn(first.worktree, 'checkout-index', '--force', 'bench/run.sh')
  writeFileSync(join(first.worktree, 'bench/run.sh'), 'echo METRIC ms=1 # forged\n')
  expect(await project.problem('run', first.experiment)).toMatchObject({
    code: 'objects_damaged',
    message: expect.stringContaining(oid),
  })
})

test('an object that git cannot unpack is not named, or --fix claims to have fetched one that the user’s repository lacks', async () => {
  const project = makeProject()
  const { data } = project
  await data('init')
  const { experiment } = await project.attempt(ms(80))
  const next = await data<NewData>('new', '--parent', experiment, '-m', 'an idea')
  rewrite(next.worktree, 'bench', Buffer.from('no object'))
  const torn = await data<Doctor>('doctor')
  expect(torn.healthy).toBe(false)
  expect((await data<Doctor>('doctor', '--fix')).healthy).toBe(true)

  const own = rewrite(next.worktree, 'src/metrics.txt', blob('METRIC ms=1\n'))
  const { findings, healthy } = await data<Doctor>('doctor', '--fix')
  expect(healthy).toBe(false)
  expect(findings).toContainEqual(
    expect.objectContaining({ code: 'objects_damaged', fix_failed: expect.stringContaining(own) }),
  )
})

test("what is written into an object of the store damages the user's own repository, and nothing is left to repair from", async () => {
  const project = makeProject()
  const { data, repo } = project
  await data('init')
  const first = await project.open(ms(80))
  const { file } = objectOf(first.worktree, 'bench/run.sh')
  chmodSync(file, 0o644)
  writeFileSync(file, 'no object')
  gitIn(repo.dir, 'fsck', '--full')
  expect((await data<Doctor>('doctor')).healthy).toBe(false)
  expect((await data<Doctor>('doctor', '--fix')).healthy).toBe(true)
  expect(await data<RunData>('run', first.experiment)).toMatchObject({ status: 'kept', value: 80 })
})
