/** Codex, headless: `codex exec`. */
import { isRecord, type JsonObject, parseJson } from '../json.ts'
import { numberAt, sumOf, textAt } from './json.ts'
import { type ProgramAnswer, type ProgramCall, programHost, type Vendor } from './program.ts'

const SCHEMA = 'schema.json'

const vendor: Vendor = {
  name: 'codex',
  program: 'codex',
  takes: (schema) => strictSchema(schema) !== null,
  invoke: (order) => ({
    args: [
      'exec',
      '--json',
      '--color',
      'never',
      '--ephemeral',
      '--skip-git-repo-check',
      ...(order.model === null ? [] : ['--model', order.model]),
      ...(order.effort === null ? [] : ['-c', `model_reasoning_effort=${JSON.stringify(order.effort)}`]),
      ...(order.schema === null ? [] : ['--output-schema', order.file(SCHEMA)]),
      ...permissions(order),
      '-',
    ],
    env: order.env,
    ...(order.schema === null ? {} : { files: { [SCHEMA]: JSON.stringify(strictSchema(order.schema)) } }),
  }),
  read,
  obstacle: (env) =>
    env.CODEX_SANDBOX_NETWORK_DISABLED === '1'
      ? "codex cannot reach its model from inside codex's own sandbox, which has no network: run assay loop in a terminal of your own, or let the outer codex run it outside of its sandbox"
      : null,
}

export const codex = programHost(vendor)

function permissions({ rights, web, folders }: ProgramCall): string[] {
  if (rights === 'all') return ['--dangerously-bypass-approvals-and-sandbox']
  return [
    '--sandbox',
    rights === 'edit' ? 'workspace-write' : 'read-only',
    '-c',
    'approval_policy="never"',
    '-c',
    `web_search="${web ? 'live' : 'disabled'}"`,
    ...(rights === 'edit' ? folders.flatMap((folder) => ['--add-dir', folder]) : []),
  ]
}

/** An item of type `error` may be a mere remark: only a failed turn is a failure. */
function read(events: JsonObject[], { schema }: { schema: object | null }): ProgramAnswer {
  const turns = events.filter((event) => event.type === 'turn.completed').map((event) => event.usage)
  const usage = {
    tokens_in: sumOf(...turns.map((turn) => numberAt(turn, 'input_tokens'))),
    tokens_out: sumOf(...turns.map((turn) => numberAt(turn, 'output_tokens'))),
    usd: null,
  }
  const failed = events.findLast((event) => event.type === 'turn.failed' || event.type === 'error')
  const last = events.findLast((event) => textAt(event, 'item', 'type') === 'agent_message')
  if (failed !== undefined && turns.length === 0) {
    const message = textAt(failed, 'error', 'message') ?? textAt(failed, 'message') ?? 'the turn failed'
    return { text: null, trouble: textAt(parseJson(message), 'error', 'message') ?? message, usage }
  }
  const text = last === undefined ? null : textAt(last, 'item', 'text')
  const object = schema === null || text === null ? undefined : parseJson(text)
  if (typeof object !== 'object' || object === null) return { text, trouble: null, usage }
  return { text, trouble: null, usage, object: withoutNulls(object, schema) }
}

// ----------------------------------------------------------------
// Providers that hold an answer to a schema take only closed objects whose properties are all required.

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
  if (!isRecord(schema) || UNSUPPORTED.some((key) => key in schema)) return null
  if (isRecord(schema.items)) {
    const items = strictSchema(schema.items)
    return items && { ...schema, items }
  }
  if (schema.type !== 'object' && !isRecord(schema.properties)) return 'type' in schema ? schema : null
  if (!isRecord(schema.properties)) return null
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
    const items = isRecord(schema) ? schema.items : undefined
    return value.map((item) => withoutNulls(item, items))
  }
  if (!isRecord(value) || !isRecord(schema) || !isRecord(schema.properties)) return value
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
