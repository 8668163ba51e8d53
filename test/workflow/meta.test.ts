import { describe, expect, test } from 'vitest'
import { parseMeta } from '../../cli/workflow/meta.ts'
import { launchError, loadScript } from '../../cli/workflow/script.ts'

const FIRST =
  'Invalid workflow script: `export const meta = { name, description, phases }` must be the FIRST statement in the script'
const PURE = 'Invalid workflow script: meta must be a pure literal: '

function refusal(source: string, inline = true): string | null {
  const loaded = loadScript(source, { file: 'workflow.js', inline })
  return loaded.ok ? null : launchError(loaded.problem)
}
const withMeta = (text: string) => `export const meta = ${text}\nreturn 1`

describe('meta', () => {
  test('reads literals, templates, negative numbers and phases; drops what is not well formed', () => {
    const parsed = parseMeta(
      `// first a comment
export const meta = { name: \`n\`, description: 'd', title: 5, whenToUse: 'w', extra: [-1, null, { a: true }],
  phases: ['A', { title: 'B', detail: 1, model: 'm' }, { x: 1 }] }
return 1`,
    )
    expect(parsed.ok && parsed.value.meta).toEqual({
      name: 'n',
      description: 'd',
      whenToUse: 'w',
      phases: [{ title: 'B', model: 'm' }],
    })
  })

  test.each([
    ['no meta at all', 'return 1', FIRST],
    ['a statement before it', "const x = 1\nexport const meta = { name: 'p', description: 'd' }", FIRST],
    ['let instead of const', "export let meta = { name: 'p', description: 'd' }", FIRST],
    ['two declarations', "export const meta = { name: 'p', description: 'd' }, x = 1", FIRST],
    [
      'an expression',
      withMeta("{ name: 'a' + 'b', description: 'd' }"),
      `${PURE}non-literal node type in meta: BinaryExpression`,
    ],
    [
      'a call',
      withMeta("{ name: f(), description: 'd' }"),
      `${PURE}non-literal node type in meta: CallExpression`,
    ],
    [
      'an interpolation',
      withMeta('{ name: `$' + '{1}`, description: "d" }'),
      `${PURE}template interpolation not allowed in meta`,
    ],
    ['a spread', withMeta("{ ...x, description: 'd' }"), `${PURE}only plain properties allowed in meta`],
    ['a method', withMeta("{ name() {}, description: 'd' }"), `${PURE}only plain properties allowed in meta`],
    [
      'a reserved key',
      withMeta("{ __proto__: {}, name: 'p', description: 'd' }"),
      `${PURE}reserved key name not allowed in meta: __proto__`,
    ],
    [
      'no description',
      withMeta("{ name: 'p' }"),
      'Invalid workflow script: meta.description must be a non-empty string',
    ],
    [
      'an empty name',
      withMeta("{ name: '', description: 'd' }"),
      'Invalid workflow script: meta.name must be a non-empty string',
    ],
  ])('refuses %s in the words of the hosts', (_what, source, message) => {
    expect(refusal(source)).toBe(message)
  })

  test('a type annotation is refused with its position', () => {
    expect(refusal("export const meta = { name: 'p', description: 'd' }\nconst x: string = 'a'")).toBe(
      'Invalid workflow script: Script parse error: Unexpected token (2:7). Workflow scripts must be plain JavaScript — TypeScript syntax (type annotations like `: string[]`, interfaces, generics) fails to parse.',
    )
  })

  test('an import in the body is a syntax error and not a launch', () => {
    expect(refusal("export const meta = { name: 'p', description: 'd' }\nimport fs from 'fs'")).toMatch(
      /^Workflow script has a syntax error and was not launched:\nSyntaxError: /,
    )
  })

  test('a body cannot close the function that wraps it', () => {
    expect(refusal("export const meta = { name: 'p', description: 'd' }\n}; process.exit(3); {")).toMatch(
      /^Invalid workflow script: Script parse error: Unexpected token \(2:0\)/,
    )
  })

  test('a script of more than 512 KiB is refused', () => {
    expect(refusal(`${withMeta("{ name: 'p', description: 'd' }")}\n//${'x'.repeat(524_288)}`)).toBe(
      'Invalid workflow script: the script is larger than 524288 bytes',
    )
  })
})

describe('what only inline scripts are refused for', () => {
  const clock =
    'Workflow scripts must be deterministic: Date.now()/Math.random()/new Date() are unavailable (breaks resume). Stamp results after the workflow returns, or pass timestamps via args.'
  test.each(['Date.now()', 'Math.random()', 'new Date()', 'new Date'])(
    '%s, even in dead code',
    (expression) => {
      const source = `export const meta = { name: 'p', description: 'd' }\nif (false) { ${expression} }`
      expect(refusal(source)).toBe(clock)
      expect(refusal(source, false)).toBe(null)
    },
  )

  test('new Date(0) and a string that says Date.now() are fine', () => {
    expect(
      refusal("export const meta = { name: 'p', description: 'd' }\nlog(new Date(0) + 'Date.now()')"),
    ).toBe(null)
  })

  test('a character that hides or reorders text', () => {
    const source = "export const meta = { name: 'p', description: 'd' }\nlog('a\u202eb')"
    expect(refusal(source)).toBe('Invalid workflow script: the script holds the hidden character U+202E')
    expect(refusal(source, false)).toBe(null)
  })
})
