/**
 * Bundles the CLI into `bin/lib`: split chunks, nothing left external, so that a copy of this folder runs without an
 * install. Does nothing when the sources are what the last build read. `--force` builds in any case; `--check` writes
 * nothing, names what in `bin/lib` is not what a build would make now, and exits 1.
 *
 * esbuild splits ES modules only, but each of them costs a command about a fiftieth of the time in which an empty Node
 * starts, and the first one a fifth. So each chunk is turned into CommonJS afterwards, and the chunks that nearly every
 * command loads become one file with `main`.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exclusive } from './exclusive.mjs'

const MAIN = 'cli/main.ts'
/** A process of its own, so it shares no chunk with `main` and is one file. */
const CHILD = { name: 'workflow-child', source: 'cli/workflow/child.ts' }
/** The verb that is called most often. It is in one file with `main`; what it loads at once, most other verbs load too. */
const TYPICAL = 'cli/verbs/status.ts'
/** What runs in the browser. */
const PAGE = 'page/main.tsx'
/** A process that started before a rebuild may still load its own chunks for this long. */
const OLD_CHUNKS_LIVE_MS = 60 * 60 * 1000

/**
 * @param {{ root: string, force?: boolean }} options
 * @returns {Promise<boolean>} whether anything had to be built
 */
export async function build({ root, force = false }) {
  const lib = join(root, 'bin', 'lib')
  const stamp = join(lib, 'build.json')
  const isFresh = () => !force && stampOf(stamp) === hashOf(root) && existsSync(join(lib, 'main.cjs'))
  if (isFresh()) return false
  return exclusive(join(root, 'node_modules', '.assay-build.lock'), async () => {
    if (isFresh()) return false
    const hash = hashOf(root)
    const files = await bundle(root, lib)
    publish(lib, files)
    writeAtomically(stamp, `${JSON.stringify({ hash })}\n`)
    removeOld(lib, new Set([...files.map((file) => file.name), 'build.json']), force)
    return true
  })
}

/**
 * @param {{ root: string }} options
 * @returns {Promise<string[]>} files of `bin/lib` that are missing, or not what a fresh build would write
 */
export async function stale({ root }) {
  const lib = join(root, 'bin', 'lib')
  const files = await bundle(root, lib)
  return files
    .filter(({ name, contents }) => {
      const path = join(lib, name)
      return !existsSync(path) || !Buffer.from(contents).equals(readFileSync(path))
    })
    .map(({ name }) => name)
}

async function bundle(root, lib) {
  const esbuild = await import('esbuild')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const how = {
    metafile: true,
    absWorkingDir: root,
    outdir: lib,
    bundle: true,
    format: 'esm',
    platform: 'node',
    // A package that has both: its older form may load its parts in ways that no bundler sees.
    mainFields: ['module', 'main'],
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    legalComments: 'external',
    define: {
      'process.env.ASSAY_VERSION': JSON.stringify(version),
      'process.env.ASSAY_BUILD': JSON.stringify(hashOf(root).slice(0, 16)),
    },
    logLevel: 'silent',
    write: false,
  }
  const chunks = await esbuild.build({
    ...how,
    entryPoints: { main: join(root, MAIN) },
    splitting: true,
    chunkNames: '[name]-[hash]',
  })
  const child = existsSync(join(root, CHILD.source))
    ? await esbuild.build({ ...how, entryPoints: { [CHILD.name]: join(root, CHILD.source) } })
    : { outputFiles: [], metafile: { inputs: {}, outputs: {} } }
  const outputs = { ...chunks.metafile.outputs, ...child.metafile.outputs }
  const chunksWith = (source) =>
    Object.keys(outputs)
      .filter((path) => source in outputs[path].inputs)
      .map((path) => basename(path))
  const late = chunksWith(LATE)
  const verbatim = chunksWith(VERBATIM)
  const together = loadedAtOnce(chunks.metafile.outputs, late)
  const texts = new Map(
    [...chunks.outputFiles, ...child.outputFiles].map((file) => [relative(lib, file.path), file.text]),
  )
  texts.set('main.mjs', await joined(esbuild, texts, together))
  const names = cjsNames([...texts.keys()], { late, together })
  const files = await Promise.all(
    [...texts]
      .filter(([name]) => !together.includes(name))
      .map(async ([name, text]) => {
        if (!name.endsWith('.mjs')) return { name, contents: text }
        const code = await toCommonJs(esbuild, text, { isMain: name === 'main.mjs', late, together, names })
        return {
          name: names.get(name),
          contents: verbatim.includes(name) ? code : await shortened(esbuild, code),
        }
      }),
  )
  const page = existsSync(join(root, PAGE)) ? await pageOf(esbuild, root) : { files: [], inputs: [] }
  const inputs = [
    ...new Set([chunks, child].flatMap(({ metafile }) => Object.keys(metafile.inputs)).concat(page.inputs)),
  ]
  return [...files, ...page.files, ...notices(root, inputs)]
}

/** The chunks that `main` and the typical verb load before they run, without those that are loaded late; and that verb's own. */
function loadedAtOnce(outputs, late) {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]))
  const [typical] = [...byName].filter(([, { entryPoint }]) => entryPoint === TYPICAL).map(([name]) => name)
  const found = new Set()
  const visit = (name) => {
    if (found.has(name) || late.includes(name)) return
    found.add(name)
    for (const { path, kind } of byName.get(name)?.imports ?? [])
      if (kind === 'import-statement' && byName.has(basename(path))) visit(basename(path))
  }
  for (const name of ['main.mjs', typical]) if (name !== undefined) visit(name)
  found.delete('main.mjs')
  return [...found]
}

/** `main` and these chunks as one module, which has each of them as a namespace for the chunks that stay outside. */
async function joined(esbuild, texts, together) {
  const namespaces = together.map((name) => `export * as ${namespaceOf(name)} from "./${name}"`)
  const { outputFiles } = await esbuild.build({
    stdin: { contents: ['export * from "./main.mjs"', ...namespaces].join('\n'), sourcefile: 'joined.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    write: false,
    plugins: [
      {
        name: 'chunks',
        setup(setup) {
          setup.onResolve({ filter: /^\.\// }, ({ path, kind }) => {
            const name = basename(path)
            const inside = kind === 'import-statement' && (name === 'main.mjs' || together.includes(name))
            return inside ? { path: name, namespace: 'chunk' } : { path, external: true }
          })
          setup.onLoad({ filter: /./, namespace: 'chunk' }, ({ path }) => ({ contents: texts.get(path) }))
        },
      },
    ],
  })
  return outputFiles[0].text
}

/**
 * The page of `assay serve` and `assay report --html`: script and style in one document, which a policy allows by their
 * hashes and nothing else. What differs from one to the next is put in later, by `cli/page/document.ts`.
 */
async function pageOf(esbuild, root) {
  const { outputFiles, metafile } = await esbuild.build({
    metafile: true,
    absWorkingDir: root,
    entryPoints: [join(root, PAGE)],
    outdir: join(root, 'bin', 'lib'),
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'silent',
    write: false,
  })
  const of = (end) => outputFiles.find(({ path }) => path.endsWith(end))?.text.trim() ?? ''
  // An inline script ends where this stands, also inside of a text.
  const script = of('.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
  const style = of('.css')
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    'connect-src {{CONNECT}}',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const html = readFileSync(join(root, 'page', 'document.html'), 'utf8')
    .replace('{{POLICY}}', () => policy)
    .replace('{{STYLE}}', () => style)
    .replace('{{SCRIPT}}', () => script)
  return { files: [{ name: 'page.html', contents: html }], inputs: Object.keys(metafile.inputs) }
}

/** The licences of the packages that are in the bundle: they ask to be handed on with it. */
function notices(root, inputs) {
  const names = inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
  const texts = [...new Set(names)].sort().map((name) => {
    const folder = join(root, 'node_modules', name)
    const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry))
    if (file === undefined) throw new Error(`${name} has no licence to hand on`)
    return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  })
  return texts.length === 0 ? [] : [{ name: 'notices.txt', contents: texts.join(`\n${'-'.repeat(72)}\n\n`) }]
}

/**
 * The file of each module. The name that esbuild gives a chunk follows from its ES module; what becomes of that follows from
 * `late` and `together` as well, and a running process must not get a chunk that asks its older `main` for what it lacks.
 */
function cjsNames(modules, { late, together }) {
  const layout = createHash('sha256')
    .update(JSON.stringify([late, together]))
    .digest('hex')
    .slice(0, 6)
  const isEntry = (name) => ['main.mjs', `${CHILD.name}.mjs`].includes(name)
  return new Map(
    modules.map((name) => [name, name.replace(/\.mjs$/, isEntry(name) ? '.cjs' : `-${layout}.cjs`)]),
  )
}

const namespaceOf = (name) => name.replace(/\.mjs$/, '').replaceAll(/\W/g, '_')
/** Node's own modules that take long to load and that most commands do not call. */
const HEAVY = ['crypto', 'child_process', 'worker_threads', 'net', 'http', 'readline', 'zlib', 'vm']
/** Of ours, the same: many modules import it, and a command that only reads starts no process. */
const LATE = 'cli/process.ts'
/** Scripts can read the text of its functions, which is the same in every host. */
const VERBATIM = 'cli/workflow/realm.ts'

async function toCommonJs(esbuild, text, { isMain, late, together, names }) {
  const pathOf = (name) => `./${names.get(name)}`
  const linked = text
    .replace(
      /\bimport\("\.\/([\w-]+\.mjs)"\)/g,
      (_, name) => `Promise.resolve().then(() => require("${pathOf(name)}"))`,
    )
    .replace(
      /^((?:import|\}|export).*)"\.\/([\w-]+\.mjs)";$/gm,
      (_, before, name) => `${before}"${pathOf(name)}";`,
    )
  const { code } = await esbuild.transform(linked, {
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    define: { 'import.meta.url': '__url' },
    legalComments: 'none',
    banner: `"use strict";${linked.includes('import.meta.url') ? ' const __url = require("node:url").pathToFileURL(__filename).href;' : ''}`,
  })
  const lazy = new Set([...HEAVY.map((name) => `node:${name}`), ...late.map(pathOf)])
  const main = isMain ? 'module.exports' : 'require("./main.cjs")'
  const inMain = new Map(together.map((name) => [pathOf(name), `${main}.${namespaceOf(name)}`]))
  return code
    .replace(/^var (import_\w+) = require\("([^"]+)"\);$/gm, (line, name, path) =>
      lazy.has(path) ? `var ${name} = new Proxy({}, { get: (_, key) => require("${path}")[key] });` : line,
    )
    .replace(/\brequire\("(\.\/[\w-]+\.cjs)"\)/g, (found, path) => inMain.get(path) ?? found)
}

/** What is shorter is read and compiled sooner. The names stay, for whoever reads a stack trace. */
async function shortened(esbuild, code) {
  const how = { minifyWhitespace: true, minifySyntax: true, legalComments: 'none', target: 'node20' }
  return (await esbuild.transform(code, how)).code
}

/** Chunks first, entries last: at every moment an entry finds the chunks that it names. */
function publish(lib, files) {
  mkdirSync(lib, { recursive: true })
  const isEntry = (file) => ['main.cjs', `${CHILD.name}.cjs`].includes(file.name)
  const ordered = [...files.filter((file) => !isEntry(file)), ...files.filter(isEntry)]
  for (const file of ordered) writeAtomically(join(lib, file.name), file.contents)
}

function writeAtomically(path, contents) {
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, contents)
  renameSync(temporary, path)
}

function removeOld(lib, current, force) {
  for (const name of readdirSync(lib)) {
    // Dot files are locks.
    if (current.has(name) || name.startsWith('.')) continue
    const path = join(lib, name)
    // What `bin/modules.cjs` keeps of an earlier build.
    if (name.startsWith('compiled-')) rmSync(path, { recursive: true, force: true })
    else if (force || Date.now() - statSync(path).mtimeMs > OLD_CHUNKS_LIVE_MS) rmSync(path, { force: true })
  }
}

function stampOf(stamp) {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8')).hash
  } catch {
    return null
  }
}

/** Of everything that a build reads. */
function hashOf(root) {
  const hash = createHash('sha256')
  const sources = ['cli', 'page']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  for (const file of [
    ...sources,
    ...['package.json', 'package-lock.json', 'scripts/build.mjs'].map((name) => join(root, name)),
  ]) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  }
  return hash.digest('hex')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  try {
    if (process.argv.includes('--check')) {
      const files = await stale({ root })
      for (const file of files)
        process.stdout.write(`bin/lib/${file} is not what the sources say: npm run build\n`)
      process.exitCode = files.length === 0 ? 0 : 1
    } else {
      const built = await build({ root, force: process.argv.includes('--force') })
      process.stdout.write(built ? 'built bin/lib\n' : 'bin/lib is up to date\n')
    }
  } catch (error) {
    process.stderr.write(`build failed: ${error.message}\n`)
    process.exitCode = 1
  }
}
