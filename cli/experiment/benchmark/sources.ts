/** The files that a command line starts, and what they load and start from the same repository. Best effort: nothing is run. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { type How, type Language, languageOf, type Mention, mentionsIn } from './mentions.ts'

export interface SourceFile {
  /** From the root of the repository, with `/`. */
  path: string
  text: string
  language: Language
  /** In the order in which they stand there. */
  links: Link[]
}

export interface Link {
  to: string
  line: number
  how: How
}

/** A command line of the spec, and the folder in which it runs. */
export interface Start {
  command: string
  folder: string
}

export interface Sources {
  /** The programs of the commands, not their arguments. */
  entries: string[]
  /** In the order in which they were reached. */
  files: SourceFile[]
  /** There were more than 400. */
  cut: boolean
}

const MOST_FILES = 400
const MOST_BYTES = 512 * 1024
const SCRIPT_CALL = /\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]+)/g
const MODULE_CALL = /\bpython[\d.]*\s+(?:-\w+\s+)*-m\s+([\w.]+)/g
const MAKE_CALL = /(?:^|[\s;&|])make\b/
const MOST_SCRIPTS = 5

export function sourcesOf(top: string, starts: readonly Start[]): Sources {
  const root = realpathSync(top)
  const inside = (files: string[]) => files.flatMap((file) => pathIn(root, file) ?? [])
  const entries = [...new Set(inside(starts.flatMap((start) => programsOf(start))))]
  const found = new Map<string, SourceFile>()
  const queue = inside(starts.flatMap(({ command, folder }) => filesIn(command, folder)))
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (found.has(path)) continue
    if (found.size === MOST_FILES) return { entries, files: [...found.values()], cut: true }
    const file = join(root, path)
    const text = readText(file)
    if (text === null) continue
    const language = languageOf(path, text)
    const links = mentionsIn(text, language).flatMap((mention): Link[] =>
      inside(filesOf(mention, file, root)).map((to) => ({ to, line: mention.line, how: mention.how })),
    )
    found.set(path, { path, text, language, links })
    queue.push(...links.map(({ to }) => to))
  }
  return { entries, files: [...found.values()], cut: false }
}

/** The first file of each simple command, or what a script of package.json, a module or make stands for. */
function programsOf({ command, folder }: Start, depth = 0): string[] {
  return command.split(/&&|\|\||[;|\n]/).flatMap((simple) => {
    const script = depth < MOST_SCRIPTS ? [...scriptsIn(simple, folder)][0] : undefined
    if (script) return [join(folder, 'package.json'), ...programsOf({ command: script, folder }, depth + 1)]
    const [, module] = [...simple.matchAll(MODULE_CALL)][0] ?? []
    const [module_] = module === undefined ? [] : pythonModule(module, [folder])
    const program = module_ ?? makefileFor(simple, folder)[0] ?? namedIn(simple, folder)[0]
    return program === undefined ? [] : [program]
  })
}

/** Files that a command line names, directly or by a script of package.json, a Python module or a Makefile. */
function filesIn(command: string, folder: string, depth = 0): string[] {
  const files = namedIn(command, folder)
  for (const [, name = ''] of command.matchAll(MODULE_CALL)) files.push(...pythonModule(name, [folder]))
  files.push(...makefileFor(command, folder))
  if (depth < MOST_SCRIPTS) {
    for (const script of scriptsIn(command, folder))
      files.push(join(folder, 'package.json'), ...filesIn(script, folder, depth + 1))
  }
  return files
}

function namedIn(command: string, folder: string): string[] {
  const words = command.split(/[\s'"`;|&()<>=,]+/).filter((word) => word !== '' && word.length < 300)
  return words.map((word) => resolve(folder, word.replace(/[:#].*$/, ''))).filter(isFile)
}

const makefileFor = (command: string, folder: string): string[] =>
  MAKE_CALL.test(command) ? ['Makefile', 'makefile'].map((name) => join(folder, name)).filter(isFile) : []

function* scriptsIn(command: string, folder: string): Generator<string> {
  for (const [, name = ''] of command.matchAll(SCRIPT_CALL)) {
    const script = scriptNamed(folder, name)
    if (script !== null) yield script
  }
}

function scriptNamed(folder: string, name: string): string | null {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      scripts?: Record<string, unknown>
    }
    const script = manifest.scripts?.[name]
    return typeof script === 'string' ? script : null
  } catch {
    return null
  }
}

function filesOf(mention: Mention, file: string, root: string): string[] {
  const folder = dirname(file)
  switch (mention.kind) {
    case 'javascript':
      return javascriptFile(resolve(folder, mention.path))
    case 'python': {
      const { module, dots } = mention
      const roots = dots === 0 ? [folder, root, join(root, 'src')] : [resolve(folder, '../'.repeat(dots - 1))]
      return pythonModule(module, roots)
    }
    case 'command':
      // Scripts are started from the top more often than from their own folder.
      return [...filesIn(mention.text, folder), ...filesIn(mention.text, root)]
  }
}

const ENDINGS = ['', '.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '/index.ts', '/index.js']

function javascriptFile(path: string): string[] {
  // TypeScript imports name the file that will be made.
  const candidates = [...ENDINGS.map((ending) => path + ending), path.replace(/\.([cm]?)js$/, '.$1ts')]
  return candidates.filter(isFile).slice(0, 1)
}

function pythonModule(name: string, roots: string[]): string[] {
  if (name === '') return []
  const path = name.split('.').join('/')
  return roots
    .flatMap((root) =>
      [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`].map((file) => join(root, file)),
    )
    .filter(isFile)
}

function pathIn(root: string, file: string): string | null {
  if (!isFile(file)) return null
  const path = relative(root, realpathSync(file)).split(sep).join('/')
  return path.startsWith('../') || path.split('/').includes('node_modules') ? null : path
}

function isFile(path: string): boolean {
  try {
    return existsSync(path) && statSync(path).isFile()
  } catch {
    return false
  }
}

function readText(file: string): string | null {
  try {
    if (statSync(file).size > MOST_BYTES) return null
    const text = readFileSync(file, 'utf8')
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}
