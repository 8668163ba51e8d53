/** What is wrong with a workflow script, as far as its text shows, all in one pass. Nothing is run. */
import type { Node, ObjectExpression, Program } from 'acorn'
import { type Issue, problemOf, type SourceText } from '../result/issues.ts'
import { ok, type Result } from '../result.ts'
import { literalObject, metaOf, NotLiteral, parseProgram, type ScriptMeta } from './meta.ts'
import {
  calleeOf,
  child,
  children,
  identifierName,
  isComputed,
  type NodeInTree,
  placedNodes,
} from './nodes.ts'
import { isModuleSyntax, loadScript, readsClock } from './script.ts'

// ---------------------------------------------------------------- names that a workflow script does not have, and what to do instead

const ASK = 'let an agent do it, and use its answer'
const TIMER = 'use setTimeout'
const COPY = 'JSON.parse(JSON.stringify(value)) copies plain data'
const INSTEAD: Readonly<Record<string, string>> = {
  require: ASK,
  process: `${ASK}, or pass it in args`,
  fetch: ASK,
  Buffer: ASK,
  crypto: ASK,
  URL: 'take the text apart with a regular expression',
  TextEncoder: ASK,
  TextDecoder: ASK,
  setInterval: `${TIMER} again at the end of each turn`,
  setImmediate: TIMER,
  queueMicrotask: 'await a resolved promise',
  structuredClone: COPY,
  performance: 'pass the time in args',
  WebAssembly: ASK,
  WeakRef: 'keep the object itself',
  FinalizationRegistry: 'keep the object itself',
  Atomics: 'a script has one thread',
  SharedArrayBuffer: 'a script has one thread',
  module: 'return the result',
  exports: 'return the result',
  __dirname: 'pass the path in args',
  __filename: 'pass the path in args',
  meta: 'put it in a constant of its own: meta is read, not run',
}

/** A use of a name that is not there. `bound`: names that the script declares itself. */
function globalIssue({ node, parent, key }: NodeInTree, bound: ReadonlySet<string>): Issue | null {
  const name = identifierName(node)
  if (name === null || bound.has(name) || !isReference(parent, key)) return null
  const { start: from, end: to } = node
  if (name === 'eval' || name === 'Function') {
    const message = `${name} throws in workflow scripts: no code is made from text`
    return called(parent, key) ? { from, to, message, hint: 'write a function' } : null
  }
  const hint = Object.hasOwn(INSTEAD, name) ? INSTEAD[name] : undefined
  return hint === undefined ? null : { from, to, message: `there is no ${name} in workflow scripts`, hint }
}

/** Not a property's name, and not merely looked for (`typeof process`). */
function isReference(parent: Node | null, key: string): boolean {
  if (parent === null) return false
  if (parent.type === 'UnaryExpression') return Reflect.get(parent, 'operator') !== 'typeof'
  if (key === 'property' || key === 'key') return isComputed(parent)
  return key !== 'label'
}

const called = (parent: Node | null, key: string): boolean =>
  key === 'callee' && (parent?.type === 'CallExpression' || parent?.type === 'NewExpression')

/** Every name that is declared anywhere in the script; scopes are not told apart. */
function boundNames(all: Iterable<NodeInTree>): Set<string> {
  const bound = new Set<string>()
  for (const { node } of all) {
    for (const pattern of [child(node, 'id'), child(node, 'param'), ...children(node, 'params')]) {
      if (pattern !== null) addNames(pattern, bound)
    }
  }
  return bound
}

function addNames(pattern: Node, bound: Set<string>): void {
  const name = identifierName(pattern)
  if (name !== null) bound.add(name)
  const parts = [
    child(pattern, 'argument'),
    child(pattern, 'left'),
    ...children(pattern, 'elements'),
    ...children(pattern, 'properties').map((property) => child(property, 'value') ?? property),
  ]
  for (const part of parts) if (part !== null) addNames(part, bound)
}

// ---------------------------------------------------------------- calls of the workflow API whose arguments show that they will throw, or be ignored

/** Compiles a schema as the hosts do; a problem says why one is refused. */
export type Compile = (schema: object) => Promise<Result<unknown>>

const STARTS_AGENTS = new Set(['agent', 'parallel', 'pipeline', 'workflow'])
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']

/** Issues of one call. `constants`: object literals by the name of the constant that holds them. */
async function callIssues(
  call: Node,
  constants: ReadonlyMap<string, ObjectExpression>,
  compile: Compile,
): Promise<Issue[]> {
  const [first, second] = children(call, 'arguments')
  switch (calleeOf(call)) {
    case 'parallel':
      return first === undefined ? [] : startedTooEarly(first)
    case 'agent':
      return second?.type === 'ObjectExpression' ? optionIssues(second, constants, compile) : []
    default:
      return []
  }
}

/** `parallel([agent(…)])` and `parallel(items.map((item) => agent(item)))` hand over promises. */
function startedTooEarly(list: Node): Issue[] {
  const started = [...children(list, 'elements'), ...mapped(list)].filter(startsAgent)
  return started.map((node) => ({
    from: node.start,
    to: node.end,
    message: 'parallel() takes functions; this is started at once, and gives a promise',
    hint: 'put () => before it',
  }))
}

/** What the function of `….map(…)` returns, when it is one expression. */
function mapped(list: Node): Node[] {
  const callee = list.type === 'CallExpression' ? child(list, 'callee') : null
  if (callee === null || identifierName(child(callee, 'property')) !== 'map') return []
  const [made] = children(list, 'arguments')
  const body = made?.type === 'ArrowFunctionExpression' ? child(made, 'body') : null
  return body === null ? [] : [body]
}

function startsAgent(node: Node): boolean {
  const call = node.type === 'AwaitExpression' ? child(node, 'argument') : node
  return call !== null && STARTS_AGENTS.has(calleeOf(call) ?? '')
}

async function optionIssues(
  options: Node,
  constants: ReadonlyMap<string, ObjectExpression>,
  compile: Compile,
): Promise<Issue[]> {
  const issues: Issue[] = []
  for (const property of children(options, 'properties')) {
    const value = child(property, 'value')
    if (value === null || isComputed(property)) continue
    const at = { from: value.start, to: value.end }
    const given: unknown = value.type === 'Literal' ? Reflect.get(value, 'value') : undefined
    switch (identifierName(child(property, 'key'))) {
      case 'schema': {
        const wrong = await schemaTrouble(value, constants, compile)
        const hint = 'use JSON Schema draft-07 without formats, allOf and if: hosts refuse those'
        if (wrong !== null) issues.push({ ...at, message: `the schema is refused: ${wrong}`, hint })
        break
      }
      case 'isolation':
        if (given === 'remote') {
          issues.push({
            ...at,
            message: "isolation 'remote' throws",
            hint: "leave it out, or use 'worktree'",
          })
        }
        break
      case 'effort':
        if (given !== undefined && !EFFORTS.includes(String(given))) {
          issues.push({
            ...at,
            message: `the effort ${JSON.stringify(given)} is ignored`,
            hint: `one of: ${EFFORTS.join(', ')}`,
          })
        }
        break
    }
  }
  return issues
}

/** What the validator says of a schema that is written out here, or in a constant; null when it holds or is computed. */
async function schemaTrouble(
  value: Node,
  constants: ReadonlyMap<string, ObjectExpression>,
  compile: Compile,
): Promise<string | null> {
  if (value.type === 'Literal') return Reflect.get(value, 'value') === null ? null : 'it must be an object'
  const object = isObjectNode(value) ? value : constants.get(identifierName(value) ?? '')
  if (object === undefined) return null
  let schema: object
  try {
    schema = literalObject(object)
  } catch (error) {
    if (error instanceof NotLiteral) return null
    throw error
  }
  const check = await compile(schema)
  return check.ok ? null : check.problem.message
}

const isObjectNode = (node: Node): node is ObjectExpression => node.type === 'ObjectExpression'

/**
 * The script's own words about itself, when nothing speaks against running it in any host. Fails with `bad_workflow`: the
 * first problem in the order of the text, the others in `more`.
 */
export async function checkScript(source: SourceText, compile: Compile): Promise<Result<ScriptMeta>> {
  const program = parseProgram(source.text)
  if (!program.ok) return { ok: false, problem: problemOf(source, [program.issue], 'bad_workflow') }
  const meta = metaOf(program.value)
  const issues = [...(meta.ok ? [] : [meta.issue]), ...(await bodyIssues(program.value, compile))]
  if (issues.length > 0) return { ok: false, problem: problemOf(source, issues, 'bad_workflow') }
  const loaded = loadScript(source.text, { file: source.file, inline: false })
  return loaded.ok ? ok(loaded.value.meta) : loaded
}

async function bodyIssues(program: Program, compile: Compile): Promise<Issue[]> {
  const all = program.body.flatMap((statement, at) =>
    at === 0 && isModuleSyntax(statement) ? [] : [...placedNodes(statement)],
  )
  const bound = boundNames(all)
  const constants = objectConstants(all)
  const issues: Issue[] = []
  for (const placed of all) {
    for (const issue of [moduleIssue(placed.node), readsClock(placed.node), globalIssue(placed, bound)]) {
      if (issue !== null) issues.push(issue)
    }
    if (calleeOf(placed.node) !== null) issues.push(...(await callIssues(placed.node, constants, compile)))
  }
  return issues
}

function moduleIssue(node: Node): Issue | null {
  const { start: from, end: to } = node
  if (node.type === 'ImportExpression') {
    const message = 'import() throws in workflow scripts'
    return { from, to, message, hint: 'a workflow script is one file: write the code into it' }
  }
  if (!isModuleSyntax(node)) return null
  const hint = node.type === 'ImportDeclaration' ? 'write the code into this file' : 'return the result'
  return {
    from,
    to,
    message: 'a workflow script is one file: only meta is exported, nothing is imported',
    hint,
  }
}

/** `const ANSWER = { type: 'object', … }` by name. */
function objectConstants(all: readonly NodeInTree[]): Map<string, ObjectExpression> {
  const constants = new Map<string, ObjectExpression>()
  for (const { node, parent } of all) {
    if (node.type !== 'VariableDeclarator' || Reflect.get(parent ?? {}, 'kind') !== 'const') continue
    const name = identifierName(child(node, 'id'))
    const value = child(node, 'init')
    if (name !== null && value !== null && isObjectNode(value)) constants.set(name, value)
  }
  return constants
}
