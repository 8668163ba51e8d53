import type { Expression, Node, ObjectExpression, Property, SpreadElement } from 'acorn'

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
