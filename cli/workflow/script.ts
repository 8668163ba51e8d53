import { Script } from 'node:vm'
import type { Node } from 'acorn'
import { fail, ok, type Result } from '../result.ts'
import { type Meta, type ParsedScript, parseMeta } from './meta.ts'
import type { Runnable } from './protocol.ts'

export interface LoadedScript {
  meta: Meta
  runnable: Runnable
}

/** Six letters like `import`, so that columns stay true; no author writes it. */
const IMPORT = 'ımport'

/** Errors of the script's own text; `at` is the position when there is one. */
const NONDETERMINISTIC =
  'Workflow scripts must be deterministic: Date.now()/Math.random()/new Date() are unavailable (breaks resume). Stamp results after the workflow returns, or pass timestamps via args.'

/**
 * Checks a script and wraps its body as a strict-mode async function. Nothing is run. `inline` scripts (typed by an agent,
 * not in a file) are also scanned for hidden characters and, even in dead code, for clock and randomness.
 */
export function loadScript(source: string, options: { file: string; inline: boolean }): Result<LoadedScript> {
  const parsed = parseMeta(source)
  if (!parsed.ok) return parsed
  const { meta, program } = parsed.value
  if (options.inline) {
    const hidden = hiddenCharacter(source)
    if (hidden !== null) return refuse('hidden_character', `the script holds the hidden character ${hidden}`)
    if (mentionsClock(program)) return refuse('nondeterministic', NONDETERMINISTIC)
  }
  const code = wrap(source, parsed.value)
  try {
    new Script(code, { filename: options.file, columnOffset: -PREFIX.length })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return refuse(
      'bad_workflow',
      `Workflow script has a syntax error and was not launched:\nSyntaxError: ${message}`,
    )
  }
  return ok({ meta, runnable: { name: meta.name, file: options.file, code, offset: PREFIX.length } })
}

/** The messages that come from the launch itself are complete; the rest say that the script is invalid. */
export function launchError(problem: { code: string; message: string }): string {
  const own = problem.code === 'nondeterministic' || problem.message.startsWith('Workflow script has')
  return own ? problem.message : `Invalid workflow script: ${problem.message}`
}

const PREFIX = `(${IMPORT}) => async () => { 'use strict'; `

/** Lines and columns stay those of the source: meta becomes blanks, `import(` a function that throws. */
function wrap(source: string, script: ParsedScript): string {
  const [start, end] = script.statement
  let body = source.slice(0, start) + source.slice(start, end).replace(/[^\n]/g, ' ') + source.slice(end)
  for (const node of nodes(script.program)) {
    if (node.type !== 'ImportExpression') continue
    body = body.slice(0, node.start) + IMPORT + body.slice(node.start + IMPORT.length)
  }
  return `${PREFIX}${body.replace(/^#!/, '//')}\n}`
}

function mentionsClock(program: Node): boolean {
  for (const node of nodes(program)) {
    if (node.type === 'NewExpression' && isName(node, 'callee', 'Date')) {
      if (field(node, 'arguments', Array.isArray)?.length === 0) return true
    }
    if (node.type === 'MemberExpression' && field(node, 'computed', isTrue) === undefined) {
      if (isName(node, 'object', 'Date') && isName(node, 'property', 'now')) return true
      if (isName(node, 'object', 'Math') && isName(node, 'property', 'random')) return true
    }
  }
  return false
}

/** Every node of the tree, without recursion: sources may nest deeply. */
function* nodes(root: Node): Generator<Node> {
  const stack: Node[] = [root]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    yield node
    for (const child of Object.values(node)) {
      if (Array.isArray(child)) stack.push(...child.filter(isNode))
      else if (isNode(child)) stack.push(child)
    }
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
const isTrue = (value: unknown): value is true => value === true

function field<T>(node: Node, name: string, is: (value: unknown) => value is T): T | undefined {
  const value: unknown = Reflect.get(node, name)
  return is(value) ? value : undefined
}
function isName(node: Node, name: string, expected: string): boolean {
  const child = field(node, name, isNode)
  return child?.type === 'Identifier' && Reflect.get(child, 'name') === expected
}

/** Control characters but tab and newline, and the marks that reorder or hide text. */
function hiddenCharacter(source: string): string | null {
  const match =
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]/.exec(source)
  return match === null ? null : `U+${match[0].charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`
}

function refuse(code: string, message: string) {
  return fail({ kind: 'usage', code, message })
}
