import {
  type ExportNamedDeclaration,
  type Expression,
  type Node,
  type ObjectExpression,
  type Program,
  type Property,
  parse,
  type SpreadElement,
} from 'acorn'
import type { Issue } from '../result/issues.ts'

/** Why a node of `meta` is not a pure literal, and which one; the message is shown to the author. */
export class NotLiteral extends Error {
  constructor(
    message: string,
    readonly node: Node,
  ) {
    super(message)
  }
}

const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])

/** The value of an object literal, read without running anything. Throws `NotLiteral`. */
export function literalObject(node: ObjectExpression): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const property of node.properties) value[keyOf(property)] = literal(propertyValue(property))
  return value
}

function keyOf(property: Property | SpreadElement): string {
  if (property.type !== 'Property') throw new NotLiteral('only plain properties allowed in meta', property)
  if (property.computed) throw new NotLiteral('computed keys not allowed in meta', property)
  if (property.kind !== 'init' || property.method || property.shorthand) {
    throw new NotLiteral('only plain properties allowed in meta', property)
  }
  const { key } = property
  const name =
    key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : unknownKey(key)
  if (RESERVED.has(name)) throw new NotLiteral(`reserved key name not allowed in meta: ${name}`, key)
  return name
}

function unknownKey(key: Node): never {
  throw new NotLiteral(`non-literal node type in meta: ${key.type}`, key)
}

function propertyValue(property: Property | SpreadElement): Expression {
  if (property.type !== 'Property') throw new NotLiteral('only plain properties allowed in meta', property)
  return property.value
}

function literal(node: Expression | SpreadElement): unknown {
  switch (node.type) {
    case 'Literal':
      if (node.regex || node.bigint) throw new NotLiteral('non-literal node type in meta: Literal', node)
      return node.value
    case 'TemplateLiteral': {
      if (node.expressions.length > 0)
        throw new NotLiteral('template interpolation not allowed in meta', node)
      return node.quasis[0]?.value.cooked ?? ''
    }
    case 'UnaryExpression': {
      const { argument, operator } = node
      if (operator === '-' && argument.type === 'Literal' && typeof argument.value === 'number') {
        return -argument.value
      }
      throw new NotLiteral('non-literal node type in meta: UnaryExpression', node)
    }
    case 'ArrayExpression':
      return node.elements.map((element) => {
        if (element === null) throw new NotLiteral('sparse arrays not allowed in meta', node)
        return literal(element)
      })
    case 'ObjectExpression':
      return literalObject(node)
    default:
      throw new NotLiteral(`non-literal node type in meta: ${node.type}`, node)
  }
}

export interface ScriptPhase {
  title: string
  detail?: string
  model?: string
}

/** What a script says about itself. Unknown keys are ignored. */
export interface ScriptMeta {
  name: string
  description: string
  title?: string
  whenToUse?: string
  phases: ScriptPhase[]
}

export interface ParsedScript {
  meta: ScriptMeta
  program: Program
  /** The `export const meta = …` statement: [start, end) in the source. */
  statement: [number, number]
}

/** What is wrong is an issue with its place in the source; its message is a host's own. */
export type ReadScript<T> = { ok: true; value: T } | { ok: false; issue: Issue }

/** Bytes of a script, in a file or not. */
export const MAX_SCRIPT_BYTES = 524_288

const NOT_FIRST =
  '`export const meta = { name, description, phases }` must be the FIRST statement in the script'
const PLAIN_JS =
  'Workflow scripts must be plain JavaScript — TypeScript syntax (type annotations like `: string[]`, interfaces, generics) fails to parse.'
const EXAMPLE = "export const meta = { name: 'my-workflow', description: 'what it does' }"

/** Reads `export const meta = {…}`, which must be the first statement and a pure literal; nothing is run. */
export function parseMeta(source: string): ReadScript<ParsedScript> {
  const program = parseProgram(source)
  if (!program.ok) return program
  const read = metaOf(program.value)
  return read.ok ? { ok: true, value: { ...read.value, program: program.value } } : read
}

export function parseProgram(source: string): ReadScript<Program> {
  if (Buffer.byteLength(source) > MAX_SCRIPT_BYTES) {
    const hint = 'pass long texts in args, or let agents read files'
    return refuse(`the script is larger than ${MAX_SCRIPT_BYTES} bytes`, { start: 0, end: 0 }, hint)
  }
  try {
    const program = parse(source, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    })
    return { ok: true, value: program }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const pos = error instanceof SyntaxError && 'pos' in error ? Number(error.pos) : 0
    const hint = 'write plain JavaScript, without types'
    return refuse(`Script parse error: ${message}. ${PLAIN_JS}`, { start: pos, end: pos + 1 }, hint)
  }
}

export function metaOf(program: Program): ReadScript<Omit<ParsedScript, 'program'>> {
  const first = program.body[0]
  const object = first?.type === 'ExportNamedDeclaration' ? metaObject(first) : null
  if (first === undefined || object === null) {
    return refuse(NOT_FIRST, first ?? { start: 0, end: 0 }, `begin with: ${EXAMPLE}`)
  }
  try {
    const meta = readMeta(literalObject(object), object)
    return meta.ok ? { ok: true, value: { meta: meta.value, statement: [first.start, first.end] } } : meta
  } catch (error) {
    if (!(error instanceof NotLiteral)) throw error
    const hint = 'write its value out: meta is read without running the script'
    return refuse(`meta must be a pure literal: ${error.message}`, error.node, hint)
  }
}

function metaObject(statement: ExportNamedDeclaration): ObjectExpression | null {
  const { declaration } = statement
  if (declaration?.type !== 'VariableDeclaration' || declaration.kind !== 'const') return null
  const [only, ...others] = declaration.declarations
  if (only === undefined || others.length > 0) return null
  if (only.id.type !== 'Identifier' || only.id.name !== 'meta') return null
  return only.init?.type === 'ObjectExpression' ? only.init : null
}

function readMeta(raw: Record<string, unknown>, object: ObjectExpression): ReadScript<ScriptMeta> {
  const { name, description, title, whenToUse } = raw
  const brace = { start: object.start, end: object.start + 1 }
  if (typeof name !== 'string' || name === '') {
    return refuse('meta.name must be a non-empty string', brace, `for example: ${EXAMPLE}`)
  }
  if (typeof description !== 'string' || description === '') {
    return refuse('meta.description must be a non-empty string', brace, `for example: ${EXAMPLE}`)
  }
  const phases = Array.isArray(raw.phases) ? raw.phases.flatMap(readPhase) : []
  const value = {
    name,
    description,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof whenToUse === 'string' ? { whenToUse } : {}),
    phases,
  }
  return { ok: true, value }
}

/** A phase that is not well formed is dropped, as the hosts do. */
function readPhase(raw: unknown): ScriptPhase[] {
  if (typeof raw !== 'object' || raw === null) return []
  const { title, detail, model } = raw as Record<string, unknown>
  if (typeof title !== 'string') return []
  return [
    {
      title,
      ...(typeof detail === 'string' ? { detail } : {}),
      ...(typeof model === 'string' ? { model } : {}),
    },
  ]
}

function refuse(
  message: string,
  { start, end }: { start: number; end: number },
  hint: string,
): { ok: false; issue: Issue } {
  return { ok: false, issue: { from: start, to: end, message, hint } }
}
