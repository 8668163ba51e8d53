import { type ExportNamedDeclaration, type ObjectExpression, type Program, parse } from 'acorn'
import { fail, ok, type Result } from '../result.ts'
import { literalObject, NotLiteral } from './literal.ts'

export interface Phase {
  title: string
  detail?: string
  model?: string
}

/** What a script says about itself. Unknown keys are ignored. */
export interface Meta {
  name: string
  description: string
  title?: string
  whenToUse?: string
  phases: Phase[]
}

export interface ParsedScript {
  meta: Meta
  program: Program
  /** The `export const meta = …` statement: [start, end) in the source. */
  statement: [number, number]
}

/** Bytes of a script, in a file or not. */
export const MAX_SCRIPT_BYTES = 524_288

const NOT_FIRST =
  '`export const meta = { name, description, phases }` must be the FIRST statement in the script'
const PLAIN_JS =
  'Workflow scripts must be plain JavaScript — TypeScript syntax (type annotations like `: string[]`, interfaces, generics) fails to parse.'

/** Reads `export const meta = {…}`, which must be the first statement and a pure literal; nothing is run. */
export function parseMeta(source: string): Result<ParsedScript> {
  if (Buffer.byteLength(source) > MAX_SCRIPT_BYTES) {
    return refuse(`the script is larger than ${MAX_SCRIPT_BYTES} bytes`)
  }
  let program: Program
  try {
    program = parse(source, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
    })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return refuse(`Script parse error: ${message}. ${PLAIN_JS}`)
  }
  const first = program.body[0]
  const object = first?.type === 'ExportNamedDeclaration' ? metaObject(first) : null
  if (first === undefined || object === null) return refuse(NOT_FIRST)
  try {
    const meta = readMeta(literalObject(object))
    return meta.ok ? ok({ meta: meta.value, program, statement: [first.start, first.end] }) : meta
  } catch (error) {
    if (error instanceof NotLiteral) return refuse(`meta must be a pure literal: ${error.message}`)
    throw error
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

function readMeta(raw: Record<string, unknown>): Result<Meta> {
  const { name, description, title, whenToUse } = raw
  if (typeof name !== 'string' || name === '') return refuse('meta.name must be a non-empty string')
  if (typeof description !== 'string' || description === '') {
    return refuse('meta.description must be a non-empty string')
  }
  const phases = Array.isArray(raw.phases) ? raw.phases.flatMap(readPhase) : []
  return ok({
    name,
    description,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof whenToUse === 'string' ? { whenToUse } : {}),
    phases,
  })
}

/** A phase that is not well formed is dropped, as the hosts do. */
function readPhase(raw: unknown): Phase[] {
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

function refuse(message: string) {
  return fail({ kind: 'usage', code: 'bad_workflow', message })
}
