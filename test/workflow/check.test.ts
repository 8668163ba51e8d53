import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { schemaCheckOf } from '../../cli/hosts/agent-answer.ts'
import { checkScript } from '../../cli/workflow/check.ts'
import { META } from './rig.ts'

/** `LINE:COLUMN message` of every problem. */
async function problems(text: string): Promise<string[]> {
  const checked = await checkScript({ text, file: 'w.js' }, schemaCheckOf)
  if (checked.ok) return []
  const { more = [] } = checked.problem
  return [checked.problem, ...more].map(({ at = '', message, hint = '' }) => {
    expect(hint).not.toBe('')
    return `${/^w\.js:(\d+:\d+)/.exec(at)?.[1]} ${message}`
  })
}

test('the workflow that comes with Assay has no problems', async () => {
  const file = fileURLToPath(new URL('../../workflows/optimize.js', import.meta.url))
  expect(await problems(readFileSync(file, 'utf8'))).toEqual([])
})

test('a problem is shown with its line, a caret and a fix', async () => {
  const checked = await checkScript({ text: `${META}const t = Date.now()\n`, file: 'w.js' }, schemaCheckOf)
  expect(checked).toEqual({
    ok: false,
    problem: {
      kind: 'usage',
      code: 'bad_workflow',
      message: 'Date.now() throws in workflow scripts: a resumed run would go another way',
      hint: 'pass the time in args, or stamp the result after the workflow',
      at: 'w.js:2:11\n  const t = Date.now()\n            ^^^^^^^^',
    },
  })
})

test('all problems come in one pass, in the order of the text, those of meta too', async () => {
  expect(
    await problems(`export const meta = { name: 'p', description: 'a' + 'b' }
const when = new Date()
await parallel([agent('a'), () => agent('b')])
await import('fs')
export const more = process.env.HOME`),
  ).toEqual([
    '1:47 meta must be a pure literal: non-literal node type in meta: BinaryExpression',
    '2:14 new Date() throws in workflow scripts: a resumed run would go another way',
    '3:17 parallel() takes functions; this is started at once, and gives a promise',
    '4:7 import() throws in workflow scripts',
    '5:1 a workflow script is one file: only meta is exported, nothing is imported',
    '5:21 there is no process in workflow scripts',
  ])
})

test.each([
  ['a type annotation', 'const x: string = 1', '2:8 Script parse error'],
  ['promises made by map', 'await parallel([1].map((x) => agent(x)))', '2:31 parallel() takes functions'],
  ['randomness', 'return Math.random()', '2:8 Math.random() throws'],
  ['a timer that is not there', 'setInterval(() => {}, 5)', '2:1 there is no setInterval'],
  ['code from text', `return new Function('return 1')()`, '2:12 Function throws'],
  ['meta in the body', 'return meta.name', '2:8 there is no meta'],
  ['remote isolation', `agent('x', { isolation: 'remote' })`, `2:25 isolation 'remote' throws`],
  ['an unknown effort', `agent('x', { effort: 'huge' })`, '2:22 the effort "huge" is ignored'],
  [
    'a schema of a wrong type',
    `agent('x', { schema: { type: 'objekt' } })`,
    '2:22 the schema is refused: data/type must be equal',
  ],
  [
    'a schema in a constant',
    `const S = { type: 'object', allOf: [{}] }\nagent('x', { schema: S })`,
    '3:22 the schema is refused: strict mode: unknown keyword: "allOf"',
  ],
])('finds %s', async (_what, body, start) => {
  const found = await problems(META + body)
  expect(found).toHaveLength(1)
  expect(found[0]?.startsWith(start), found[0]).toBe(true)
})

test('what only looks like a problem is none', async () => {
  expect(
    await problems(`${META}const process = (require) => ({ fetch: require }).fetch
const { a: URL = 1, ...crypto } = { Buffer: 2 }
if (typeof structuredClone === 'undefined') log(process(URL) + crypto.Buffer + new Date(0) + 'Date.now()')
await parallel([1].map((x) => () => agent('a' + x, { schema: { type: 'object', required: [String(x)] }, effort: args.effort })))
for (const module of [1]) try { log(module) } catch (exports) { log(exports) }
function shown({ performance }) { return performance }`),
  ).toEqual([])
})
