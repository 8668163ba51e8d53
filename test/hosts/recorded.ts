/** What each program prints for one answer and for one error of its provider, in its own form but in words of ours. */
import type { ProgramName } from '../../cli/hosts/registry.ts'
import type { Act } from './fake-program.ts'

const lines = (...events: object[]) => `${events.map((event) => JSON.stringify(event)).join('\n')}\n`

export interface Recording {
  /** An answer in text, 300 tokens read and 60 written. */
  text: (text: string) => Act
  /** What `usd` says about such an answer. */
  usd: number | null
  /** An answer by the program's own means; null when it has none. */
  object: ((object: object) => Act) | null
  error: (message: string) => Act
}

const claude = (more: object) => ({
  print: lines(
    { type: 'system', subtype: 'init', tools: ['Read'] },
    { type: 'assistant', message: { content: [{ type: 'text', text: 'Working.' }] } },
    // An earlier result: with background work there are several, and the last has the sums.
    { type: 'result', subtype: 'success', is_error: false, result: 'Not yet.', total_cost_usd: 0.01 },
    {
      type: 'result',
      subtype: 'success',
      is_error: false,
      total_cost_usd: 0.25,
      usage: { input_tokens: 1, output_tokens: 1 },
      modelUsage: {
        large: {
          inputTokens: 150,
          outputTokens: 50,
          cacheReadInputTokens: 90,
          cacheCreationInputTokens: 10,
        },
        small: { inputTokens: 50, outputTokens: 10, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 },
      },
      ...more,
    },
  ),
})

const codexTurn = (text: string) =>
  lines(
    { type: 'thread.started', thread_id: 't' },
    { type: 'item.completed', item: { type: 'error', message: 'nothing is known about this model' } },
    { type: 'item.completed', item: { type: 'agent_message', text: 'Looking.' } },
    { type: 'item.completed', item: { type: 'command_execution', command: 'ls', exit_code: 0 } },
    { type: 'item.completed', item: { type: 'agent_message', text } },
    { type: 'turn.completed', usage: { input_tokens: 300, cached_input_tokens: 100, output_tokens: 60 } },
  )

const step = (tokens: object, cost: number) => ({ type: 'step_finish', part: { tokens, cost } })
const said = (messageID: string, text: string) => ({ type: 'text', part: { messageID, text } })

const piMessage = (content: object[], more: object = {}) => ({
  type: 'message_end',
  message: {
    role: 'assistant',
    content,
    usage: { input: 100, output: 30, cacheRead: 40, cacheWrite: 10, cost: { total: 0.5 } },
    stopReason: 'stop',
    ...more,
  },
})

const geminiStats = { input_tokens: 300, output_tokens: 60, total_tokens: 360 }

const qwen = (more: object) => ({
  print: lines(
    { type: 'system', subtype: 'init' },
    {
      type: 'result',
      subtype: 'success',
      is_error: false,
      usage: { input_tokens: 300, output_tokens: 60 },
      ...more,
    },
  ),
})

const COPILOT_USAGE = JSON.stringify({
  modelMetrics: {
    one: { usage: { inputTokens: 200, outputTokens: 40 } },
    two: { usage: { inputTokens: 100, outputTokens: 20 } },
  },
})

export const RECORDINGS: Record<ProgramName, Recording> = {
  'claude-code': {
    text: (result) => claude({ result }),
    usd: 0.25,
    object: (structured_output) => claude({ result: 'see the object', structured_output }),
    error: (message) => ({
      print: lines({
        type: 'result',
        subtype: 'success',
        is_error: true,
        result: `API Error: ${message}`,
        usage: { input_tokens: 0, output_tokens: 0 },
        total_cost_usd: 0,
      }),
      exit: 1,
    }),
  },
  codex: {
    text: (text) => ({ print: codexTurn(text) }),
    usd: null,
    object: (object) => ({ print: codexTurn(JSON.stringify(object)) }),
    error: (message) => ({
      print: lines(
        { type: 'turn.started' },
        { type: 'error', message },
        { type: 'turn.failed', error: { message: JSON.stringify({ error: { message } }) } },
      ),
      exit: 1,
    }),
  },
  copilot: {
    text: (content) => ({
      print: lines(
        { type: 'assistant.message_delta', data: { deltaContent: 'Look' } },
        { type: 'assistant.message', data: { content: 'Looking.', toolRequests: [{}] } },
        { type: 'assistant.message', data: { content } },
        { type: 'result', exitCode: 0, usage: { premiumRequests: 1 } },
      ),
      report: ['--usage-output-file', COPILOT_USAGE],
    }),
    usd: null,
    object: null,
    error: (message) => ({
      print: lines(
        { type: 'session.error', data: { errorType: 'query', message, statusCode: 400 } },
        { type: 'result', exitCode: 1 },
      ),
      exit: 1,
    }),
  },
  gemini: {
    text: (text) => ({
      print: lines(
        { type: 'init', model: 'm' },
        { type: 'message', role: 'user', content: 'the prompt' },
        { type: 'message', role: 'assistant', content: 'Looking.', delta: true },
        { type: 'tool_use', tool_name: 'glob' },
        { type: 'tool_result', status: 'success', output: 'a.txt' },
        { type: 'message', role: 'assistant', content: text.slice(0, 3), delta: true },
        { type: 'message', role: 'assistant', content: text.slice(3), delta: true },
        { type: 'result', status: 'success', stats: geminiStats },
      ),
      // Nobody has to believe it.
      exit: 144,
    }),
    usd: null,
    object: null,
    error: (message) => ({
      print: lines({
        type: 'result',
        status: 'error',
        error: { type: 'unknown', message: `[API Error: ${JSON.stringify({ error: { message } })}]` },
        stats: { input_tokens: 0, output_tokens: 0 },
      }),
      exit: 0,
    }),
  },
  opencode: {
    text: (text) => ({
      print: lines(
        said('m1', 'Looking.'),
        step({ input: 100, output: 20, reasoning: 10, cache: { read: 0, write: 0 } }, 0.5),
        said('m2', text.slice(0, 3)),
        said('m2', text.slice(3)),
        step({ input: 100, output: 30, reasoning: 0, cache: { read: 90, write: 10 } }, 0.25),
      ),
    }),
    usd: 0.75,
    object: null,
    error: (message) => ({
      print: lines({ type: 'error', error: { name: 'APIError', data: { message, statusCode: 400 } } }),
      exit: 1,
    }),
  },
  pi: {
    text: (text) => ({
      print: lines(
        { type: 'message_end', message: { role: 'user', content: [{ type: 'text', text: 'the prompt' }] } },
        { type: 'message_update', message: { content: 'a message while it grows' } },
        piMessage([
          { type: 'text', text: 'Looking.' },
          { type: 'toolCall', name: 'ls' },
        ]),
        piMessage([
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text },
        ]),
      ),
    }),
    usd: 1,
    object: null,
    error: (message) => ({
      print: lines(piMessage([], { stopReason: 'error', errorMessage: `400 ${message}` })),
      exit: 0,
    }),
  },
  qwen: {
    text: (result) => qwen({ result }),
    usd: null,
    object: (structured_result) => qwen({ result: '', structured_result }),
    error: (message) => qwen({ result: `[API Error: 400 ${message}]` }),
  },
}
