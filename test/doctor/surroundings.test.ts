import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { fileSystem, space } from '../../cli/doctor/checks/disk.ts'
import { gitOf, node, platform } from '../../cli/doctor/checks/versions.ts'
import { type InitData, makeProject } from '../e2e/project.ts'
import { fakeProgram } from '../hosts/fake-program.ts'
import { RECORDINGS } from '../hosts/recorded.ts'
import { ASSAY_BIN, dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { makeRepo } from '../rig/repo.ts'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'
import { at, codesOf, troubles } from './patient.ts'

test('a version or platform that does not work passes, or the oldest version that works does not', () => {
  expect([node('20.18.9'), node('20.19.0'), node('24.0.0')].map(({ code }) => code)).toEqual([
    'node_old',
    'node',
    'node',
  ])
  expect([gitOf('2.33.8'), gitOf('2.34.1'), gitOf('3.0')].map(({ code }) => code)).toEqual([
    'git_old',
    'git',
    'git',
  ])
  expect(platform('win32')).toMatchObject({ code: 'platform', level: 'problem', repair: 'use WSL' })
})

test('a nearly full disk passes, or an unknown number of inodes counts as 0', () => {
  const room = { type: 0, bsize: 4096, bavail: 1_000_000, files: 0, ffree: 0 }
  const codes = (more: Partial<typeof room>) =>
    space('/x', { ...room, ...more }).map(({ level, code }) => `${level} ${code}`)
  expect(codes({})).toEqual(['ok disk'])
  expect(codes({ bavail: 100_000 })).toEqual(['warning disk_low'])
  expect(codes({ bavail: 100, files: 9, ffree: 499 })).toEqual(['problem disk_low', 'problem inodes_low'])
  expect(codes({ files: 9, ffree: 9999 })).toEqual(['warning inodes_low'])
})

test('a network file system passes for a local one, or ext4 for a network', () => {
  const codes = [0x6969, 0xff534d42, -11317950, 0x65735546, 0xef53].map(
    (type) => fileSystem('/x', type).length,
  )
  expect(codes).toEqual([1, 1, 1, 1, 0])
})

test('init or doctor does not say that the state lies on a network file system', async () => {
  const preload = fileURLToPath(new URL('../rig/network-preload.cjs', import.meta.url))
  const env = { NODE_OPTIONS: `--require=${JSON.stringify(preload)}` }
  const project = makeProject()
  const { warnings } = dataOf(await project.cli<InitData>(['init'], { env }))
  const said = expect.stringMatching(/ lies on NFS: .* local disk/)
  expect(warnings.filter((warning) => warning.includes('NFS'))).toEqual([said, said])
  const { findings } = dataOf(
    await project.cli<{ findings: { code: string; at: string }[] }>(['doctor'], { env }),
  )
  const found = findings.filter(({ code }) => code === 'network_file_system')
  expect(found.map((one) => one.at)).toContain(project.repo.path('.assay'))
  expect((await project.data<InitData>('init')).warnings.join()).not.toContain('NFS')
})

test('outside of a repository, in an empty one or in a bare one doctor fails', async () => {
  expect(codesOf(await troubles(makeTemp()))).toEqual(['warning not_a_repository'])
  const empty = makeTemp()
  execFileSync('git', ['init', '--quiet', empty])
  expect(codesOf(await troubles(empty))).toEqual(['problem empty_repository'])
  const bare = makeTemp()
  execFileSync('git', ['init', '--quiet', '--bare', bare])
  expect(codesOf(await troubles(bare))).toEqual(['problem bare_repository'])
})

test('submodules, git-lfs files or partial clones that do not reach a checkout are not found', async () => {
  const repo = makeRepo({
    files: {
      '.gitattributes': '*.bin filter=lfs -text\n',
      'data.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n',
      'real.bin': 'content',
    },
  })
  repo.git('update-index', '--add', '--cacheinfo', `160000,${repo.git('rev-parse', 'HEAD')},vendor/lib`)
  for (const [key, value] of [
    ['core.autocrlf', 'true'],
    ['core.sparseCheckout', 'true'],
    ['remote.origin.promisor', 'true'],
  ] as const)
    repo.git('config', key, value)
  const found = await troubles(repo.dir)
  expect(codesOf(found)).toEqual([
    'warning repository_partial',
    'warning repository_sparse',
    'warning autocrlf',
    'warning submodules',
    'problem lfs_missing',
  ])
  expect(found.at(-1)?.what).toBe('1 files are git-lfs pointers in place of their content: data.bin')
})

test('an agent program that is missing or does not answer passes', async () => {
  const host = scriptedHost('export default { doctor: () => "ok" }')
  const project = makeProject({ spec: { agent: { host: 'command', command: host.argv } } })
  await project.data('init')
  expect(await troubles(project.repo.dir)).toEqual([])
  expect(host.calls()).toEqual([])
  expect(await troubles(project.repo.dir, { hosts: true })).toEqual([])
  expect(host.calls().map(({ role }) => role)).toEqual(['doctor'])
  host.answer('export default {}')
  expect(codesOf(await troubles(project.repo.dir, { hosts: true }))).toEqual(['problem host_fails'])
  const other = makeProject({ spec: { agent: { host: 'command', command: 'no-such-agent --yes' } } })
  await other.data('init')
  expect(codesOf(await troubles(other.repo.dir))).toEqual(['problem host_missing'])
})

test('a missing agent program that a run names is no problem, is not called, or one that no run names is a problem', async () => {
  const project = makeProject({ spec: { agent: { host: 'pi', fallback: ['qwen'] } } })
  const pi = fakeProgram('pi', [RECORDINGS.pi.text('ok'), RECORDINGS.pi.error('Invalid API key')])
  const gemini = fakeProgram('gemini', [RECORDINGS.gemini.error('Invalid API key')])
  const folders = [pi, gemini].map(({ env }) => env.PATH?.split(delimiter)[0])
  const env = { PATH: [...folders, process.env.PATH].join(delimiter) }
  await project.data('init')
  const doctor = async (...flags: string[]) => {
    const ran = await project.cli<{ findings: { code: string; level: string; what: string }[] }>(
      ['doctor', ...flags],
      { env },
    )
    return dataOf(ran).findings.filter(({ code }) => code.startsWith('host'))
  }
  const missing = ['problem', 'host_missing', expect.stringContaining('qwen')]
  const rows = (found: Awaited<ReturnType<typeof doctor>>) =>
    found.filter(({ level }) => level !== 'ok').map(({ level, code, what }) => [level, code, what])
  const quiet = await doctor()
  expect(rows(quiet)).toEqual([missing])
  expect(quiet.map(({ what }) => what)).toContain('the agent program pi (host pi) is there')
  expect([...pi.seen(), ...gemini.seen()]).toEqual([])

  const strange = ['warning', 'host_fails', expect.stringContaining('gemini does not answer: ')]
  expect(rows(await doctor('--hosts'))).toEqual([missing, strange])
  const refused = ['problem', 'host_fails', 'the host pi does not answer: 400 Invalid API key']
  const both = rows(await doctor('--hosts'))
  expect(both).toHaveLength(3)
  expect(both).toEqual(expect.arrayContaining([missing, refused, strange]))
})

test('a state folder that we may not write passes, or a repository that git distrusts crashes doctor', async () => {
  const project = makeProject()
  const root = project.repo.dir
  await project.data('init')
  // For root nothing is read-only, so another user looks.
  const isRoot = process.getuid?.() === 0
  if (isRoot) chmodSync(dirname(root), 0o755)
  else chmodSync(at(root, 'runs'), 0o555)
  const nobody = isRoot ? { uid: 65534, gid: 65534 } : {}
  const ran = spawnSync(process.execPath, [ASSAY_BIN, 'doctor', '--json'], {
    cwd: root,
    env: { ...isolatedEnv(), HOME: join(root, 'none'), XDG_RUNTIME_DIR: join(root, 'none') },
    encoding: 'utf8',
    ...nobody,
  })
  if (!isRoot) chmodSync(at(root, 'runs'), 0o755)
  const { data } = JSON.parse(ran.stdout)
  const codes = data.findings.map(({ code }: { code: string }) => code)
  expect(codes).toContain('not_writable')
  if (isRoot) expect(codes).toContain('unsafe_repository')
  expect(codes).not.toContain('check_failed')
})
