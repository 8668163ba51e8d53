import { expect, test } from 'vitest'
import { play, useRig } from './rig.ts'

const rig = useRig()

/** `R[name]` is what a step gave, or what it threw. */
const TRY = `const R = {}; const T = async (k, f) => { try { R[k] = await f() } catch (e) { R[k] = e.name + ': ' + e.message } };\n`

test('clock and randomness throw, however they are reached', async () => {
  const { result } = await play(
    rig,
    `${TRY}const D = Date, M = Math
await T('now', () => D['now']()); await T('call', () => D()); await T('construct', () => new D()); await T('ctor', () => new Date(0).constructor['now']())
await T('random', () => M['random']()); await T('format', () => new Intl.DateTimeFormat('en').format()); await T('locale', () => new Intl.DateTimeFormat('en').formatToParts())
await T('sub', () => new (class extends Date {})())
return R`,
  )
  const clock =
    'Error: Date.now() / new Date() are unavailable in workflow scripts (breaks resume). Stamp results after the workflow returns, or pass timestamps via args.'
  expect(result).toEqual({
    now: clock,
    call: clock,
    construct: clock,
    ctor: clock,
    format: clock,
    locale: clock,
    sub: clock,
    random:
      'Error: Math.random() is unavailable in workflow scripts (breaks resume). For N independent samples, include the index in the agent label or prompt.',
  })
})

test('dates that are given stay dates', async () => {
  const { result } = await play(
    rig,
    `return [new Date(0).toISOString(), Date.parse('2020-01-01'), Date.UTC(2020, 1), new Date(0) instanceof Date, Date.name,
  new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).format(new Date(0))]`,
  )
  expect(result).toEqual(['1970-01-01T00:00:00.000Z', 1577836800000, 1580515200000, true, 'Date', '1/1/1970'])
})

test('globals are the API and plain JavaScript, nothing of Node', async () => {
  const { result } = await play(
    rig,
    `return [Object.getOwnPropertyNames(globalThis).sort(), typeof meta, String(agent), Object.keys(budget), Object.isFrozen(budget), typeof this, (function () { return this === undefined })()]`,
  )
  const [names, ...rest] = result as [string[], ...unknown[]]
  expect(names.filter((name) => !/^[A-Z]/.test(name))).toEqual([
    'agent',
    'args',
    'budget',
    'clearTimeout',
    'console',
    'decodeURI',
    'decodeURIComponent',
    'encodeURI',
    'encodeURIComponent',
    'escape',
    'eval',
    'globalThis',
    'isFinite',
    'isNaN',
    'log',
    'parallel',
    'parseFloat',
    'parseInt',
    'phase',
    'pipeline',
    'setTimeout',
    'then',
    'undefined',
    'unescape',
    'workflow',
  ])
  for (const absent of [
    'WebAssembly',
    'WeakRef',
    'FinalizationRegistry',
    'SharedArrayBuffer',
    'Atomics',
    'Buffer',
    'URL',
  ]) {
    expect(names).not.toContain(absent)
  }
  expect(rest).toEqual([
    'undefined',
    'async (...a) => hostFn(...a)',
    ['total', 'spent', 'remaining'],
    true,
    'object',
    true,
  ])
})

test('code cannot be made from strings, by no road that node:vm leaves open', async () => {
  const { result } = await play(
    rig,
    `${TRY}const reach = (f) => f.constructor.constructor('return process')()
await T('log', () => reach(log)); await T('agent', () => reach(agent)); await T('budget', () => reach(budget.spent)); await T('console', () => reach(console.log))
await T('timer', () => reach(setTimeout)); await T('args', () => reach(args)); await T('eval', () => eval('1')); await T('global', () => reach(globalThis))
await T('promise', () => reach(agent('x'))); await T('answer', async () => reach(await agent('x', { schema: {} })))
await T('error', async () => { try { await parallel(5) } catch (e) { return [typeof e.constructor, e instanceof Error, typeof e.stack] } })
await T('thenable', () => { let host; const p = agent('y'); Object.defineProperty(p, 'constructor', { get() { host = this; return undefined } }); return p.then(() => reach(host.then)) })
return R`,
    { args: {}, play: () => ({ outcome: 'ok', text: '{}', usage: { tokens_in: 0, tokens_out: 0, usd: 0 } }) },
  )
  const refused = 'EvalError: Code generation from strings disallowed for this context'
  expect(result).toEqual({
    log: refused,
    agent: refused,
    budget: refused,
    console: refused,
    timer: refused,
    args: refused,
    eval: refused,
    global: refused,
    promise: refused,
    answer: refused,
    thenable: refused,
    error: ['undefined', false, 'string'],
  })
})

test('import() throws the hosts text', async () => {
  const { result } = await play(
    rig,
    `try { await import('fs') } catch (e) { return e.name + ': ' + e.message }`,
  )
  expect(result).toBe('Error: import() is not available in workflow scripts.')
})

test('built-ins are frozen, the global object is not', async () => {
  const { result } = await play(
    rig,
    `${TRY}await T('math', () => { Math.abs = 1 }); await T('proto', () => { Array.prototype.zz = 1 }); await T('promise', () => { Promise.prototype.then = 1 })
await T('iterator', () => { Object.getPrototypeOf([][Symbol.iterator]()).next = 1 }); await T('async', () => { Object.getPrototypeOf(async () => {}).call = 1 })
globalThis.foo = 1; const old = agent; globalThis.agent = () => 'mine'; R.mine = agent(); globalThis.agent = old; R.foo = foo
return R`,
  )
  expect(result).toEqual({
    math: expect.stringMatching(/^TypeError: Cannot assign to read only property 'abs'/),
    proto: 'TypeError: Cannot add property zz, object is not extensible',
    promise: expect.stringMatching(/^TypeError: Cannot assign to read only property 'then'/),
    iterator: expect.stringMatching(/^TypeError: Cannot assign to read only property 'next'/),
    async: expect.stringMatching(/^TypeError: Cannot assign to read only property 'call'/),
    mine: 'mine',
    foo: 1,
  })
})

test('a stack that overflows at the border hands the script an error of the process that makes code, or whose built-ins can be changed', async () => {
  const { result, error } = await play(
    rig,
    `const seen = new Set()
const ours = new Set([null, RangeError.prototype, EvalError.prototype, TypeError.prototype])
let now = ''
const look = (e) => {
  if ((typeof e !== 'object' && typeof e !== 'function') || e === null) return
  const prototype = Object.getPrototypeOf(e)
  if (ours.has(prototype)) return
  // The engine formats stacks in the realm of the process: of these errors, none may lead anywhere.
  if (!now.includes('stack')) seen.add('foreign ' + e.name + ' of ' + now)
  const other = e.constructor.constructor
  try { other('return process')(); seen.add('code of ' + now) } catch {}
  for (const one of [prototype, e.constructor, other, other.prototype, prototype.__proto__.__proto__, [].concat(prototype.__proto__.__proto__.constructor.keys({})).__proto__])
    if (!Object.isFrozen(one)) seen.add('open ' + now)
}
const calls = [
  () => log('x'), () => phase('x'), () => console.log('x'), () => console.error({}), () => budget.spent(), () => budget.remaining(),
  () => setTimeout(() => {}, 0), () => clearTimeout(1), () => agent('x'), () => agent('y', { schema: {} }), () => parallel([() => 1]), () => pipeline([1], (x) => x), () => workflow('none'),
  () => new Error().stack,
]
const rejected = []
for (const call of calls) {
  now = String(call)
  let left = 120
  const dive = () => {
    try { dive() } catch (e) { look(e) }
    if (left-- <= 0) return
    try { const given = call(); if (given && typeof given.then === 'function') rejected.push(given.then(() => {}, look)) } catch (e) { look(e) }
  }
  try { dive() } catch (e) { look(e) }
  await Promise.all(rejected.splice(0))
}
return [...seen]`,
    { maxAgents: 50 },
  )
  expect([error, result]).toEqual([null, []])
})

test.each(['log', 'phase'])(
  'a stack that overflows in %s leaves messages that are never sent, and no agent is asked',
  async (say) => {
    const { result, error } = await play(
      rig,
      `const dive = () => { try { dive() } catch {} ${say}('x') }
try { dive() } catch {}
return typeof (await agent('x'))`,
    )
    expect([error, result]).toEqual([null, 'string'])
  },
)

test('an own way to show stacks gets the frames of the process', async () => {
  const { result } = await play(
    rig,
    `${TRY}let sites = null
const spy = { prepareStackTrace: (_error, frames) => { sites = frames; return 'mine' } }
await T('assign', () => { globalThis.Error = spy }); await T('define', () => { Object.defineProperty(globalThis, 'Error', { value: spy }); return 'defined' })
await T('own', () => { Error.prepareStackTrace = spy.prepareStackTrace })
try { null.x } catch (e) { R.stack = typeof e.stack }
R.sites = sites
return R`,
  )
  expect(result).toEqual({
    assign: expect.stringContaining('TypeError'),
    define: expect.stringContaining('TypeError'),
    own: expect.stringContaining('TypeError'),
    stack: 'string',
    sites: null,
  })
})
