/** GitHub Copilot CLI, headless. */
import { isRecord, type JsonObject, parseJson } from '../json.ts'
import { numberAt, sumOf, textAt } from './json.ts'
import { type ProgramAnswer, type ProgramCall, programHost, type Vendor } from './program.ts'

const USAGE = 'usage.json'

const vendor: Vendor = {
  name: 'copilot',
  program: 'copilot',
  takes: () => false,
  invoke: (order) => ({
    args: [
      '--output-format',
      'json',
      '--no-color',
      '--no-auto-update',
      '--no-ask-user',
      '--usage-output-file',
      order.file(USAGE),
      ...(order.model === null ? [] : ['--model', order.model]),
      ...(order.effort === null ? [] : ['--reasoning-effort', order.effort]),
      ...order.folders.flatMap((folder) => ['--add-dir', folder]),
      ...permissions(order),
    ],
    env: order.env,
  }),
  noise: ['{"type":"assistant.message_delta"', '{"type":"session.background_tasks_changed"'],
  read,
}

export const copilot = programHost(vendor)

/** Its rules for the shell know whole programs only, so all of the CLI is allowed or nothing. */
function permissions({ rights, web }: ProgramCall): string[] {
  if (rights === 'all') return ['--allow-all']
  return [
    '--allow-tool=shell(assay:*)',
    rights === 'edit' ? '--allow-tool=write' : '--deny-tool=write',
    ...(web ? ['--allow-all-urls'] : []),
  ]
}

/** Its events have no tokens; a file of its own has. */
function read(events: JsonObject[], _order: unknown, file: (name: string) => string | null): ProgramAnswer {
  const report = parseJson(file(USAGE) ?? '')
  const models = Object.values(isRecord(report) && isRecord(report.modelMetrics) ? report.modelMetrics : {})
  const tokens = (...keys: string[]) =>
    sumOf(...models.flatMap((model) => keys.map((key) => numberAt(model, 'usage', key))))
  const usage = { tokens_in: tokens('inputTokens'), tokens_out: tokens('outputTokens'), usd: null }
  const error = events.findLast((event) => event.type === 'session.error')
  if (error !== undefined) {
    const status = numberAt(error, 'data', 'statusCode')
    const message = textAt(error, 'data', 'message') ?? 'an error'
    return { text: null, trouble: status === null ? message : `${status}: ${message}`, usage }
  }
  const last = events.findLast(
    (event) => event.type === 'assistant.message' && (textAt(event, 'data', 'content') ?? '') !== '',
  )
  return { text: textAt(last, 'data', 'content'), trouble: null, usage }
}
