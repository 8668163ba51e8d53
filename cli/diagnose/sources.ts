/** The files that a command line starts, and what they load and start from the same repository. Best effort: nothing is run. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

// ----------------------------------------------------------------
// Which other files a source file loads or starts, as far as its text tells. Pure; a search, no parser.

/** `loads`: its code runs in the same process. `starts`: in another one. */
export type How = 'loads' | 'starts'

export type Mention = { line: number; how: How } & (
  | { kind: 'javascript'; path: string }
  /** `dots`: of a relative import. */
  | { kind: 'python'; module: string; dots: number }
  | { kind: 'command'; text: string }
)

export type Language = 'javascript' | 'python' | 'shell' | 'other'

/** By the ending of the path, else by the first line. */
function languageOf(path: string, text: string): Language {
  if (/\.[cm]?[jt]sx?$/.test(path)) return 'javascript'
  if (/\.py$/.test(path)) return 'python'
  if (/\.(sh|bash|zsh|mk)$/.test(path) || /(^|\/)[Mm]akefile$/.test(path)) return 'shell'
  const shebang = /^#!.*/.exec(text)?.[0] ?? ''
  if (/node|bun|deno/.test(shebang)) return 'javascript'
  if (/python/.test(shebang)) return 'python'
  return /sh\b/.test(shebang) ? 'shell' : 'other'
}

/** Relative imports of JavaScript, all imports of Python, every line of a shell script. */
export function mentionsIn(text: string, language: Language): Mention[] {
  switch (language) {
    case 'javascript':
      return javascript(text)
    case 'python':
      return python(text)
    case 'shell':
      return shell(text)
    case 'other':
      return []
  }
}

const JAVASCRIPT = /\b(from|import|require|URL)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

function javascript(text: string): Mention[] {
  return [...text.matchAll(JAVASCRIPT)].flatMap((match): Mention[] => {
    const before = text.slice(text.lastIndexOf('\n', match.index) + 1, match.index)
    if (/^\s*(\/\/|\*)/.test(before) || /^\s*(import|export)\s+type\b/.test(before)) return []
    const how = match[1] === 'URL' ? 'starts' : 'loads'
    return [{ line: lineAt(text, match.index), how, kind: 'javascript', path: match[2] ?? '' }]
  })
}

function python(text: string): Mention[] {
  const found: Mention[] = []
  const add = (at: number, module: string, dots: number) =>
    found.push({ line: lineAt(text, at), how: 'loads', kind: 'python', module, dots })
  for (const match of text.matchAll(/^[ \t]*from\s+([.\w]+)\s+import\s+\(?([\w\s,]+)/gm)) {
    const [whole, from = '', names = ''] = match
    const at = match.index + whole.search(/\S/)
    const dots = /^\.*/.exec(from)?.[0].length ?? 0
    const module = from.slice(dots)
    if (module !== '') add(at, module, dots)
    for (const name of names.split(/[\s,]+/).filter(Boolean))
      add(at, [module, name].filter(Boolean).join('.'), dots)
  }
  for (const match of text.matchAll(/^[ \t]*import\s+([\w., ]+)/gm))
    for (const name of (match[1] ?? '').split(',')) {
      const module = name.trim().split(' ')[0] ?? ''
      if (module !== '') add(match.index, module, 0)
    }
  return found
}

/** The folder of a shell script, as it finds it out itself. */
const OWN_FOLDER =
  /\$\(\s*dirname\s+(?:--\s+)?"?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?"?\s*\)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%\/\*\}/g
/** A variable that holds it, or a folder above it. */
const KEPT_FOLDER =
  /^\s*(?:export\s+|readonly\s+)?(\w+)=["'$(]*(?:cd\s+(?:--\s+)?["']?)?\.((?:\/\.\.)*)["'/]*(?:\s|\)|$)/gm

function shell(script: string): Mention[] {
  let text = script.replace(OWN_FOLDER, '.')
  for (const [, name, above] of text.matchAll(KEPT_FOLDER))
    text = text
      .replaceAll(`\${${name}}`, `.${above}`)
      .replaceAll(new RegExp(`\\$${name}\\b`, 'g'), `.${above}`)
  return text.split('\n').flatMap((line, index): Mention[] => {
    if (/^\s*#/.test(line)) return []
    const sourced = [...line.matchAll(/(?:^|[;&|({]|\b(?:then|do|else))\s*(?:\.|source)\s+(\S+)/g)].map(
      ([, file = '']): Mention => ({ line: index + 1, how: 'loads', kind: 'command', text: file }),
    )
    return [...sourced, { line: index + 1, how: 'starts', kind: 'command', text: line }]
  })
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

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
const SCRIPT_CALL =
  /\b(?:npm|pnpm|yarn|bun)\s+(?:-[\w=./-]+\s+)*(?:run(?:-script)?\s+)?(?:-[\w=./-]+\s+)*(\w[\w:.-]*)/g
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
