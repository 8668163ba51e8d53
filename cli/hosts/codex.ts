/** Codex, headless: `codex exec`. */
import { type Json, numberAt, parseJson, sumOf, textAt } from './json.ts'
import { type Order, programHost, type Reading, type Vendor } from './program.ts'
import { strictSchema, withoutNulls } from './strict.ts'

const SCHEMA = 'schema.json'

const vendor: Vendor = {
  name: 'codex',
  program: 'codex',
  usage: 'reported',
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

function permissions({ rights, web, folders }: Order): string[] {
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
function read(events: Json[], { schema }: { schema: object | null }): Reading {
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
