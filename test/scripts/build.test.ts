import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { build, stale } from '../../scripts/build.mjs'
import { assay } from '../rig/assay.ts'
import { plantCli } from '../rig/planted-cli.ts'

const BUILD = new URL('../../scripts/build.mjs', import.meta.url).href

const says = (word: string) =>
  `export const run = async () => ({ ok: true, value: { data: ${JSON.stringify(word)}, text: () => ${JSON.stringify(word)} } })`
const status = (root: string) => assay(['status'], { cwd: root, bin: join(root, 'bin', 'assay.cjs') })
const chunks = (root: string) =>
  readdirSync(join(root, 'bin', 'lib')).filter((name) => name.startsWith('tree-'))

test('an unchanged tree is built again, or a change is not noticed', async () => {
  const root = plantCli({ status: says('one') })
  expect(await build({ root })).toBe(true)
  expect(await build({ root })).toBe(false)
  expect((await status(root)).stdout).toBe('one\n')
  writeFileSync(join(root, 'cli', 'verbs', 'status.ts'), says('two'))
  expect(await build({ root })).toBe(true)
  expect((await status(root)).stdout).toBe('two\n')
  expect(await build({ root, force: true })).toBe(true)
})

test('a running process loses the chunks of the build that it started from, or old ones are never removed', async () => {
  const root = plantCli({ tree: says('one') })
  await build({ root })
  const [before = ''] = chunks(root)
  writeFileSync(join(root, 'cli', 'verbs', 'tree.ts'), says('two'))
  await build({ root })
  expect(chunks(root)).toContain(before)
  utimesSync(join(root, 'bin', 'lib', before), 0, 0)
  writeFileSync(join(root, 'cli', 'verbs', 'tree.ts'), says('three'))
  await build({ root })
  expect(chunks(root)).not.toContain(before)
  expect(chunks(root).length).toBe(2)
  await build({ root, force: true })
  expect(chunks(root).length).toBe(1)
})

test('a running process gets a chunk that asks its older main for a module that only the newer one has', async () => {
  const verb = `import { word } from '../spec/import/word.ts'
    export const run = async () => ({ ok: true, value: { data: word(), text: word } })`
  const root = plantCli({ tree: verb, log: verb })
  mkdirSync(join(root, 'cli', 'spec', 'import'), { recursive: true })
  writeFileSync(join(root, 'cli', 'spec', 'import', 'word.ts'), `export const word = () => 'said'`)
  await build({ root })
  const main = join(root, 'bin', 'lib', 'main.cjs')
  const script = `
    import { createRequire } from 'node:module'
    import { writeFileSync } from 'node:fs'
    import { build } from ${JSON.stringify(BUILD)}
    const { main } = createRequire(${JSON.stringify(main)})(${JSON.stringify(main)})
    writeFileSync(${JSON.stringify(join(root, 'cli', 'verbs', 'status.ts'))}, ${JSON.stringify(verb)})
    await build({ root: ${JSON.stringify(root)} })
    process.exitCode = await main(['tree'])`
  const ran = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect(ran).toMatchObject({ stdout: 'said\n', stderr: '' })
  expect(await status(root)).toMatchObject({ stdout: 'said\n' })
})

test('two builds at once, or a build after one that was killed, get in each other’s way', async () => {
  const root = plantCli({ status: says('one') })
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  // Above the highest pid of any system: the owner is dead.
  writeFileSync(join(root, 'node_modules', '.assay-build.lock'), '999999999\n')
  const script = `import { build, stale } from ${JSON.stringify(BUILD)}; console.log(await build({ root: ${JSON.stringify(root)} }))`
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  const built = await Promise.all([start(), start(), start()])
  expect(built.map(({ stdout }) => stdout).sort()).toEqual(['false\n', 'false\n', 'true\n'])
  expect((await status(root)).stdout).toBe('one\n')
  expect(existsSync(join(root, 'node_modules', '.assay-build.lock'))).toBe(false)
})

test('a build that fails replaces one that works', async () => {
  const root = plantCli({ status: says('one') })
  await build({ root })
  const main = readFileSync(join(root, 'bin', 'lib', 'main.cjs'), 'utf8')
  writeFileSync(join(root, 'cli', 'verbs', 'status.ts'), 'export const run = (')
  await expect(build({ root })).rejects.toThrow('cli/verbs/status.ts:1')
  expect(readFileSync(join(root, 'bin', 'lib', 'main.cjs'), 'utf8')).toBe(main)
  expect((await status(root)).stdout).toBe('one\n')
})

test('a module of Node, its own place, or a lazily loaded chunk is lost on the way to CommonJS', async () => {
  const root = plantCli({
    status: `import { createHash } from 'node:crypto'
      import { execFileSync, type ChildProcess } from 'node:child_process'
      import { fileURLToPath } from 'node:url'
      export const none: ChildProcess | null = null
      export const run = async () => {
        const { closest } = await import('../spec/words.ts')
        const data = {
          hash: createHash('sha256').update('a').digest('hex').slice(0, 8),
          echo: String(execFileSync('echo', ['hi'])),
          here: fileURLToPath(new URL('.', import.meta.url)),
          meant: closest('stauts', ['status']),
        }
        return { ok: true, value: { data, text: () => '' } }
      }`,
  })
  await build({ root })
  const ran = await assay(['status', '--json'], { cwd: root, bin: join(root, 'bin', 'assay.cjs') })
  expect(ran.json).toEqual({
    ok: true,
    data: { hash: 'ca978112', echo: 'hi\n', here: `${join(root, 'bin', 'lib')}/`, meant: 'status' },
  })
})

test('a bundle that is not what its sources say passes for a fresh one', async () => {
  const root = plantCli({ tree: says('one') })
  await build({ root })
  expect(await stale({ root })).toEqual([])
  const [chunk = ''] = chunks(root)
  const file = join(root, 'bin', 'lib', chunk)
  // The stamp beside it still names the sources, so a build would find nothing to do.
  writeFileSync(file, readFileSync(file, 'utf8').replace('one', 'two'))
  expect(await build({ root })).toBe(false)
  expect(await stale({ root })).toEqual([chunk])
})

test('what V8 compiled is not kept, a damaged file of it breaks a call, or it hides a change of the code', async () => {
  const root = plantCli({ status: says('one') })
  await build({ root })
  const lib = join(root, 'bin', 'lib')
  const compiled = () =>
    readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((path) => /^compiled-.*\//.test(path))
  await status(root)
  const kept = compiled()
  expect(kept.length).toBeGreaterThan(0)
  for (const path of kept) writeFileSync(join(lib, path), 'damaged')
  expect((await status(root)).stdout).toBe('one\n')
  // The same length: that is all that V8 compares.
  const main = join(lib, 'main.cjs')
  writeFileSync(main, readFileSync(main, 'utf8').replaceAll('"one"', '"two"'))
  expect((await status(root)).stdout).toBe('two\n')
  await build({ root, force: true })
  expect(compiled()).toEqual([])
})
