/** Reading a syntax tree without knowing every kind of node. */
import type { Node } from 'acorn'

/** A node with the one that holds it; `key` is the field there. */
export interface NodeInTree {
  node: Node
  parent: Node | null
  key: string
}

/** Every node of the tree, without recursion: sources may nest deeply. */
export function* placedNodes(root: Node): Generator<NodeInTree> {
  const stack: NodeInTree[] = [{ node: root, parent: null, key: '' }]
  for (let placed = stack.pop(); placed !== undefined; placed = stack.pop()) {
    yield placed
    const { node } = placed
    for (const [key, child] of Object.entries(node)) {
      for (const one of Array.isArray(child) ? child : [child]) {
        if (isNode(one)) stack.push({ node: one, parent: node, key })
      }
    }
  }
}

export function* nodes(root: Node): Generator<Node> {
  for (const { node } of placedNodes(root)) yield node
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** The child in that field, when it is a node. */
export function child(node: Node, name: string): Node | null {
  const value: unknown = Reflect.get(node, name)
  return isNode(value) ? value : null
}

export function children(node: Node, name: string): Node[] {
  const value: unknown = Reflect.get(node, name)
  return Array.isArray(value) ? value.filter(isNode) : []
}

export const isComputed = (node: Node): boolean => Reflect.get(node, 'computed') === true

/** The name of an identifier; null for every other node. */
export function identifierName(node: Node | null): string | null {
  const name: unknown = node?.type === 'Identifier' ? Reflect.get(node, 'name') : null
  return typeof name === 'string' ? name : null
}

/** `Date.now` of a plain member access; null for every other node. */
export function memberOf(node: Node): string | null {
  if (node.type !== 'MemberExpression' || isComputed(node)) return null
  const object = identifierName(child(node, 'object'))
  const property = identifierName(child(node, 'property'))
  return object === null || property === null ? null : `${object}.${property}`
}

/** What a script calls, when it is a plain name. */
export const calleeOf = (node: Node): string | null =>
  node.type === 'CallExpression' ? identifierName(child(node, 'callee')) : null
