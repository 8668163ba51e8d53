import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { assay, dataOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const npm = (...args: string[]) =>
  execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

test('the package asks for another one, lacks a part, or does not work without a network', async () => {
  const folder = makeTemp('pack')
  // The CLI of the tests is the build; npm would make it again, under their feet.
  npm('pack', '--ignore-scripts', '--silent', '--pack-destination', folder)
  const [tarball = ''] = readdirSync(folder)
  const prefix = join(folder, 'prefix')
  mkdirSync(prefix)
  // An empty cache and no network: whatever it needs has to be in it.
  npm(
    'install',
    '--offline',
    '--cache',
    join(folder, 'cache'),
    '--no-audit',
    '--no-fund',
    '-g',
    '--prefix',
    prefix,
    join(folder, tarball),
  )
  const root = join(prefix, 'lib', 'node_modules', 'assay')
  const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(dependencies).toBeUndefined()
  expect(existsSync(join(root, 'node_modules'))).toBe(false)
  expect(existsSync(join(root, 'cli'))).toBe(false)
  expect(readFileSync(join(root, 'bin', 'lib', 'notices.txt'), 'utf8')).toMatch(/^acorn\n/)
  const cwd = makeTemp('elsewhere')
  const bin = join(prefix, 'bin', 'assay')
  const run = async (...args: string[]) =>
    dataOf(await assay<Record<string, unknown>>([...args, '--json'], { cwd, bin }))
  expect((await assay(['--version'], { cwd, bin })).stdout).toBe(`${version}\n`)
  expect(execFileSync(join(root, 'bin', 'assay'), ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`)
  expect((await run('guide', 'subagent')).text).toMatch(/^# /)
  expect((await run('workflow', 'list')).workflows).toMatchObject([{ name: 'assay:optimize' }])
  expect(await run('install', 'opencode')).toMatchObject({ method: 'copied', already: false })
  expect(await run('uninstall', 'opencode')).toMatchObject({ was_there: true, kept: [] })
})
