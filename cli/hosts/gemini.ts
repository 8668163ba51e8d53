/** Gemini CLI, headless. */
import type { JsonObject } from '../json.ts'
import { numberAt, textAt } from './json.ts'
import { type ProgramAnswer, type ProgramCall, programHost, type Vendor } from './program.ts'
import { READING_VERBS } from './rights.ts'

const POLICY = 'policy.toml'

const vendor: Vendor = {
  name: 'gemini',
  program: 'gemini',
  takes: () => false,
  invoke: (order) => ({
    args: [
      '--output-format',
      'stream-json',
      // A worktree is a new folder, and in an untrusted one no tool may be allowed.
      '--skip-trust',
      ...(order.model === null ? [] : ['--model', order.model]),
      ...order.folders.flatMap((folder) => ['--include-directories', folder]),
      ...permissions(order),
    ],
    env: order.env,
    ...(order.rights === 'all' ? {} : { files: { [POLICY]: policy(order) } }),
  }),
  read,
}

export const gemini = programHost(vendor)

function permissions({ rights, file }: ProgramCall): string[] {
  if (rights === 'all') return ['--approval-mode', 'yolo']
  const mode = rights === 'edit' ? 'auto_edit' : 'default'
  return ['--approval-mode', mode, '--policy', file(POLICY)]
}

/** Without a terminal everything else that it would ask about is denied. */
function policy({ web }: ProgramCall): string {
  const commands = READING_VERBS.map((verb) => JSON.stringify(`assay ${verb}`)).join(', ')
  return `[[rule]]
toolName = "run_shell_command"
commandPrefix = [${commands}]
decision = "allow"
priority = 900

[[rule]]
toolName = ["google_web_search", "web_fetch"]
decision = "${web ? 'allow' : 'deny'}"
priority = 900
`
}

/** Its exit code is the provider's status modulo 256, so 512 would pass for success: the result tells. */
function read(events: JsonObject[]): ProgramAnswer {
  const result = events.findLast((event) => event.type === 'result')
  const usage = {
    tokens_in: numberAt(result, 'stats', 'input_tokens'),
    tokens_out: numberAt(result, 'stats', 'output_tokens'),
    usd: null,
  }
  if (result !== undefined && result.status !== 'success') {
    return { text: null, trouble: textAt(result, 'error', 'message') ?? String(result.status), usage }
  }
  // The last message comes in pieces, after the last tool.
  const begin = events.findLastIndex((event) => event.type === 'tool_result' || event.role === 'user')
  const text = events
    .slice(begin + 1)
    .filter((event) => event.type === 'message' && event.role === 'assistant')
    .map((event) => textAt(event, 'content') ?? '')
    .join('')
  return { text: result === undefined || text === '' ? null : text, trouble: null, usage }
}
