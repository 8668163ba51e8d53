/** What an agent said last and which tool it used last, from the end of what its program printed. */
import { isRecord, type JsonObject, parseJson } from '../json.ts'
import { at, textAt } from './json.ts'

export interface Heard {
  words: string | null
  /** Name, and the file or command when the program tells it. */
  tool: string | null
}

const SAYS: readonly string[] = ['text', 'agent_message', 'message', 'assistant.message']
const USES = /^(?:tool|tool_use|toolCall|tool_call|mcp_tool_call|command_execution|file_change|web_search)$/
const NAMES: readonly string[] = ['tool_name', 'toolName', 'tool', 'name', 'type']
const INPUTS: readonly string[] = ['input', 'parameters', 'arguments', 'args', 'state']
const SUBJECTS: readonly string[] = ['command', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url']

/** `text`: whole lines. All seven programs print one event of JSON in a line; what is not understood is passed over. */
export function heardIn(text: string): Heard {
  const heard: Heard = { words: null, tool: null }
  // The message to which the next piece of text belongs.
  let message: unknown
  for (const line of text.split('\n')) {
    const event = parseJson(line)
    if (!isRecord(event) || (textAt(event, 'role') ?? textAt(event, 'message', 'role')) === 'user') continue
    for (const part of partsOf(event)) {
      const type = textAt(part, 'type') ?? textAt(event, 'type') ?? ''
      const said = SAYS.includes(type) ? (textAt(part, 'text') ?? textAt(part, 'content')) : null
      if (said !== null && said.trim() !== '') {
        const own = at(part, 'messageID') ?? (event.delta === true ? 'delta' : undefined)
        heard.words = own !== undefined && own === message ? `${heard.words ?? ''}${said}` : said
        message = own
      } else if (USES.test(type) || at(part, 'arguments') !== undefined) {
        heard.tool = toolOf(part)
        message = undefined
      }
    }
  }
  return heard
}

/** An event says something itself, or in one of these places. */
function partsOf(event: JsonObject): JsonObject[] {
  const lists = [at(event, 'message', 'content'), at(event, 'data', 'toolRequests')]
  return [event, event.item, event.part, event.data, ...lists.flatMap((list) => list ?? [])].filter(isRecord)
}

function toolOf(part: JsonObject): string {
  const first = (from: unknown, keys: readonly string[]) =>
    keys.map((key) => textAt(from, key)).find((text) => text !== null)
  const name = first(part, NAMES) ?? 'a tool'
  const subject =
    INPUTS.map((key) => first(part[key], SUBJECTS) ?? first(at(part, key, 'input'), SUBJECTS)).find(
      Boolean,
    ) ?? first(part, SUBJECTS)
  return subject === undefined ? name : `${name}: ${subject}`
}
