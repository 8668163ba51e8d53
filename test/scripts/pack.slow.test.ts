import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { binFolders } from '../../scripts/install-hosts.mjs'
import { isolatedEnv, makeTemp } from '../rig/temp.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A network namespace with nothing in it, where the system lets us make one; else npm is told to stay off. */
const CUT = spawnSync('unshare', ['-rn', 'true']).status === 0 ? ['unshare', '-rn'] : []

/** Runs without a network; must succeed. Answers standard output. */
function offline(argv: string[], cwd: string, env: NodeJS.ProcessEnv = isolatedEnv()): string {
  const [program = '', ...args] = [...CUT, ...argv]
  const done = spawnSync(program, args, { cwd, env, encoding: 'utf8', input: '' })
  expect(done.status, `${argv.join(' ')}\n${done.stdout}${done.stderr}`).toBe(0)
  return done.stdout
}

let tarball: string
let prefix: string
let root: string
const installed = (...args: string[]) => [join(prefix, 'bin', 'assay'), ...args]

beforeAll(() => {
  const folder = makeTemp('pack')
  // The CLI of the tests is the build; npm would make it again, under their feet.
  const npm = ['npm', '--cache', join(folder, 'cache'), ...(CUT.length > 0 ? [] : ['--offline'])]
  offline([...npm, 'pack', '--ignore-scripts', '--silent', '--pack-destination', folder], ROOT)
  const [name = ''] = readdirSync(folder).filter((entry) => entry.endsWith('.tgz'))
  tarball = join(folder, name)
  prefix = join(folder, 'prefix')
  mkdirSync(prefix)
  // An empty cache and no network: whatever it needs has to be in it.
  offline([...npm, 'install', '--no-audit', '--no-fund', '-g', '--prefix', prefix, tarball], folder)
  root = join(prefix, 'lib', 'node_modules', 'assay')
})

test('the package has a dependency, lacks a part, or contains an unneeded file', () => {
  const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(dependencies).toBeUndefined()
  expect(existsSync(join(root, 'node_modules'))).toBe(false)
  expect(existsSync(join(root, 'cli'))).toBe(false)
  expect(readdirSync(join(root, 'examples'))).toEqual(['binpack'])
  const notices = readFileSync(join(root, 'bin', 'lib', 'notices.txt'), 'utf8')
  for (const name of ['acorn', 'd3-scale', 'diff', 'preact'])
    expect(notices).toMatch(new RegExp(`^${name}\n`, 'm'))
  const cwd = makeTemp('elsewhere')
  const data = (...args: string[]) => JSON.parse(offline(installed(...args, '--json'), cwd)).data
  expect(offline(installed('--version'), cwd)).toBe(`assay ${version}\n`)
  expect(offline([join(root, 'bin', 'assay'), '--version'], cwd)).toBe(`assay ${version}\n`)
  expect(data('guide', 'subagent').text).toMatch(/^# /)
  expect(data('workflow', 'list').workflows).toMatchObject([{ name: 'assay:optimize' }])
  expect(data('install', 'opencode')).toMatchObject({ method: 'copied', already: false })
  expect(data('uninstall', 'opencode')).toMatchObject({ was_there: true, kept: [] })
})

test('the demo of the package needs a network, or leaves out the chart, the diff, the held-out figures or how to continue', () => {
  const folder = join(makeTemp('a demo'), 'of mine')
  const env = { ...isolatedEnv(), PATH: [join(prefix, 'bin'), process.env.PATH].join(delimiter) }
  const said = offline(['assay', 'demo', folder, '--quiet'], makeTemp('anywhere'), env)
  expect(said).toMatch(/^excess_percent, lower is better$/m)
  expect(said).toMatch(/^\+ {2}\{ at: 0\.1, value: \/\* k10 \*\/ [\d.]+ \},$/m)
  expect(said).toMatch(/^mean +best fit +4\.59 % +heuristic +\d\.\d\d % +cut \d\d\.\d %$/m)
  // All of it is to be copied into a shell: spaces in the path or not, and `assay` as it is on PATH.
  const after = said.slice(said.indexOf('— What to look at next'))
  expect(after).toContain(`\ncd '${folder}'\n`)
  expect(after).toContain(`rm -rf '${folder}'\n`)
  expect(after).not.toContain('alias')
  expect(after).toContain(`The run as one file, for any browser: '${folder}/.assay/report.html'`)
  expect(readFileSync(join(folder, '.assay/report.html'), 'utf8')).toContain('data-kind="rows"')
  const commands = after.match(/^(cd|assay) .*$/gm) ?? []
  expect(commands.length).toBe(5)
  const tried = offline(['sh', '-ec', commands.join('\n')], '/', env)
  expect(tried).toMatch(/^assay\/binpack: \d+ commits? on /m)
  expect(tried).not.toContain('uncommitted work')
})

const claude = binFolders().find((folder) => existsSync(join(folder, 'claude')))

test.skipIf(claude === undefined)(
  'Claude Code finds fault with the plugin, or the plugin cannot be installed without a network',
  () => {
    const env: NodeJS.ProcessEnv = {
      ...isolatedEnv(),
      PATH: [claude, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
      DISABLE_AUTOUPDATER: '1',
    }
    const cwd = makeTemp('project')
    offline(['claude', 'plugin', 'validate', '--strict', root], cwd, env)
    expect(JSON.parse(offline(installed('install', 'claude-code', '--json'), cwd, env)).data).toMatchObject({
      host: 'claude-code',
      method: 'plugin',
      already: false,
    })
    const installs = join(env.XDG_STATE_HOME ?? '', 'assay', 'installs')
    const [staged = ''] = readdirSync(installs).filter((entry) =>
      existsSync(join(installs, entry, 'plugin.json')),
    )
    if (staged !== '') offline(['claude', 'plugin', 'validate', '--strict', join(installs, staged)], cwd, env)
    expect(JSON.parse(offline(installed('uninstall', 'claude-code', '--json'), cwd, env)).data).toMatchObject(
      {
        was_there: true,
        kept: [],
      },
    )
  },
)
