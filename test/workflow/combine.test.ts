import { expect, test } from 'vitest'
import { play, useRig } from './rig.ts'

const rig = useRig()
const TRY = `const R = {}; const T = async (k, f) => { try { const v = await f(); R[k] = v === undefined ? 'nothing' : v } catch (e) { R[k] = e.name + ': ' + e.message } };\n`

test('parallel: a slot that throws is null and told, wrong arguments throw', async () => {
  const { result, logs, failures } = await play(
    rig,
    `${TRY}await T('empty', () => parallel([])); await T('text', () => parallel('x')); await T('set', () => parallel(new Set([() => 1])))
await T('promises', () => parallel([Promise.resolve(1)])); await T('arguments', () => parallel([(...a) => a.length]))
await T('slots', () => parallel([() => 1, () => { throw new Error('boom') }, async () => { throw 'text' }, () => undefined, () => null]))
await T('big', () => parallel(Array.from({ length: 4097 }, () => () => 1))); await T('max', async () => (await parallel(Array.from({ length: 4096 }, () => () => 1))).length)
return R`,
  )
  expect(result).toEqual({
    empty: [],
    text: 'TypeError: parallel() expects an array of functions',
    set: 'TypeError: parallel() expects an array of functions',
    promises:
      'TypeError: parallel() expects an array of functions, not promises. Wrap each call: () => agent(...)',
    arguments: [0],
    slots: [1, null, null, null, null],
    big: 'Error: array length 4097 exceeds the maximum of 4096 supported across the workflow VM boundary',
    max: 4096,
  })
  expect(logs).toEqual(['parallel[1] failed: boom', 'parallel[2] failed: text'])
  expect(failures).toEqual(logs)
})

test('pipeline: null stops an item, undefined does not, a throw gives null', async () => {
  const { result, logs } = await play(
    rig,
    `${TRY}await T('empty', () => pipeline([], x => x)); await T('noStages', () => pipeline([1, 2])); await T('args', () => pipeline(['a'], (p, item, i) => [p, item, i], (p, item, i) => ({ p, item, i })))
await T('throw', () => pipeline([1, 2, 3], x => { if (x === 2) throw new Error('bad2'); return x * 10 }, x => x + 1))
let after = 0; await T('null', () => pipeline([1, 2], x => x === 1 ? null : x, x => { after += 1; return x + 1 })); R.after = after
await T('undefined', () => pipeline([1], () => undefined, x => 'got ' + x)); await T('items', () => pipeline([null, undefined, 0, Promise.resolve(5)], x => 'v' + x))
await T('notFn', () => pipeline([1], 'x')); await T('notArr', () => pipeline({}, x => x))
await T('identity', () => { const it = { f() { return 7 } }; return pipeline([it], p => [p === it], (p, item) => [p[0], item === it, item.f()]) })
return R`,
  )
  expect(result).toEqual({
    empty: [],
    noStages: [1, 2],
    args: [{ p: ['a', 'a', 0], item: 'a', i: 0 }],
    throw: [11, null, 31],
    null: [null, 3],
    after: 1,
    undefined: ['got undefined'],
    items: [null, 'vundefined', 'v0', 'v5'],
    notFn: 'TypeError: pipeline() stages must be functions: pipeline(items, item => ..., result => ...)',
    notArr: 'TypeError: pipeline() expects an array as the first argument',
    identity: [[true, true, 7]],
  })
  expect(logs).toEqual(['pipeline[1] failed: bad2'])
})

test('values that cross a border are copies of plain data', async () => {
  const { result } = await play(
    rig,
    `${TRY}class K { constructor() { this.a = 1 } m() {} }
const one = async (f) => (await parallel([f]))[0]
const o = { a: 1, f() {}, n: { g() {} } }; const loop = {}; loop.self = loop
await T('kinds', () => parallel([() => new Map([[1, 2]]), () => new Date(0), () => new K(), () => /a/g, () => new Uint8Array([1, 2]), () => new Error('e'), () => ({ get x() { return 5 } })]))
await T('same', async () => await one(() => o) === o); await T('functions', () => one(() => o)); await T('keys', async () => Object.keys(await one(() => ({ u: undefined, f() {} }))))
await T('primitives', async () => [typeof await one(() => 10n), typeof await one(() => Symbol('s')), String(await one(() => NaN)), typeof await one(() => () => 1)])
await T('proto', async () => { const v = await one(() => JSON.parse('{"__proto__":{"x":1}}')); return [v.x === undefined, Object.keys(v)] })
await T('hole', () => one(() => [1, , 2])); await T('loop', () => one(() => loop)); await T('long', () => one(() => Array.from({ length: 5000 })))
return R`,
  )
  expect(result).toEqual({
    kinds: [{}, {}, { a: 1 }, {}, { '0': 1, '1': 2 }, {}, { x: 5 }],
    same: false,
    functions: { a: 1, n: {} },
    keys: ['u'],
    primitives: ['bigint', 'symbol', 'NaN', 'undefined'],
    proto: [true, ['__proto__']],
    hole: [1, null, 2],
    loop: 'TypeError: JSON.stringify cannot serialize cyclic structures.',
    long: 'Error: array length 5000 exceeds the maximum of 4096 supported across the workflow VM boundary',
  })
})
