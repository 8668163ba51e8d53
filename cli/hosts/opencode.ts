/** opencode, headless: `opencode run`. */
import type { JsonObject } from '../json.ts'
import { numberAt, sumOf, textAt } from './json.ts'
import { type ProgramAnswer, type ProgramCall, programHost, type Vendor } from './program.ts'
import { READING_VERBS } from './rights.ts'

const vendor: Vendor = {
  name: 'opencode',
  program: 'opencode',
  takes: () => false,
  invoke: (order) => ({
    args: [
      'run',
      '--format',
      'json',
      ...(order.model === null ? [] : ['--model', order.model]),
      ...(order.effort === null ? [] : ['--variant', order.effort]),
    ],
    env: {
      ...order.env,
      OPENCODE_PERMISSION: JSON.stringify(permissions(order)),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
  }),
  read,
}

export const opencode = programHost(vendor)

function permissions({ rights, web, folders }: ProgramCall): object {
  if (rights === 'all') return { '*': 'allow' }
  const allow = (granted: boolean) => (granted ? 'allow' : 'deny')
  return {
    '*': 'deny',
    read: 'allow',
    glob: 'allow',
    grep: 'allow',
    list: 'allow',
    todowrite: 'allow',
    edit: allow(rights === 'edit'),
    bash: {
      '*': 'deny',
      ...Object.fromEntries(READING_VERBS.map((verb) => [`assay ${verb}*`, 'allow'])),
    },
    webfetch: allow(web),
    websearch: allow(web),
    external_directory: {
      '*': 'deny',
      ...Object.fromEntries(folders.map((folder) => [`${folder}/*`, 'allow'])),
    },
  }
}

/** Tokens of the title that it makes of the prompt are not in its events. */
function read(events: JsonObject[]): ProgramAnswer {
  const steps = events.filter((event) => event.type === 'step_finish').map((event) => event.part)
  const tokens = (...keys: string[][]) =>
    sumOf(...steps.flatMap((step) => keys.map((key) => numberAt(step, 'tokens', ...key))))
  const cost = sumOf(...steps.map((step) => numberAt(step, 'cost')))
  const usage = {
    tokens_in: tokens(['input'], ['cache', 'read'], ['cache', 'write']),
    tokens_out: tokens(['output'], ['reasoning']),
    // A model whose price it does not know costs 0 in its own reckoning.
    usd: cost === 0 ? null : cost,
  }
  const error = events.findLast((event) => event.type === 'error')
  if (error !== undefined) {
    const status = numberAt(error, 'error', 'data', 'statusCode')
    const message = textAt(error, 'error', 'data', 'message') ?? textAt(error, 'error', 'name') ?? 'an error'
    return { text: null, trouble: status === null ? message : `${status}: ${message}`, usage }
  }
  const texts = events.filter((event) => event.type === 'text').map((event) => event.part)
  const last = textAt(texts.at(-1), 'messageID')
  const said = texts
    .filter((part) => textAt(part, 'messageID') === last)
    .map((part) => textAt(part, 'text') ?? '')
  return { text: said.length === 0 ? null : said.join(''), trouble: null, usage }
}
