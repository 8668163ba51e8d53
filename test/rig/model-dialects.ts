/** The four wire formats that agent programs speak, as far as a text or one tool call needs. */
/** One request, whatever format it came in. */
export interface Ask {
  model: string
  system: string
  turns: { from: 'user' | 'model' | 'tool'; text: string }[]
  /** Names of the tools on offer; none in the small requests that programs make for titles and the like. */
  tools: string[]
  /** As it was sent. */
  body: Body
}

export type Body = Record<string, unknown>

export type Said = { text: string } | { tool: string; input: Record<string, unknown> }
export type Reply = Said | { status: number; message: string }

/** Tokens that each reply says it took. */
export const TOKENS = { in: 100, out: 20 }

interface Event {
  name: string | null
  data: unknown
}

interface Dialect {
  read(body: Body, path: string): Ask
  whole(said: Said, ask: Ask): unknown
  stream(said: Said, ask: Ask): Event[]
  error(status: number, message: string): unknown
}

export function dialectOf(path: string): Dialect | null {
  if (path.endsWith('/messages')) return messages
  if (path.endsWith('/responses')) return responses
  if (path.endsWith('/chat/completions')) return chat
  return /:(stream)?generatecontent$/i.test(path) ? generate : null
}

let count = 0
const unique = (kind: string) => {
  count += 1
  return `${kind}_${String(count).padStart(8, '0')}`
}

type Part = Record<string, unknown>
const parts = (value: unknown): Part[] =>
  typeof value === 'string' ? [{ type: 'text', text: value }] : Array.isArray(value) ? value : []
/** All text below a value, whatever it is wrapped in. */
function words(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(words).join('\n')
  if (typeof value !== 'object' || value === null) return ''
  const { text, content, parts: inner, output, response } = value as Part
  return words(text ?? content ?? inner ?? output ?? response)
}

// ------------------------------------------------------------------ messages

const messages: Dialect = {
  read: (body) => ({
    model: String(body.model),
    system: words(body.system),
    tools: parts(body.tools).map((tool) => String(tool.name)),
    turns: parts(body.messages).flatMap(({ role, content }): Ask['turns'] => {
      if (role === 'assistant') return [{ from: 'model' as const, text: words(content) }]
      const results = parts(content).filter((part) => part.type === 'tool_result')
      const rest = parts(content).filter((part) => part.type !== 'tool_result')
      return [
        ...(results.length > 0 ? [{ from: 'tool' as const, text: words(results) }] : []),
        ...(rest.length > 0 ? [{ from: 'user' as const, text: words(rest) }] : []),
      ]
    }),
    body,
  }),
  whole: (said, ask) => message(said, ask, [block(said)]),
  stream: (said, ask) => {
    const content = block(said)
    const delta =
      'text' in said
        ? { type: 'text_delta', text: said.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(said.input) }
    const empty = 'text' in said ? { type: 'text', text: '' } : { ...content, input: {} }
    const { stop_reason, usage, ...start } = message(said, ask, [])
    return [
      { type: 'message_start', message: { ...start, stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: empty },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ].map((data) => ({ name: data.type, data }))
  },
  error: (_status, text) => ({ type: 'error', error: { type: 'invalid_request_error', message: text } }),
}

const block = (said: Said): Part =>
  'text' in said
    ? { type: 'text', text: said.text }
    : { type: 'tool_use', id: unique('toolu'), name: said.tool, input: said.input }

const message = (said: Said, { model }: Ask, content: Part[]) => ({
  id: unique('msg'),
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason: 'text' in said ? 'end_turn' : 'tool_use',
  stop_sequence: null,
  usage: {
    input_tokens: TOKENS.in,
    output_tokens: TOKENS.out,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  },
})

// ------------------------------------------------------------------ responses

const responses: Dialect = {
  read: (body) => {
    const turns: Ask['turns'] = []
    for (const item of parts(body.input)) {
      const type = String(item.type ?? 'message')
      if (type.endsWith('_call') || item.role === 'assistant') {
        // A text and a call after it are one turn of the model.
        if (turns.at(-1)?.from !== 'model') turns.push({ from: 'model', text: words(item.content) })
      } else if (type.endsWith('_output')) turns.push({ from: 'tool', text: words(item.output) })
      else if (item.role === 'user') turns.push({ from: 'user', text: words(item.content) })
    }
    return {
      model: String(body.model),
      system: words(body.instructions),
      tools: parts(body.tools).map((tool) => String(tool.name ?? tool.type)),
      turns,
      body,
    }
  },
  whole: (said, ask) => response(ask, [item(said)]),
  stream: (said, ask) => {
    const done = item(said)
    return [
      { type: 'response.created', response: { ...response(ask, []), status: 'in_progress', usage: null } },
      { type: 'response.output_item.added', output_index: 0, item: { ...done, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item: done },
      { type: 'response.completed', response: response(ask, [done]) },
    ].map((data, sequence_number) => ({ name: data.type, data: { ...data, sequence_number } }))
  },
  error: openError,
}

const item = (said: Said): Part =>
  'text' in said
    ? {
        type: 'message',
        id: unique('msg'),
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: said.text, annotations: [] }],
      }
    : {
        type: 'function_call',
        id: unique('fc'),
        call_id: unique('call'),
        name: said.tool,
        arguments: JSON.stringify(said.input),
        status: 'completed',
      }

const response = ({ model }: Ask, output: Part[]) => ({
  id: unique('resp'),
  object: 'response',
  created_at: 1,
  status: 'completed',
  model,
  output,
  error: null,
  usage: {
    input_tokens: TOKENS.in,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: TOKENS.out,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: TOKENS.in + TOKENS.out,
  },
})

// ------------------------------------------------------------------ chat completions

const chat: Dialect = {
  read: (body) => {
    const all = parts(body.messages)
    const from = { assistant: 'model', tool: 'tool', user: 'user' } as const
    return {
      model: String(body.model),
      system: words(all.filter(({ role }) => role === 'system' || role === 'developer')),
      tools: parts(body.tools).map((tool) => String((tool.function as Part | undefined)?.name)),
      turns: all.flatMap(({ role, content }): Ask['turns'] => {
        const who = from[role as keyof typeof from]
        return who === undefined ? [] : [{ from: who, text: words(content) }]
      }),
      body,
    }
  },
  whole: (said, { model }) => ({
    id: unique('chatcmpl'),
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, ...delta(said) },
        finish_reason: finish(said),
      },
    ],
    usage: CHAT_USAGE,
  }),
  stream: (said, { model }) => {
    const id = unique('chatcmpl')
    const chunk = (choices: Part[], more: Part = {}) => ({
      name: null,
      data: { id, object: 'chat.completion.chunk', created: 1, model, choices, ...more },
    })
    return [
      chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
      chunk([{ index: 0, delta: delta(said), finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason: finish(said) }]),
      chunk([], { usage: CHAT_USAGE }),
      { name: null, data: '[DONE]' },
    ]
  },
  error: openError,
}

const CHAT_USAGE = {
  prompt_tokens: TOKENS.in,
  completion_tokens: TOKENS.out,
  total_tokens: TOKENS.in + TOKENS.out,
}
const finish = (said: Said) => ('text' in said ? 'stop' : 'tool_calls')
const delta = (said: Said): Part =>
  'text' in said
    ? { content: said.text }
    : {
        tool_calls: [
          {
            index: 0,
            id: unique('call'),
            type: 'function',
            function: { name: said.tool, arguments: JSON.stringify(said.input) },
          },
        ],
      }

// ------------------------------------------------------------------ generate content

const generate: Dialect = {
  read: (body, path) => ({
    model: /models\/([^/:]+):/.exec(path)?.[1] ?? '',
    system: words(body.systemInstruction),
    tools: parts(body.tools).flatMap((tool) =>
      parts(tool.functionDeclarations).map((one) => String(one.name)),
    ),
    turns: parts(body.contents).map((content) => {
      const isResult = parts(content.parts).some((part) => 'functionResponse' in part)
      const from = content.role === 'model' ? 'model' : isResult ? 'tool' : 'user'
      return { from, text: isResult ? JSON.stringify(content.parts) : words(content.parts) }
    }),
    body,
  }),
  whole: generated,
  stream: (said) => [{ name: null, data: generated(said) }],
  error: (status, text) => ({ error: { code: status, message: text, status: 'INVALID_ARGUMENT' } }),
}

function generated(said: Said) {
  const part =
    'text' in said
      ? { text: said.text }
      : { functionCall: { id: unique('call'), name: said.tool, args: said.input } }
  return {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: TOKENS.in,
      candidatesTokenCount: TOKENS.out,
      totalTokenCount: TOKENS.in + TOKENS.out,
    },
    modelVersion: 'scripted',
  }
}

function openError(_status: number, text: string) {
  return { error: { message: text, type: 'invalid_request_error', param: null, code: null } }
}
