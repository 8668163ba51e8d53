import { expect, test } from 'vitest'
import { heardIn } from '../../cli/hosts/heard.ts'
import type { ProgramName } from '../../cli/hosts/registry.ts'
import { RECORDINGS } from './recorded.ts'

const lines = (...events: object[]) => `${events.map((event) => JSON.stringify(event)).join('\n')}\n`
const printed = (name: ProgramName, text: string) => RECORDINGS[name].text(text).print ?? ''

test.each([
  ['claude-code', 'Working.', null],
  ['codex', 'It is done.', 'command_execution: ls'],
  ['copilot', 'It is done.', null],
  ['gemini', 'It is done.', 'glob'],
  ['opencode', 'It is done.', null],
  ['pi', 'It is done.', 'ls'],
] as const)('of %s an earlier message is shown, a piece of one, or not its tool', (name, words, tool) => {
  expect(heardIn(printed(name, 'It is done.'))).toEqual({ words, tool })
})

test.each([
  [
    'claude and qwen',
    {
      type: 'assistant',
      message: { content: [{ type: 'tool_use', name: 'Read', input: { file_path: 'a.ts' } }] },
    },
    'Read: a.ts',
  ],
  [
    'codex',
    { type: 'item.started', item: { type: 'command_execution', command: 'npm test' } },
    'command_execution: npm test',
  ],
  [
    'copilot',
    {
      type: 'assistant.message',
      data: { content: '', toolRequests: [{ name: 'bash', arguments: { command: 'ls' } }] },
    },
    'bash: ls',
  ],
  ['gemini', { type: 'tool_use', tool_name: 'grep', parameters: { pattern: 'x' } }, 'grep: x'],
  [
    'opencode',
    { type: 'tool_use', part: { type: 'tool', tool: 'edit', state: { input: { filePath: 'b.ts' } } } },
    'edit: b.ts',
  ],
  [
    'pi',
    {
      type: 'message_end',
      message: {
        role: 'assistant',
        content: [{ type: 'toolCall', name: 'write', arguments: { path: 'c' } }],
      },
    },
    'write: c',
  ],
])('what a tool of %s is used for is not told', (_, event, tool) => {
  expect(heardIn(lines({ type: 'text', part: { text: 'before' } }, event)).tool).toBe(tool)
})

test('a prompt, half a line or a line of another kind is taken for the words of the agent', () => {
  const text = lines(
    { type: 'message', role: 'user', content: 'the prompt' },
    { type: 'message', text: 7 },
    [],
  )
  expect(heardIn(`half of a line"}\n${text}no JSON\n{"type":"text","text":"cut`)).toEqual({
    words: null,
    tool: null,
  })
})
