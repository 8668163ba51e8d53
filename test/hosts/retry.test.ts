import { describe, expect, test } from 'vitest'
import { strictSchema, withoutNulls } from '../../cli/hosts/codex.ts'
import type { Host } from '../../cli/hosts/host.ts'
import { chain } from '../../cli/hosts/registry.ts'
import { errorLineOf, outcomeOfError } from '../../cli/hosts/retry.ts'

const NOW = { now: Date.parse('2026-01-01T00:00:00Z'), zone: 'UTC' }

describe('words about a failure', () => {
  test.each([
    ['429 Too Many Requests', 'retry_after'],
    ['API Error: 529 overloaded_error', 'retry_after'],
    ['503 Service Unavailable', 'retry_after'],
    ["You've hit your usage limit. Try again in 5 minutes.", 'retry_after'],
    ['RESOURCE_EXHAUSTED: quota exceeded', 'retry_after'],
    ['429 insufficient_quota: check your plan and billing details', 'refused'],
    ['Your credit balance is too low', 'refused'],
    ['401 Unauthorized', 'refused'],
    ['Not logged in · Please run /login', 'refused'],
    ['The model `x` does not exist', 'refused'],
    ['500 internal server error', 'failed'],
    ['400 prompt is too long: 4290 tokens', 'failed'],
    ['connect ECONNREFUSED 127.0.0.1:5030', 'failed'],
  ])('%s is not %s', (message, outcome) => {
    const usage = { tokens_in: 1, tokens_out: null, usd: null }
    expect(outcomeOfError(message, usage, NOW)).toMatchObject({ outcome, message, usage })
  })

  test('a limit without a time has one made up', () => {
    const usage = { tokens_in: null, tokens_out: null, usd: null }
    expect(outcomeOfError('overloaded', usage, NOW)).toMatchObject({ outcome: 'retry_after', seconds: null })
  })

  test('a stack trace behind what the provider said hides it, or the number of a line in it passes for a status', () => {
    const said = 'Error: 429 rate limit, try again in 17 minutes'
    expect(errorLineOf(`start\n${said}\n    at run (a.js:429:10)\n    at main (b.js:503:1)\n`)).toBe(said)
    expect(errorLineOf('first\n    at run (a.js:429:10)\nlast words\n\n')).toBe('last words')
    expect(errorLineOf('')).toBe('')
  })
})

describe('strict schemas', () => {
  const item = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    required: ['a'],
  }
  const schema = { type: 'object', properties: { list: { type: 'array', items: item } }, required: ['list'] }

  test('an object below is left open, or a property optional', () => {
    expect(strictSchema(schema)).toEqual({
      type: 'object',
      properties: {
        list: {
          type: 'array',
          items: {
            type: 'object',
            properties: { a: { type: 'string' }, b: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
            required: ['a', 'b'],
            additionalProperties: false,
          },
        },
      },
      required: ['list'],
      additionalProperties: false,
    })
  })

  test.each([
    ['an object of free keys', { type: 'object' }],
    ['anything at all', { type: 'object', properties: { a: {} }, required: ['a'] }],
    ['a choice', { oneOf: [{ type: 'string' }] }],
    ['a reference', { $ref: '#/$defs/x' }],
  ])('%s passes for one that a strict provider takes', (_, loose) => {
    expect(strictSchema(loose)).toBe(null)
  })

  test('a null that the schema asks for is dropped, or one of an optional property stays', () => {
    expect(withoutNulls({ list: [{ a: 'x', b: null }, { a: null }] }, schema)).toEqual({
      list: [{ a: 'x' }, { a: null }],
    })
  })
})

describe('hosts that stand in', () => {
  const host = (name: string): Host => ({ name, call: () => Promise.reject(new Error('not called')) })
  const [one, two, three] = [host('one'), host('two'), host('three')]

  test('a host that fails sometimes is given up, or one that fails three times in a row is kept', () => {
    const all = chain([one, two, three])
    expect([false, false, true, false, false].map((ok) => all.record(one, ok))).toEqual(Array(5).fill(null))
    expect(all.hosts()).toEqual([one, two, three])
    expect(all.record(one, false)).toBe(two)
    expect(all.hosts()).toEqual([two, three])
  })

  test('failures of the first host after the switch count against the fallback, or the last host is given up', () => {
    const all = chain([one, two])
    for (let n = 0; n < 3; n++) all.record(one, false)
    for (let n = 0; n < 9; n++) expect(all.record(one, false)).toBe(null)
    expect(all.hosts()).toEqual([two])
    for (let n = 0; n < 9; n++) expect(all.record(two, false)).toBe(null)
    expect(all.hosts()).toEqual([two])
  })
})
