/** Qwen Code, headless. */
import { isRecord, type JsonObject } from '../json.ts'
import { at, numberAt, textAt } from './json.ts'
import { type ProgramAnswer, type ProgramCall, programHost, type Vendor } from './program.ts'
import { READING_VERBS } from './rights.ts'

const SCHEMA = 'schema.json'

const vendor: Vendor = {
  name: 'qwen',
  program: 'qwen',
  takes: () => true,
  invoke: (order) => ({
    args: [
      '--output-format',
      'stream-json',
      ...(order.model === null ? [] : ['--model', order.model]),
      ...(order.schema === null ? [] : ['--json-schema', `@${order.file(SCHEMA)}`]),
      ...order.folders.flatMap((folder) => ['--include-directories', folder]),
      ...permissions(order),
    ],
    env: order.env,
    ...(order.schema === null ? {} : { files: { [SCHEMA]: JSON.stringify(order.schema) } }),
  }),
  read,
}

export const qwen = programHost(vendor)

function permissions({ rights, web }: ProgramCall): string[] {
  if (rights === 'all') return ['--approval-mode', 'yolo']
  const allowed = READING_VERBS.map((verb) => `run_shell_command(assay ${verb})`)
  if (web) allowed.push('web_fetch')
  const mode = rights === 'edit' ? 'auto-edit' : 'default'
  return ['--approval-mode', mode, ...allowed.flatMap((tool) => ['--allowed-tools', tool])]
}

/**
 * An error of the provider is a successful result with exit 0, and its text says so; with a schema the result complains of
 * a missing call instead, and only the last message says it.
 */
function read(events: JsonObject[]): ProgramAnswer {
  const result = events.findLast((event) => event.type === 'result')
  const usage = {
    tokens_in: numberAt(result, 'usage', 'input_tokens'),
    tokens_out: numberAt(result, 'usage', 'output_tokens'),
    usd: null,
  }
  if (result === undefined) return { text: null, trouble: null, usage }
  const text = textAt(result, 'result')
  const object = result.structured_result
  if (isRecord(object)) return { text, object, trouble: null, usage }
  const said = text ?? lastText(events)
  if (said?.startsWith('[API Error:')) return { text: null, trouble: said, usage }
  if (result.is_error !== true && result.subtype === 'success') return { text, trouble: null, usage }
  // A model that did not call the tool may have answered in words.
  if (said !== null && said !== '') return { text: said, trouble: null, usage }
  return { text: null, trouble: textAt(result, 'error', 'message') ?? String(result.subtype), usage }
}

function lastText(events: JsonObject[]): string | null {
  const content = at(
    events.findLast((event) => event.type === 'assistant'),
    'message',
    'content',
  )
  return Array.isArray(content) ? content.map((part) => textAt(part, 'text') ?? '').join('') : null
}
