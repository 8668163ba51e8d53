/** Claude Code, headless: `claude -p`. */
import { isRecord, type JsonObject } from '../json.ts'
import type { Usage } from '../ledger/events.ts'
import { UNKNOWN_USAGE } from './host.ts'
import { at, numberAt, sumOf, textAt } from './json.ts'
import { type ProgramAnswer, type ProgramCall, programHost, type Vendor } from './program.ts'
import { READING_VERBS } from './rights.ts'

const vendor: Vendor = {
  name: 'claude-code',
  program: 'claude',
  takes: () => true,
  invoke: (order) => ({
    args: [
      '-p',
      '--output-format',
      'stream-json',
      '--verbose',
      '--no-session-persistence',
      ...(order.model === null ? [] : ['--model', order.model]),
      ...(order.effort === null ? [] : ['--effort', order.effort]),
      ...(order.schema === null ? [] : ['--json-schema', JSON.stringify(order.schema)]),
      ...order.folders.flatMap((folder) => ['--add-dir', folder]),
      ...permissions(order),
    ],
    env: environment(order.env),
  }),
  read,
}

export const claudeCode = programHost(vendor)

function permissions({ rights, web }: ProgramCall): string[] {
  if (rights === 'all') return ['--dangerously-skip-permissions']
  const allowed = ['Read', 'Grep', 'Glob', ...READING_VERBS.map((verb) => `Bash(assay ${verb}:*)`)]
  if (web) allowed.push('WebSearch', 'WebFetch')
  const mode = rights === 'edit' ? 'acceptEdits' : 'dontAsk'
  return ['--permission-mode', mode, '--allowedTools', allowed.join(',')]
}

/** Of a session that we run in ourselves; with them the new one would take itself for its child. */
const OF_OUTER_SESSION = new Set([
  'CLAUDECODE',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_CODE_CHILD_SESSION',
  'CLAUDE_CODE_ENTRYPOINT',
])

function environment(env: Record<string, string>): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !OF_OUTER_SESSION.has(name))),
    // It would end its own background work after ten minutes, and still exit with 0.
    CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS: '0',
    // An agent of a workflow starts none of its own.
    CLAUDE_CODE_DISABLE_WORKFLOWS: '1',
    DISABLE_AUTOUPDATER: '1',
  }
}

/** With background work there are several results; the last one has the sums. */
function read(events: JsonObject[]): ProgramAnswer {
  const result = events.findLast((event) => event.type === 'result')
  if (result === undefined) return { text: null, trouble: null, usage: UNKNOWN_USAGE }
  const usage = usageOf(result)
  const text = textAt(result, 'result')
  // An error of the provider has `subtype: success`.
  if (result.is_error === true || result.subtype !== 'success') {
    return { text: null, trouble: text || errorsOf(result) || String(result.subtype), usage }
  }
  const object = result.structured_output
  return { text, trouble: null, usage, ...(isRecord(object) ? { object } : {}) }
}

const errorsOf = ({ errors }: JsonObject): string =>
  Array.isArray(errors) ? errors.map(String).join('; ') : ''

/** `usage` is the main loop's alone; `modelUsage` has the subagents, too. What was read from a cache counts as read. */
function usageOf(result: JsonObject): Usage {
  const models = Object.values(isRecord(result.modelUsage) ? result.modelUsage : {})
  const own = at(result, 'usage')
  return {
    tokens_in:
      models.length > 0
        ? sumOf(
            ...models.flatMap((model) =>
              ['inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'].map((key) =>
                numberAt(model, key),
              ),
            ),
          )
        : sumOf(
            ...['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'].map((key) =>
              numberAt(own, key),
            ),
          ),
    tokens_out:
      models.length > 0
        ? sumOf(...models.map((model) => numberAt(model, 'outputTokens')))
        : numberAt(own, 'output_tokens'),
    usd: numberAt(result, 'total_cost_usd'),
  }
}
