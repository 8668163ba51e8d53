/**
 * Brings an answer into the shape that a caller asked for: the small part of JSON Schema that answers of agents
 * use (`type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `minItems`, `minimum`). Pure.
 */
import { isRecord } from '../../json.ts'

interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: unknown
  items?: Schema
  enum?: unknown[]
  const?: unknown
  minItems?: number
  minimum?: number
  anyOf?: Schema[]
  oneOf?: Schema[]
}

/**
 * `known` as far as the schema has a place for it, and the least value for whatever else is required. A list is
 * also what an object with one list in it stands for, when the schema asks for a list.
 */
export function shape(known: unknown, schema: object | null): unknown {
  return schema === null ? known : shaped(known, schema as Schema)
}

function shaped(known: unknown, schema: Schema): unknown {
  if (schema.enum || 'const' in schema) return allowed(known, schema) ? known : least(schema)
  const types = [schema.type ?? []].flat()
  if (types.length === 0 && !schema.properties) return known === undefined ? least(schema) : known
  if (Array.isArray(known) && types.includes('array')) {
    return known.map((item) => (schema.items ? shaped(item, schema.items) : item))
  }
  if (isRecord(known) && types.includes('array'))
    return shaped(Object.values(known).find(Array.isArray), schema)
  if (isRecord(known) && (types.includes('object') || schema.properties)) return fitObject(known, schema)
  return types.includes(typeOf(known)) || (typeOf(known) === 'integer' && types.includes('number'))
    ? known
    : least(schema)
}

function fitObject(known: Record<string, unknown>, schema: Schema): Record<string, unknown> {
  const properties = schema.properties ?? {}
  const out: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(known)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property) out[name] = shaped(value, property)
    else if (schema.additionalProperties !== false) out[name] = value
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(out, name)) out[name] = least(properties[name] ?? {})
  }
  return out
}

/** The least value that satisfies the schema. */
function least(schema: Schema): unknown {
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0]
  if (choice) return least(choice)
  const types = [schema.type ?? (schema.properties ? 'object' : [])].flat()
  if (types.includes('null') || types.length === 0) return null
  switch (types[0]) {
    case 'object':
      return fitObject({}, schema)
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => least(schema.items ?? {}))
    case 'string':
      return ''
    case 'boolean':
      return false
    default:
      return schema.minimum ?? 0
  }
}

function allowed(value: unknown, schema: Schema): boolean {
  return 'const' in schema ? schema.const === value : (schema.enum ?? []).includes(value)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
