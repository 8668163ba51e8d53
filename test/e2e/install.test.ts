import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'

interface Done {
  method: string
  version: string
  commands: string[]
  files: string[]
  already: boolean
  call: string
  permissions: string[]
  was_there: boolean
  removed: string[]
  kept: string[]
}

/**
 * A host with plugin commands that behaves as the real one does: its settings keep what it was told, and after its own
 * uninstall the empty keys and the cache stay behind. Each call is a line in `calls`.
 */
const FAKE = `#!/usr/bin/env node
const fs = require('node:fs'), { join } = require('node:path')
const [, , ...args] = process.argv
const home = join(process.env.HOME, '.claude'), file = join(home, 'settings.json')
fs.appendFileSync(join(__dirname, 'calls'), args.join(' ') + '\\n')
if (fs.existsSync(join(__dirname, 'fail-' + args[1] + (args[2] === 'remove' ? '-remove' : '')))) { console.error('no disk today'); process.exit(7) }
const read = () => fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {}
const write = (value) => { fs.mkdirSync(home, { recursive: true }); fs.writeFileSync(file, JSON.stringify(value)) }
const all = read()
all.enabledPlugins ??= {}, all.extraKnownMarketplaces ??= {}
switch (args.slice(1, 3).join(' ')) {
  case 'list --json': console.log(JSON.stringify(Object.keys(read().enabledPlugins ?? {}))); break
  case 'marketplace add':
    all.extraKnownMarketplaces.assay = JSON.parse(fs.readFileSync(join(args[3], '.claude-plugin/marketplace.json'))).name
    write(all); break
  case 'install assay@assay':
    all.enabledPlugins['assay@assay'] = true
    fs.mkdirSync(join(home, 'plugins/cache/assay/0'), { recursive: true }); write(all); break
  case 'uninstall assay@assay': delete all.enabledPlugins['assay@assay']; write(all); break
  case 'marketplace remove': delete all.extraKnownMarketplaces.assay; write(all); break
  default: process.exit(9)
}
`

function world() {
  const home = makeTemp('user')
  const bin = makeTemp('bin')
  writeFileSync(join(bin, 'claude'), FAKE, { mode: 0o755 })
  // No real host is on this PATH.
  symlinkSync(process.execPath, join(bin, 'node'))
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: undefined,
    XDG_STATE_HOME: undefined,
    PATH: bin,
  }
  const { dir } = makeRepo({ files: { 'a.txt': 'a\n' } })
  const cli = (...args: string[]) => assay<Done>([...args, '--json'], { cwd: dir, env })
  return {
    home,
    bin,
    dir,
    data: async (...args: string[]) => dataOf(await cli(...args)),
    problem: async (...args: string[]) => problemOf(await cli(...args)),
    calls: () => {
      const file = join(bin, 'calls')
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
    },
    /** path → hash of everything in the home folder and the checkout. */
    files: () => ({ ...filesIn(home), ...filesIn(dir) }),
  }
}

function filesIn(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    if (lstatSync(path).isFile()) found[path] = createHash('sha256').update(readFileSync(path)).digest('hex')
  }
  return found
}

describe('a plugin', () => {
  test('stays behind: a file, a cache or a key that was not there before', async () => {
    const { data, files, home, calls } = world()
    const before = files()
    const planned = await data('install', 'claude-code', '--dry-run')
    expect(planned.commands).toHaveLength(2)
    expect([files(), calls()]).toEqual([before, []])

    const done = await data('install', 'claude-code')
    expect(done).toMatchObject({ method: 'plugin', already: false, call: '/assay:discover' })
    expect(done.commands).toEqual(planned.commands)
    const bundle = join(home, '.local/state/assay/installs/claude-code/assay')
    expect(JSON.parse(readFileSync(join(bundle, 'package.json'), 'utf8'))).not.toHaveProperty(
      'devDependencies',
    )
    expect(existsSync(join(bundle, 'bin/lib/main.cjs'))).toBe(true)
    expect(existsSync(join(bundle, 'node_modules'))).toBe(false)

    const count = calls().length
    expect(await data('install', 'claude-code')).toMatchObject({ already: true })
    expect(calls().slice(count)).toEqual(['plugin list --json'])

    await data('uninstall', 'claude-code')
    expect(files()).toEqual(before)
    expect(await data('uninstall', 'claude-code')).toMatchObject({ was_there: false, removed: [] })
  })

  test('takes settings of others away', async () => {
    const { data, home } = world()
    const file = join(home, '.claude', 'settings.json')
    mkdirSync(dirname(file))
    const mine = { theme: 'dark', enabledPlugins: { 'other@place': true }, extraKnownMarketplaces: {} }
    writeFileSync(file, JSON.stringify(mine))
    await data('install', 'claude-code')
    await data('uninstall', 'claude-code')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(mine)
  })

  test('is installed in part after a failure, and uninstall cannot remove it', async () => {
    const { data, problem, files, bin } = world()
    const before = files()
    writeFileSync(join(bin, 'fail-install'), '')
    const { code, message } = await problem('install', 'claude-code')
    expect(code).toBe('host_failed')
    expect(message).toContain('no disk today')
    await data('uninstall', 'claude-code')
    expect(files()).toEqual(before)
    rmSync(join(bin, 'fail-install'))
    await data('install', 'claude-code')
    writeFileSync(join(bin, 'fail-marketplace-remove'), '')
    expect((await problem('uninstall', 'claude-code')).code).toBe('host_failed')
    rmSync(join(bin, 'fail-marketplace-remove'))
    await data('uninstall', 'claude-code')
    expect(files()).toEqual(before)
  })

  test('of the same name, that someone else installed, is taken over or removed', async () => {
    const { data, problem, home } = world()
    const file = join(home, '.claude', 'settings.json')
    mkdirSync(dirname(file))
    const theirs = '{"enabledPlugins":{"assay@assay":true}}'
    writeFileSync(file, theirs)
    expect((await problem('install', 'claude-code')).code).toBe('already_there')
    expect(await data('uninstall', 'claude-code')).toMatchObject({ was_there: false })
    expect(readFileSync(file, 'utf8')).toBe(theirs)
  })

  test('is reported as installed although its host is missing', async () => {
    const { problem, files } = world()
    const before = files()
    for (const host of ['codex', 'pi', 'qwen', 'copilot']) {
      expect((await problem('install', host)).code).toBe('host_missing')
    }
    expect(files()).toEqual(before)
    expect((await problem('install', 'claud-code')).hint).toContain('did you mean claude-code?')
  })
})

describe('copied skills', () => {
  test.each([
    ['opencode', '--user', '.config/opencode/skills'],
    ['gemini', '--user', '.gemini/skills'],
    ['codex', '--project', '.codex/skills'],
    ['opencode', '--project', '.opencode/skills'],
    ['pi', '--project', '.pi/skills'],
    ['gemini', '--project', '.gemini/skills'],
    ['qwen', '--project', '.qwen/skills'],
    ['copilot', '--project', '.github/skills'],
  ])(
    '%s %s: leave a file or a folder behind, or are found under a different name',
    async (host, scope, place) => {
      const { data, files, home, dir } = world()
      const before = files()
      const folder = join(scope === '--user' ? home : dir, place)
      const done = await data('install', host, scope)
      expect(done.method).toBe('copied')
      expect(done.files.map((path) => path.slice(folder.length + 1))).toEqual(
        ['finetuning', 'discover', 'finish', 'optimize', 'report', 'subagent'].map(
          (name) => `assay-${name}/SKILL.md`,
        ),
      )
      for (const path of done.files) {
        const text = readFileSync(path, 'utf8')
        expect(text).toMatch(new RegExp(`^---\nname: ${path.split('/').at(-2)}\n`))
        expect(text).not.toContain('../../bin')
        expect(text).not.toContain('from the folder of this file')
      }
      expect(await data('install', host, scope)).toMatchObject({ already: true })
      await data('uninstall', host, scope)
      expect(files()).toEqual(before)
      expect(existsSync(join(folder, '..'))).toBe(false)
    },
  )

  test('are overwritten or deleted although they are of someone else, or changed', async () => {
    const { data, problem, home } = world()
    const skill = (name: string) => join(home, '.gemini/skills', `assay-${name}`, 'SKILL.md')
    mkdirSync(dirname(skill('report')), { recursive: true })
    writeFileSync(skill('report'), 'mine\n')
    const refused = await problem('install', 'gemini')
    expect(refused.code).toBe('already_there')
    expect(refused.message).toContain(skill('report'))
    rmSync(skill('report'))
    await data('install', 'gemini')
    writeFileSync(skill('report'), 'edited\n')
    const elsewhere = join(makeTemp('elsewhere'), 'x.md')
    writeFileSync(elsewhere, readFileSync(skill('finish')))
    rmSync(skill('finish'))
    symlinkSync(elsewhere, skill('finish'))
    const done = await data('uninstall', 'gemini')
    expect(done.kept).toEqual([skill('finish'), skill('report')])
    expect(readFileSync(skill('report'), 'utf8')).toBe('edited\n')
    expect(existsSync(elsewhere)).toBe(true)
    expect(existsSync(skill('discover'))).toBe(false)
  })
})
