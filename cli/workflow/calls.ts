/** Calls of the workflow API whose arguments show that they will throw, or be ignored. */
import type { Node, ObjectExpression } from 'acorn'
import { answerCheck } from '../hosts/answer.ts'
import type { Issue } from '../spec/diagnose.ts'
import { literalObject, NotLiteral } from './literal.ts'
import { calleeOf, child, children, isComputed, nameOf } from './nodes.ts'

const STARTS_AGENTS = new Set(['agent', 'parallel', 'pipeline', 'workflow'])
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max']

/** Issues of one call. `constants`: object literals by the name of the constant that holds them. */
export async function callIssues(
  call: Node,
  constants: ReadonlyMap<string, ObjectExpression>,
): Promise<Issue[]> {
  const [first, second] = children(call, 'arguments')
  switch (calleeOf(call)) {
    case 'parallel':
      return first === undefined ? [] : startedTooEarly(first)
    case 'agent':
      return second?.type === 'ObjectExpression' ? optionIssues(second, constants) : []
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
  if (callee === null || nameOf(child(callee, 'property')) !== 'map') return []
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
): Promise<Issue[]> {
  const issues: Issue[] = []
  for (const property of children(options, 'properties')) {
    const value = child(property, 'value')
    if (value === null || isComputed(property)) continue
    const at = { from: value.start, to: value.end }
    const given: unknown = value.type === 'Literal' ? Reflect.get(value, 'value') : undefined
    switch (nameOf(child(property, 'key'))) {
      case 'schema': {
        const wrong = await schemaTrouble(value, constants)
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
): Promise<string | null> {
  if (value.type === 'Literal') return Reflect.get(value, 'value') === null ? null : 'it must be an object'
  const object = isObject(value) ? value : constants.get(nameOf(value) ?? '')
  if (object === undefined) return null
  let schema: object
  try {
    schema = literalObject(object)
  } catch (error) {
    if (error instanceof NotLiteral) return null
    throw error
  }
  const check = await answerCheck(schema)
  return check.ok ? null : check.problem.message
}

export const isObject = (node: Node): node is ObjectExpression => node.type === 'ObjectExpression'
