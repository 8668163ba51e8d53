/** Names that a workflow script does not have, and what to do instead. */
import type { Node } from 'acorn'
import type { Issue } from '../spec/diagnose.ts'
import { child, children, isComputed, nameOf, type Placed } from './nodes.ts'

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
export function globalIssue({ node, parent, key }: Placed, bound: ReadonlySet<string>): Issue | null {
  const name = nameOf(node)
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
export function boundNames(all: Iterable<Placed>): Set<string> {
  const bound = new Set<string>()
  for (const { node } of all) {
    for (const pattern of [child(node, 'id'), child(node, 'param'), ...children(node, 'params')]) {
      if (pattern !== null) addNames(pattern, bound)
    }
  }
  return bound
}

function addNames(pattern: Node, bound: Set<string>): void {
  const name = nameOf(pattern)
  if (name !== null) bound.add(name)
  const parts = [
    child(pattern, 'argument'),
    child(pattern, 'left'),
    ...children(pattern, 'elements'),
    ...children(pattern, 'properties').map((property) => child(property, 'value') ?? property),
  ]
  for (const part of parts) if (part !== null) addNames(part, bound)
}
