import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { findScript, readScript, scriptFolders } from '../../cli/workflow/scripts.ts'
import { play, useRig } from './rig.ts'

const rig = useRig()
let cwd = ''
let scripts: { cwd: string; folders: ReturnType<typeof scriptFolders> }

beforeAll(() => {
  cwd = join(rig.folder, 'project', 'sub')
  const files: Record<string, string> = {
    'project/sub/child.js': `export const meta = { name: 'child', description: 'd' }
log('in child ' + JSON.stringify(args)); phase('ChildPhase'); const x = await agent('c'); let n; try { n = await workflow('child') } catch (e) { n = e.message }
return { x, n, args, f() {}, u: undefined, has: typeof workflow }`,
    'project/sub/bad.js': 'const x = 1',
    'project/sub/note.txt': `export const meta = { name: 'note', description: 'd' }\nthrow new Error('child boom')`,
    'project/.claude/workflows/named.js': `export const meta = { name: 'named', description: 'd' }\nreturn ['project', args]`,
    'project/.claude/workflows/broken.js': 'export const meta = {',
    'project/.claude/workflows/module.mjs': `export const meta = { name: 'mjs', description: 'd' }\nreturn 1`,
    'project/.claude/workflows/deeper/sub.js': `export const meta = { name: 'sub', description: 'd' }\nreturn 1`,
    'home/.claude/workflows/named.js': `export const meta = { name: 'named', description: 'd' }\nreturn 'home'`,
    'home/.claude/workflows/mine.js': `export const meta = { name: 'mine', description: 'd' }\nreturn 'home'`,
    'bundle/optimize.js': `export const meta = { name: 'optimize', description: 'd' }\nreturn 'bundle'`,
  }
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(rig.folder, name, '..'), { recursive: true })
    writeFileSync(join(rig.folder, name), content)
  }
  scripts = {
    cwd,
    folders: scriptFolders({ cwd, home: join(rig.folder, 'home'), bundled: join(rig.folder, 'bundle') }),
  }
})

test('names: project before home before the bundle; only direct .js files with a valid meta', () => {
  const file = (name: string) => {
    const found = findScript(name, scripts.folders)
    return found.ok ? found.value.file.slice(rig.folder.length) : found.problem.message
  }
  expect(file('named')).toBe('/project/.claude/workflows/named.js')
  expect(file('mine')).toBe('/home/.claude/workflows/mine.js')
  expect(file('assay:optimize')).toBe('/bundle/optimize.js')
  expect(file('optimize')).toBe('/bundle/optimize.js')
  expect(file('nope')).toBe('Workflow "nope" not found. Available: named, mine, assay:optimize')
})

test('paths: any extension, relative to the folder of the run', () => {
  const found = readScript('note.txt', cwd)
  expect(found.ok && found.value.name).toBe('note')
})

test('a child workflow: its value is a copy, its log is marked, its phase is its own', async () => {
  const { result, logs, phases, calls, agents } = await play(
    rig,
    `phase('Main'); const a = await workflow({ scriptPath: 'child.js' }, { k: 1 }); const b = await workflow({ scriptPath: 'child.js' }); await agent('after')
return [a, Object.keys(a), b.args === undefined, a instanceof Object, await workflow('named', ['x'])]`,
    { scripts },
  )
  const nesting =
    'workflow() cannot be called from within a child workflow — nesting is limited to one level. Inline the inner script or call its agents directly.'
  expect(result).toEqual([
    { x: 're: c', n: nesting, args: { k: 1 }, has: 'function' },
    ['x', 'n', 'args', 'u', 'has'],
    true,
    true,
    ['project', ['x']],
  ])
  expect(logs).toEqual([
    '▸ running dynamic workflow child',
    '[child] in child {"k":1}',
    '▸ child done',
    '▸ running dynamic workflow child',
    '[child] in child undefined',
    '▸ child done',
    '▸ running dynamic workflow named',
    '▸ named done',
  ])
  expect(phases).toEqual(['Main', '▸ child', '▸ child #2', '▸ named'])
  expect(calls.map((call) => call.phase)).toEqual(['▸ child', '▸ child #2', 'Main'])
  expect(agents).toBe(3)
})

test('what is wrong with a child is thrown to its caller', async () => {
  const { result, logs } = await play(
    rig,
    `const R = {}; const T = async (k, ref) => { try { R[k] = await workflow(ref) } catch (e) { R[k] = e.name + ': ' + e.message } }
await T('unknown', 'nope'); await T('missing', { scriptPath: 'none.js' }); await T('bad', { scriptPath: 'bad.js' }); await T('throws', { scriptPath: 'note.txt' }); await T('number', 5)
return R`,
    { scripts },
  )
  expect(result).toEqual({
    unknown: "Error: workflow('nope'): no workflow with that name. Available: named, mine, assay:optimize",
    missing: `Error: workflow({scriptPath: 'none.js'}): Workflow script file not found: ${cwd}/none.js`,
    bad: "Error: workflow({scriptPath: 'bad.js'}): `export const meta = { name, description, phases }` must be the FIRST statement in the script",
    throws: 'Error: Error: child boom',
    number: 'TypeError: workflow() expects a workflow name (string) or {scriptPath: string}',
  })
  expect(logs).toEqual(['▸ running dynamic workflow note', '▸ note failed: Error: child boom'])
})
