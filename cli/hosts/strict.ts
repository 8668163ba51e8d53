/** Providers that hold an answer to a schema take only closed objects whose properties are all required. */
import { isJson } from './json.ts'

/** What cannot be said in such a schema, or is refused there. */
const UNSUPPORTED = [
  '$ref',
  'oneOf',
  'allOf',
  'not',
  'if',
  'patternProperties',
  'propertyNames',
  'dependencies',
]

/**
 * The schema with every object closed and every property required; one that was optional may be null instead. null when
 * the schema says something that cannot be said so, an object with free keys for example.
 */
export function strictSchema(schema: unknown): object | null {
  if (!isJson(schema) || UNSUPPORTED.some((key) => key in schema)) return null
  if (isJson(schema.items)) {
    const items = strictSchema(schema.items)
    return items && { ...schema, items }
  }
  if (schema.type !== 'object' && !isJson(schema.properties)) return 'type' in schema ? schema : null
  if (!isJson(schema.properties)) return null
  const required = requiredOf(schema)
  const properties: Record<string, object> = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const strict = strictSchema(property)
    if (strict === null) return null
    properties[name] = required.has(name) ? strict : { anyOf: [strict, { type: 'null' }] }
  }
  return {
    ...schema,
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

/** An answer to the strict form as an answer to the schema itself: a null of an optional property is an absent one. */
export function withoutNulls(value: unknown, schema: unknown): unknown {
  if (Array.isArray(value)) {
    const items = isJson(schema) ? schema.items : undefined
    return value.map((item) => withoutNulls(item, items))
  }
  if (!isJson(value) || !isJson(schema) || !isJson(schema.properties)) return value
  const { properties } = schema
  const required = requiredOf(schema)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => item !== null || required.has(name) || !(name in properties))
      .map(([name, item]) => [name, withoutNulls(item, properties[name])]),
  )
}

const requiredOf = (schema: Record<string, unknown>): Set<unknown> =>
  new Set(Array.isArray(schema.required) ? schema.required : [])
