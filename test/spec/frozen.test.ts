import { describe, expect, test } from 'vitest'
import { canonical } from '../../cli/json.ts'
import { frozenHash, specHash } from '../../cli/spec/hash.ts'
import { LEAST, specOf } from './source.ts'

const hashes = (text: string) => ({ spec: specHash(specOf(text)), frozen: frozenHash(specOf(text)) })
const least = hashes(LEAST)

test('canonical JSON depends on the order of keys, or loses the order of lists', () => {
  expect(canonical({ b: [2, 1, { d: null, c: 'é"' }], a: true, B: undefined })).toBe(
    '{"a":true,"b":[2,1,{"c":"é\\"","d":null}]}',
  )
})

describe('the frozen hash', () => {
  test.each([
    ['a comment', `# hi\n${LEAST}`],
    ['another order', LEAST.split('\n').reverse().join('\n')],
    ['quotes and JSON', LEAST.replace('Parse faster.', '"Parse faster."').replace('[src/**]', '["src/**"]')],
    ['a default that is written out', `${LEAST}noise: { calibrate: 5 }\nloop: { width: 4 }\n`],
    ['another spelling of a quantity', LEAST.replace('node bench.js', 'node bench.js, timeout: 600s')],
  ])('the frozen hash or the hash of the spec changes by %s', (_, text) => {
    expect(hashes(text)).toEqual(least)
  })

  test.each([
    ['name', LEAST.replace('faster-parser', 'other')],
    ['goal', LEAST.replace('Parse faster.', 'Other.')],
    ['instructions', `${LEAST}instructions: { rules: [r] }\n`],
    ['search', `${LEAST}search: { k: 6 }\n`],
    ['loop', `${LEAST}loop: { width: 5 }\n`],
    ['budget', `${LEAST}budget: { hours: 1 }\n`],
    ['agent', `${LEAST}agent: { host: command, command: x }\n`],
    ['skills', `${LEAST}skills: [s]\n`],
  ])('the frozen hash changes by the live part %s, or the hash of the spec does not', (_, text) => {
    expect(hashes(text).frozen).toBe(least.frozen)
    expect(hashes(text).spec).not.toBe(least.spec)
  })

  test.each([
    ['scope', LEAST.replace('src/**', 'lib/**')],
    ['worktree', `${LEAST}worktree: { build: { command: make } }\n`],
    ['measure', LEAST.replace('bench.js', 'bench2.js')],
    ['measure.environment', LEAST.replace('bench.js', 'bench.js, environment: { set: { A: b } }')],
    ['metric', LEAST.replace('minimize', 'maximize')],
    ['metric.min_improvement', LEAST.replace('minimize', 'minimize, min_improvement: 1%')],
    ['tasks', `${LEAST}tasks: { aggregate: sum }\n`],
    ['constraints', `${LEAST}constraints: [{ metric: a, op: "<", value: 1 }]\n`],
    ['tie_breakers', `${LEAST}tie_breakers: [{ metric: a, direction: minimize }]\n`],
    ['gates', `${LEAST}gates: [{ name: a, command: b }]\n`],
    ['noise', `${LEAST}noise: { mode: deterministic }\n`],
    ['noise.pairs', `${LEAST}noise: { pairs: { max: 24 } }\n`],
    ['protected', `${LEAST}protected: [{ metric: a, direction: minimize }]\n`],
    ['holdout', `${LEAST}holdout: { max_regression: 1% }\n`],
  ])('the frozen hash does not change by the frozen part %s', (_, text) => {
    expect(hashes(text).frozen).not.toBe(least.frozen)
  })

  test('the frozen hash of an unchanged spec differs from that of before, so that every stored run looks edited', () => {
    expect(least.frozen).toBe('d887815c75ca9bc229299ff0a0d61668ba99ca953bc7ff273a252af69d2a00cf')
  })
})
