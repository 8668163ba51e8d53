/** Source text → what the rules look at. A real parser reads it, so type-only imports and literals are seen as they are. */
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { parseSync } from 'vite'

export interface Import {
  /** `cli/run/start.ts` for a relative import, else as written: `node:fs`, `yaml`. */
  to: string
  kind: 'file' | 'node' | 'package'
  typeOnly: boolean
  /** `import()` in code. */
  dynamic: boolean
  /** Imported or re-exported names; `*` for all. Types among them are left out. */
  names: string[]
  line: number
}

export interface Seen {
  text: string
  line: number
}

export interface Module {
  file: string
  text: string
  imports: Import[]
  /** String literals and the constant parts of templates. */
  strings: Seen[]
  /** First elements of array literals that are strings: the program of an argv. */
  programs: Seen[]
  /** Names that it declares and exports; what it hands on from elsewhere is left out. */
  exported: Seen[]
  /** Uses of the world: `process.stdout`, `Date.now`, `new Date()`, `Math.random`, `console.log`, `setTimeout`, … */
  world: Seen[]
}

interface Node {
  type: string
  start: number
  [key: string]: unknown
}

const WORLD = new Set([
  'process',
  'performance',
  'crypto',
  'console',
  'globalThis',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
])

export { type Node, walk }

export function readModule(file: string, text: string): Module {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`)
  const starts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)]
  const lineOf = (node: Node) => starts.filter((start) => start <= node.start).length
  const module: Module = {
    file,
    text,
    imports: [],
    strings: [],
    programs: [],
    exported: [],
    world: [],
  }
  walk(program as unknown as Node, null, '', (node, parent, key) => {
    const line = lineOf(node)
    const found = importOf(node)
    if (found !== null)
      module.imports.push({ ...found, to: resolve(file, found.to), kind: kindOf(found.to), line })
    module.exported.push(...declaredBy(node).map((text) => ({ text, line })))
    const literal = literalOf(node)
    if (literal !== null && key !== 'source') module.strings.push({ text: literal, line })
    const first = node.type === 'ArrayExpression' ? asNode((node.elements as unknown[])[0]) : null
    const program = first === null ? null : literalOf(first)
    if (program !== null) module.programs.push({ text: program, line })
    const use = worldUse(node, parent, key)
    if (use !== null) module.world.push({ text: use, line })
  })
  return module
}

function resolve(file: string, source: string): string {
  return source.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), source)) : source
}

function kindOf(source: string): Import['kind'] {
  if (source.startsWith('.')) return 'file'
  return isBuiltin(source) ? 'node' : 'package'
}

function importOf(node: Node): Omit<Import, 'line' | 'kind'> | null {
  if (node.type === 'TSImportType') {
    const to = literalOf(asNode(node.source) ?? asNode(node.argument))
    return to === null ? null : { to, typeOnly: true, dynamic: false, names: [] }
  }
  const to = literalOf(asNode(node.source))
  if (to === null) return null
  if (node.type === 'ImportExpression') return { to, typeOnly: false, dynamic: true, names: ['*'] }
  if (node.type === 'ExportAllDeclaration') {
    return { to, typeOnly: node.exportKind === 'type', dynamic: false, names: ['*'] }
  }
  const kind = node.type === 'ImportDeclaration' ? 'importKind' : 'exportKind'
  if (node.type !== 'ImportDeclaration' && node.type !== 'ExportNamedDeclaration') return null
  const specifiers = node.specifiers as Node[]
  const values = specifiers.filter((specifier) => node[kind] !== 'type' && specifier[kind] !== 'type')
  return {
    to,
    typeOnly: node[kind] === 'type' || (specifiers.length > 0 && values.length === 0),
    dynamic: false,
    names: values.map(nameOf),
  }
}

function nameOf(specifier: Node): string {
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  const name = asNode(specifier.type === 'ExportSpecifier' ? specifier.local : specifier.imported)
  return typeof name?.name === 'string' ? name.name : '*'
}

function literalOf(node: Node | null): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type === 'TemplateElement') return (node.value as { cooked: string }).cooked
  return null
}

function worldUse(node: Node, parent: Node | null, key: string): string | null {
  if (node.type === 'NewExpression' && nameIn(node.callee) === 'Date') {
    return (node.arguments as unknown[]).length === 0 ? 'new Date()' : null
  }
  if (node.type === 'MemberExpression') {
    const object = nameIn(node.object)
    const property = nameIn(node.property)
    if (object === 'Date' && property === 'now') return 'Date.now'
    if (object === 'Math' && property === 'random') return 'Math.random'
    return object !== null && WORLD.has(object) ? `${object}.${property ?? '[…]'}` : null
  }
  if (node.type !== 'Identifier' || typeof node.name !== 'string' || !WORLD.has(node.name)) return null
  // A key, a property or a type of that name is no use of the global.
  const named = key === 'key' || key === 'property' || parent === null || parent.type.startsWith('TS')
  const counted = parent?.type === 'MemberExpression' && key === 'object'
  return named || counted ? null : node.name
}

function nameIn(value: unknown): string | null {
  const node = asNode(value)
  return node?.type === 'Identifier' && typeof node.name === 'string' ? node.name : null
}

function asNode(value: unknown): Node | null {
  return typeof value === 'object' && value !== null && 'type' in value ? (value as Node) : null
}

function walk(
  node: Node,
  parent: Node | null,
  key: string,
  visit: (node: Node, parent: Node | null, key: string) => void,
): void {
  visit(node, parent, key)
  for (const [name, value] of Object.entries(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      const next = asNode(child)
      if (next !== null) walk(next, node, name, visit)
    }
  }
}

/** Names of `export const a`, `export function a`, `export interface A`. */
function declaredBy(node: Node): string[] {
  if (node.type !== 'ExportNamedDeclaration') return []
  const declaration = asNode(node.declaration)
  if (declaration === null) return []
  const all =
    declaration.type === 'VariableDeclaration' ? (declaration.declarations as Node[]) : [declaration]
  return all.flatMap((one) => {
    const name: unknown = asNode(one.id)?.name
    return typeof name === 'string' ? [name] : []
  })
}
