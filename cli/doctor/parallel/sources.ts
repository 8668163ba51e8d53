/** The files that a command line starts, and what they import from the same repository. Best effort: nothing is run. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname, join, relative, resolve, sep } from 'node:path'

export interface SourceFile {
  /** From the root of the repository, with `/`. */
  path: string
  text: string
}

/** A command line of the spec, and the folder in which it runs. */
export interface Start {
  command: string
  folder: string
}

const MOST_FILES = 400
const MOST_BYTES = 512 * 1024
const SCRIPT_CALL = /\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]+)/g
const MODULE_CALL = /\bpython[\d.]*\s+(?:-\w+\s+)*-m\s+([\w.]+)/g
const MAKE_CALL = /(?:^|[\s;&|])make\b/

/** In the order in which they were reached. `cut`: there were more than 400. */
export function sourcesOf(top: string, starts: readonly Start[]): { files: SourceFile[]; cut: boolean } {
  const found = new Map<string, SourceFile>()
  const queue: string[] = starts.flatMap(({ command, folder }) => filesIn(command, folder))
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    const path = inside(top, file)
    if (path === null || found.has(path)) continue
    if (found.size === MOST_FILES) return { files: [...found.values()], cut: true }
    const text = readText(file)
    if (text === null) continue
    found.set(path, { path, text })
    queue.push(...reachedFrom(file, text, top))
  }
  return { files: [...found.values()], cut: false }
}

/** Files that a command line names, directly or by a script of package.json, a Python module or a Makefile. */
function filesIn(command: string, folder: string, depth = 0): string[] {
  const words = command.split(/[\s'"`;|&()<>=,]+/).filter((word) => word !== '' && word.length < 300)
  const files = words.map((word) => resolve(folder, word.replace(/[:#].*$/, ''))).filter(isFile)
  for (const [, name = ''] of command.matchAll(MODULE_CALL)) files.push(...pythonModule(name, [folder]))
  if (MAKE_CALL.test(command))
    files.push(...['Makefile', 'makefile'].map((name) => join(folder, name)).filter(isFile))
  if (depth < 5) {
    for (const [, name = ''] of command.matchAll(SCRIPT_CALL)) {
      const script = scriptNamed(folder, name)
      if (script !== null) files.push(join(folder, 'package.json'), ...filesIn(script, folder, depth + 1))
    }
  }
  return files
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

function reachedFrom(file: string, text: string, top: string): string[] {
  const folder = dirname(file)
  switch (languageOf(file, text)) {
    case 'javascript':
      return [...text.matchAll(/(?:from|import|require|URL)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g)].flatMap(
        ([, to = '']) => javascriptFile(resolve(folder, to)),
      )
    case 'python':
      return pythonImports(text, folder, top)
    case 'shell':
      // Scripts are started from the top more often than from their own folder.
      return text
        .split('\n')
        .flatMap((line) => (/^\s*#/.test(line) ? [] : [...filesIn(line, folder), ...filesIn(line, top)]))
    case 'other':
      return []
  }
}

function languageOf(file: string, text: string): 'javascript' | 'python' | 'shell' | 'other' {
  const ending = extname(file)
  if (/^\.[cm]?[jt]sx?$/.test(ending)) return 'javascript'
  if (ending === '.py') return 'python'
  if (/^\.(sh|bash|zsh|mk)$/.test(ending) || /(^|\/)[Mm]akefile$/.test(file)) return 'shell'
  const shebang = /^#!.*/.exec(text)?.[0] ?? ''
  if (/node|bun|deno/.test(shebang)) return 'javascript'
  if (/python/.test(shebang)) return 'python'
  return /sh\b/.test(shebang) ? 'shell' : 'other'
}

const ENDINGS = ['', '.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '/index.ts', '/index.js']

function javascriptFile(path: string): string[] {
  // TypeScript imports name the file that will be made.
  const candidates = [...ENDINGS.map((ending) => path + ending), path.replace(/\.([cm]?)js$/, '.$1ts')]
  return candidates.filter(isFile).slice(0, 1)
}

function pythonImports(text: string, folder: string, top: string): string[] {
  const roots = [folder, top, join(top, 'src')]
  const found: string[] = []
  for (const [, from = '', names = ''] of text.matchAll(/^\s*from\s+([.\w]+)\s+import\s+\(?([\w\s,]+)/gm)) {
    const dots = /^\.*/.exec(from)?.[0].length ?? 0
    const base = dots === 0 ? roots : [resolve(folder, '../'.repeat(dots - 1))]
    const module = from.slice(dots)
    found.push(...pythonModule(module, base))
    for (const name of names.split(/[\s,]+/).filter(Boolean))
      found.push(...pythonModule([module, name].filter(Boolean).join('.'), base))
  }
  for (const [, names = ''] of text.matchAll(/^\s*import\s+([\w., ]+)/gm))
    for (const name of names.split(',')) found.push(...pythonModule(name.trim().split(' ')[0] ?? '', roots))
  return found
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

function inside(top: string, file: string): string | null {
  const path = relative(realpathSync(top), realpathSync(file)).split(sep).join('/')
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
