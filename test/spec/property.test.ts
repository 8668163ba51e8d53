import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { canonical } from '../../cli/json.ts'
import { readSpec } from '../../cli/spec/read.ts'
import type { Spec } from '../../cli/spec/spec.ts'
import { LEAST, specOf } from './source.ts'
import { anySpec } from './written.ts'

const LIVE_DEFAULTS = { loop: specOf(LEAST).loop }

describe('any spec', () => {
  test('a spec is read with another value than was written in block YAML, flow YAML or JSON', () => {
    fc.assert(
      fc.property(anySpec, fc.constantFrom('block', 'flow', 'json'), ({ written, read }, style) => {
        const text =
          style === 'json'
            ? JSON.stringify(written, null, 2)
            : stringify(written, { collectionStyle: style as 'block' | 'flow' })
        expect(specOf(text)).toEqual({ ...LIVE_DEFAULTS, ...(read as object) })
      }),
      { numRuns: 100 },
    )
  })

  test('a spec that was stored as canonical JSON parses to another spec', () => {
    fc.assert(
      fc.property(anySpec, ({ written }) => {
        const spec = specOf(JSON.stringify(written))
        const stored = JSON.parse(canonical(spec)) as Spec
        expect(stored).toEqual(spec)
        expect(canonical(stored)).toBe(canonical(spec))
      }),
      { numRuns: 50 },
    )
  })
})

describe('any text', () => {
  const pieces = fc.constantFrom(
    ...[
      'version: 1\n',
      'name: ',
      'goal: ',
      'scope: ',
      'mutable: ',
      'measure:',
      'metric:',
      'gates:\n',
      'agent: ',
    ],
    ...[
      '\n',
      ' ',
      '  ',
      '\t',
      '- ',
      '? ',
      ': ',
      ', ',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '#',
      '|\n',
      '>-\n',
      '---\n',
      '...\n',
    ],
    ...[
      '&a ',
      '*a',
      '<<: *a\n',
      '!x ',
      '!!set ',
      '%YAML 1.1\n',
      '.inf',
      '1e999',
      '~',
      'true',
      '0x1f',
      '\u0000',
      '\ufeff',
      '😀',
    ],
  )

  test('a text makes the reader throw, or is refused without a place, a message or a hint', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
      fc
        .tuple(fc.nat(LEAST.length), fc.array(pieces, { maxLength: 4 }))
        .map(([at, parts]) => LEAST.slice(0, at) + parts.join('') + LEAST.slice(at)),
    )
    fc.assert(
      fc.property(text, (given) => {
        const read = readSpec(given, 'assay.yaml')
        if (read.ok) return
        for (const problem of [read.problem, ...(read.problem.more ?? [])]) {
          expect(problem.at).toMatch(/^assay\.yaml:\d+:\d+\n {2}.*\n\s*\^+$/)
          expect(problem.message).not.toBe('')
          expect(problem.hint).not.toBe('')
        }
      }),
      { numRuns: 1000 },
    )
  })
})
