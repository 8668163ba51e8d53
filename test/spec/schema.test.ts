import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { specJsonSchema } from '../../cli/spec/json-schema.ts'
import { keyTable, policyTable, presetTable } from '../../cli/spec/key-table.ts'
import { readSpec } from '../../cli/spec/read.ts'
import { TEMPLATE } from '../../cli/spec/template.ts'
import { LEAST, problemsIn } from './source.ts'
import { anySpec } from './written.ts'

const reference = (name: string) => readFileSync(new URL(`../../references/${name}`, import.meta.url), 'utf8')
const validate = new Ajv({ strict: true, strictRequired: false, strictTypes: false }).compile(
  JSON.parse(reference('spec.schema.json')),
)

const JUDGED = LEAST.replace('minimize', 'maximize')

const VALID = [
  LEAST,
  TEMPLATE,
  `${LEAST}agent: { host: command, command: [a, --print] }\n`,
  `${LEAST}agent: { host: codex, effort: high, permissions: unsafe, fallback: [pi, qwen], roles: { hard: { effort: max } } }\n`,
  `${LEAST}budget: { hours: 0.5 }\n`,
  `${LEAST}loop: { revise: 0 }\n`,
  `${LEAST}loop: { meta: {} }\n`,
  `${LEAST}loop: { meta: { every: 90s } }\n`,
  `${LEAST}noise: { mode: paired, pairs: { min: 6, max: 8 } }\n`,
  `${LEAST}protected: [{ metric: a, direction: maximize, max_regression: 2% }]\nholdout: { max_regression: 0.5 }\n`,
  `${LEAST}constraints: [{ metric: a, op: "!=", value: false }]\n`,
  `${JUDGED}judge: { host: codex, items: i.jsonl, task: t, criteria: [{ name: a, ask: b }] }\nbudget: { judge_usd: 2 }\n`,
  `${JUDGED}judge: { host: command, command: [j], items: i.jsonl, task: t, mode: rubric, rubric: "5 good, 1 bad" }\n`,
]

const INVALID = [
  'loop: { width: 0 }',
  'loop: { width: 65 }',
  'loop: { width: 1.5 }',
  'loop: { depth: 21 }',
  'loop: { stall: 0 }',
  'loop: { meta: true }',
  'loop: { meta: { every: 500ms } }',
  'loop: { meta: { every: 0s } }',
  'loop:',
  'noise: { mode: pairs }',
  'noise: { pairs: { min: 1 } }',
  'noise: { pairs: { max: 7 } }',
  'noise: { calibrate: 1 }',
  'budget: { hours: 0 }',
  'budget: { experiments: "100" }',
  'budget: { usd: 0 }',
  'skills: finetuning',
  'skills: [1]',
  'gates: [{ name: a }]',
  'gates: [{ name: a, command: [] }]',
  'gates: [{ name: "", command: x }]',
  'gates: [{ name: a, command: x, timeout: 0s }]',
  'gates: [{ name: a, command: x, timeout: 100h }]',
  'gates: [{ name: a, command: x, timeout: 10 }]',
  'gates: [{ name: a, command: x, timeout: 10 m }]',
  'constraints: [{ metric: a, op: "<", value: true }]',
  'constraints: [{ metric: a, op: "=", value: 1 }]',
  'constraints: [{ metric: a, op: "<", value: "1" }]',
  'tie_breakers: [{ metric: a b, direction: minimize }]',
  'instructions: { file: /etc/passwd }',
  'instructions: { file: a/../../b }',
  'agent: { host: command }',
  'agent: { host: tune }',
  'agent: { host: claude }',
  'agent: { host: codex, permissions: all }',
  'agent: { host: codex, fallback: [tune] }',
  'agent: { host: tune, tune: { parameters: [{ file: a, min: 1, max: 2 }] } }',
  'agent: { host: tune, tune: { parameters: [{ file: a, pointer: a, min: 1, max: 2 }] } }',
  'agent: { host: tune, tune: { parameters: [{ file: a, pointer: /a, pattern: (a), min: 1, max: 2 }] } }',
  'agent: { host: command, command: x, roles: { Verify: {} } }',
  'search: { policy: topk }',
  'search: { params: { epsilon: 0.1 } }',
  'protected: [{ metric: a }]',
  'protected: [{ metric: a, direction: minimize, max_regression: -1 }]',
  'holdout: { max_regression: -1% }',
  'unknown: 1',
  'judge: { host: command, items: i.jsonl, task: t, criteria: [{ name: a, ask: b }] }',
  'judge: { host: codex, items: i.jsonl, task: t }',
  'judge: { host: codex, items: i.jsonl, task: t, mode: rubric }',
  'judge: { host: tune, items: i.jsonl, task: t, criteria: [{ name: a, ask: b }] }',
]

describe('the JSON Schema for editors', () => {
  test.each(VALID)('a valid spec is refused by the reader or by the schema: %#', (text) => {
    expect(problemsIn(text)).toEqual([])
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true)
  })

  test.each(INVALID)('an invalid line is accepted by the reader or by the schema: %s', (line) => {
    const text = `${LEAST}${line}\n`
    expect(problemsIn(text).length).toBeGreaterThan(0)
    expect(validate(parse(text))).toBe(false)
  })

  test('the schema and the reader do not agree on a spec in which one value was replaced', () => {
    const value = fc.oneof(
      fc.constantFrom('', 'a', '1', 'auto', '10m', '1%', '!a', '/a', '..', '==', '.ts', 'tune', 'A*', '1KiB'),
      fc.constantFrom<unknown>(
        null,
        true,
        0,
        1,
        -1,
        1.5,
        1e20,
        [],
        {},
        ['a'],
        [[]],
        { a: 1 },
        { model: 'm' },
      ),
    )
    fc.assert(
      fc.property(anySpec, fc.nat(), value, (spec, pick, replacement) => {
        const written = structuredClone(spec.written)
        const slots = slotsOf(written)
        const slot = slots[pick % slots.length]
        // The rest of what JSON Schema cannot say: see specJsonSchema.
        if (slot === undefined || ['regex', 'min', 'max', 'name'].includes(slot.name)) return
        slot.replace(replacement)
        const text = stringify(written)
        const read = readSpec(text, 'assay.yaml')
        expect(validate(parse(text)), `${text}\n${read.ok ? 'accepted' : read.problem.message}`).toBe(read.ok)
      }),
      { numRuns: 400 },
    )
  })
})

describe('the generated references', () => {
  test('spec.schema.json is not what scripts/spec-schema.mjs makes of the declaration today', () => {
    expect(JSON.parse(reference('spec.schema.json'))).toEqual(JSON.parse(JSON.stringify(specJsonSchema())))
  })

  test.each([
    ['keys', keyTable()],
    ['policies', policyTable()],
    ['presets', presetTable()],
  ])('the table of %s in spec.md is not what scripts/spec-schema.mjs makes today', (name, made) => {
    const marks = new RegExp(`<!-- ${name}: .*? -->\\n\\n(.*)\\n<!-- /${name} -->`, 's')
    // The formatter pads the cells.
    const bare = (text?: string) =>
      text
        ?.replace(/ *\| */g, '|')
        .replace(/-{3,}/g, '---')
        .trim()
    expect(bare(marks.exec(reference('spec.md'))?.[1])).toBe(bare(made))
  })

  test('spec.md has another number of examples than four, or one of them has a problem', () => {
    const examples = [...reference('spec.md').matchAll(/```yaml\n(.*?)```/gs)].map((match) => match[1] ?? '')
    expect(examples.length).toBe(4)
    expect(examples.map(problemsIn)).toEqual([[], [], [], []])
  })

  test('the template has a problem', () => {
    expect(problemsIn(TEMPLATE)).toEqual([])
  })
})

interface Slot {
  name: string
  replace: (value: unknown) => void
}

/** Every value inside a document. */
function slotsOf(node: unknown): Slot[] {
  if (typeof node !== 'object' || node === null) return []
  const holder = node as Record<string, unknown>
  return Object.keys(holder).flatMap((name) => [
    {
      name,
      replace: (value: unknown) => {
        holder[name] = value
      },
    },
    ...slotsOf(holder[name]),
  ])
}
