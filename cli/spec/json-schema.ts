import type { Key, Kind, Shape } from './kind.ts'
import { SPEC } from './schema.ts'

type Json = Record<string, unknown>

/**
 * The declaration as JSON Schema (draft-07), for editors. It accepts exactly what `readSpec` accepts, except for
 * what JSON Schema cannot say: that regular expressions compile and have one group, that the names of gates differ,
 * and that `min` is below `max`.
 */
export function specJsonSchema(): Json {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Assay spec (assay.yaml)',
    ...schemaOf(SPEC),
  }
}

function schemaOf(kind: Kind): Json {
  switch (kind.is) {
    case 'text':
      return {
        type: 'string',
        ...(kind.empty ? {} : { minLength: 1 }),
        ...(kind.pattern === null ? {} : { pattern: kind.pattern }),
      }
    case 'number':
      return {
        type: kind.whole ? 'integer' : 'number',
        ...(kind.min === null ? {} : { [kind.above ? 'exclusiveMinimum' : 'minimum']: kind.min }),
        ...(kind.max === null ? {} : { maximum: kind.max }),
      }
    case 'boolean':
      return { type: 'boolean' }
    case 'choice':
      return { type: 'string', enum: kind.values }
    case 'list':
      return {
        type: 'array',
        items: schemaOf(kind.of),
        ...(kind.least === 0 ? {} : { minItems: kind.least }),
      }
    case 'map':
      return {
        type: 'object',
        propertyNames: { pattern: kind.names },
        additionalProperties: schemaOf(kind.of),
      }
    case 'either':
      return { anyOf: kind.of.map(schemaOf) }
    case 'keys':
      return objectOf(kind)
  }
}

function objectOf({ keys, also }: Extract<Shape, { is: 'keys' }>): Json {
  const present = Object.entries(keys).filter(([, key]) => key.presence !== 'later')
  const required = present
    .filter(([, key]) => key.presence === 'required' && key.unless === undefined)
    .map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(present.map(([name, key]) => [name, propertyOf(key)])),
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    ...(also === null ? {} : { allOf: [also] }),
  }
}

function propertyOf(key: Key): Json {
  return {
    description: key.doc,
    ...schemaOf(key.kind),
    ...(key.presence === 'default' ? { default: key.written } : {}),
  }
}
