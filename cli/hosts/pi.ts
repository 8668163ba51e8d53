/** pi, headless: `pi -p`. */
import type { JsonObject } from '../json.ts'
import { at, numberAt, sumOf, textAt } from './json.ts'
import { type ProgramAnswer, type ProgramCall, programHost, type Vendor } from './program.ts'

const vendor: Vendor = {
  name: 'pi',
  program: 'pi',
  takes: () => false,
  invoke: (order) => ({
    args: [
      '-p',
      '--mode',
      'json',
      '--no-session',
      ...(order.model === null ? [] : ['--model', order.model]),
      ...(order.effort === null ? [] : ['--thinking', order.effort]),
      ...tools(order),
    ],
    env: { ...order.env, PI_SKIP_VERSION_CHECK: '1' },
  }),
  // Each of them holds the whole message again.
  noise: ['{"type":"message_update"', '{"type":"tool_execution_update"'],
  read,
}

export const pi = programHost(vendor)

/** It asks no person before it uses a tool, and a shell can do anything: without the user's permission it gets none. */
function tools({ rights }: ProgramCall): string[] {
  if (rights === 'all') return []
  return ['--tools', rights === 'edit' ? 'read,grep,find,ls,edit,write' : 'read,grep,find,ls']
}

/** In this mode it exits with 0 whatever happened; the last message tells. */
function read(events: JsonObject[]): ProgramAnswer {
  const messages = events
    .filter((event) => event.type === 'message_end' && textAt(event, 'message', 'role') === 'assistant')
    .map((event) => event.message)
  const tokens = (...keys: string[]) =>
    sumOf(...messages.flatMap((message) => keys.map((key) => numberAt(message, 'usage', key))))
  const cost = sumOf(...messages.map((message) => numberAt(message, 'usage', 'cost', 'total')))
  const usage = {
    tokens_in: tokens('input', 'cacheRead', 'cacheWrite'),
    tokens_out: tokens('output'),
    // A model whose price it does not know costs 0 in its own reckoning.
    usd: cost === 0 ? null : cost,
  }
  const last = messages.at(-1)
  const reason = textAt(last, 'stopReason')
  if (reason === 'error' || reason === 'aborted') {
    return { text: null, trouble: textAt(last, 'errorMessage') ?? reason, usage }
  }
  const content = at(last, 'content')
  if (!Array.isArray(content)) return { text: null, trouble: null, usage }
  const text = content
    .filter((part) => textAt(part, 'type') === 'text')
    .map((part) => textAt(part, 'text') ?? '')
    .join('')
  return { text: text === '' ? null : text, trouble: null, usage }
}
