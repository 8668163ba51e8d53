/** What a script sees, and what becomes of values: globals, clock, results, borders. */
import { done, NOTES, type Probe, probe } from './probe.ts'

const failed = (error: string) => ({ status: 'failed' as const, error })

/** Names a value by its type, as it looks from inside the script. */
const KIND = `const kind = (x) =>
  x === null ? 'null'
  : Array.isArray(x) ? 'array(' + x.map(kind) + ')'
  : x instanceof Map ? 'Map'
  : x instanceof Set ? 'Set'
  : x instanceof Date ? 'Date'
  : x instanceof Error ? 'Error:' + x.message
  : typeof x === 'function' ? 'fn'
  : typeof x === 'object' ? 'obj' + JSON.stringify(x)
  : typeof x + ':' + String(x)
`
const CLOCK =
  'THROW Error: Date.now() / new Date() are unavailable in workflow scripts (breaks resume). Stamp results after the workflow returns, or pass timestamps via args.'
const RANDOM =
  'THROW Error: Math.random() is unavailable in workflow scripts (breaks resume). For N independent samples, include the index in the agent label or prompt.'
const COPIES = {
  map: 'obj{}',
  set: 'obj{}',
  date: 'obj{}',
  fn: 'undefined:undefined',
  cls: 'obj{"a":1}',
  undef: 'undefined:undefined',
  nan: 'number:NaN',
  big: 'bigint:10',
  sym: 'symbol:Symbol(s)',
  err: 'obj{}',
  typed: 'obj{"0":1,"1":2}',
  re: 'obj{}',
  nested: 'obj{"d":{},"a":[null,null]}',
  getter: 'obj{"x":5}',
  proto: 'obj{}',
  neg0: 'number:0',
  inf: 'number:Infinity',
}
const PRESENT =
  'setTimeout clearTimeout eval Function Proxy Promise Map agent parallel pipeline phase log workflow'.split(
    ' ',
  )
const OBJECTS = 'console Intl Reflect globalThis budget'.split(' ')
const ABSENT =
  'require process fetch setInterval setImmediate queueMicrotask structuredClone URL TextEncoder atob Buffer WebAssembly WeakRef SharedArrayBuffer Atomics crypto performance module exports __dirname args'.split(
    ' ',
  )
const typesOf = (names: string[], type: string) => Object.fromEntries(names.map((name) => [name, type]))

export const VALUE_PROBES: Probe[] = [
  probe('ret-undefined', `log('x')`, done(null, { logs: ['x'] })),
  probe('ret-null', 'return null', done(null)),
  probe(
    'ret-circ',
    'const ring = {}\nring.self = ring\nreturn ring',
    failed('TypeError: JSON.stringify cannot serialize cyclic structures.'),
  ),
  probe(
    'ret-mixed',
    `return { m: new Map([[1, 2]]), s: new Set([1]), d: new Date(0), n: NaN, u: undefined, f() {}, big: 'x'.repeat(3) }`,
    done({ m: {}, s: {}, d: {}, n: null, big: 'xxx' }),
  ),
  probe('ret-bigint', 'return 10n', failed('TypeError: JSON.stringify cannot serialize BigInt.')),
  probe('throw-str', `throw 'just a string'`, failed('Error: just a string')),
  probe('json-result-string', `return '{"a":1}'`, done('{"a":1}')),
  probe('args-str', 'return { t: typeof args, args }', done({ t: 'string', args: '["a"]' }), {
    args: '["a"]',
  }),
  probe('args-none', 'return { t: typeof args }', done({ t: 'undefined' })),
  probe('sync-loop', 'while (true) {}', failed('Error: Script execution timed out after 30000ms'), {
    firstSliceMs: 50,
  }),
  probe(
    'determinism',
    `${NOTES}
await note('now', () => { const Clock = Date; return Clock['now']() })
await note('random', () => Math['random']())
await note('newDate0', () => new Date(0).toISOString())
await note('bareDate', () => { const Clock = Date; return Clock() })
await note('newDateNoArg', () => { const Clock = Date; return String(new Clock()) })
await note('ctor', () => new Date(0).constructor['now']())
await note('parse', () => Date.parse('2020-01-01'))
await note('utc', () => Date.UTC(2020, 1))
await note('intl', () => new Intl.DateTimeFormat('en').format(new Date(0)))
return notes`,
    done({
      now: CLOCK,
      random: RANDOM,
      newDate0: '1970-01-01T00:00:00.000Z',
      bareDate: CLOCK,
      newDateNoArg: CLOCK,
      ctor: CLOCK,
      parse: 1577836800000,
      utc: 1580515200000,
      intl: '1/1/1970',
    }),
  ),
  probe(
    'globals',
    `const types = {}
for (const name of ${JSON.stringify([...PRESENT, ...OBJECTS, ...ABSENT])}) types[name] = typeof globalThis[name]
const says = async (attempt) => {
  try { return await attempt() } catch (error) { return error.name + ': ' + error.message }
}
return {
  types,
  metaVisible: typeof meta,
  ev: await says(() => eval('1 + 1')),
  fn: await says(() => new Function('return 1')()),
  imp: await says(() => import('fs')),
  thisType: typeof this,
  strict: (function () { return this === undefined })(),
  keys: Object.getOwnPropertyNames(globalThis).filter((name) => !/^[A-Z]/.test(name)),
  argsType: typeof args,
  agentStr: String(agent),
  budget: Object.keys(budget),
  frozen: Object.isFrozen(budget),
}`,
    done({
      types: {
        ...typesOf(PRESENT, 'function'),
        ...typesOf(OBJECTS, 'object'),
        ...typesOf(ABSENT, 'undefined'),
      },
      metaVisible: 'undefined',
      ev: 'EvalError: Code generation from strings disallowed for this context',
      fn: 'EvalError: Code generation from strings disallowed for this context',
      imp: 'Error: import() is not available in workflow scripts.',
      thisType: 'object',
      strict: true,
      keys: 'log phase console budget setTimeout clearTimeout then agent parallel pipeline workflow args undefined globalThis isNaN isFinite escape unescape decodeURI decodeURIComponent encodeURI encodeURIComponent eval parseInt parseFloat'.split(
        ' ',
      ),
      argsType: 'undefined',
      agentStr: 'async (...a) => hostFn(...a)',
      budget: ['total', 'spent', 'remaining'],
      frozen: true,
    }),
  ),
  probe(
    'types',
    `${KIND}class Point { constructor() { this.a = 1 } method() { return 2 } }
const values = {
  map: () => new Map([[1, 2]]), set: () => new Set([1]), date: () => new Date(0), fn: () => () => 1,
  cls: () => new Point(), undef: () => undefined, nan: () => NaN, big: () => 10n, sym: () => Symbol('s'),
  err: () => new Error('e'), typed: () => new Uint8Array([1, 2]), re: () => /a/g,
  nested: () => ({ u: undefined, d: new Date(0), a: [undefined, () => 1] }),
  getter: () => ({ get x() { return 5 } }), proto: () => Object.create({ p: 1 }), neg0: () => -0, inf: () => Infinity,
}
const through = async (cross) => {
  const seen = {}
  for (const [name, make] of Object.entries(values)) {
    try { seen[name] = kind((await cross(make))[0]) } catch (error) { seen[name] = 'THROW ' + error.name + ': ' + error.message }
  }
  return seen
}
return { parallel: await through((make) => parallel([make])), pipeline: await through((make) => pipeline([1], make)) }`,
    done({ parallel: COPIES, pipeline: COPIES }),
  ),
  probe(
    'boundary',
    `${NOTES}${KIND}class Point { constructor() { this.a = 1 } method() { return 2 } }
const shared = { a: 1 }
const ring = {}
ring.self = ring
await note('parTypes', async () => (await parallel([() => new Map([[1, 2]]), () => ring, () => shared])).map(kind))
await note('identity', async () => (await parallel([() => shared]))[0] === shared)
await note('objWithFn', async () => {
  const [copy] = await parallel([() => ({ a: 1, f() { return 5 }, n: { g: () => 1 } })])
  return [typeof copy.f, typeof copy.n.g, copy.a]
})
await note('pipeFn', () => pipeline([1], (x) => ({ x, f: () => x + 1 }), (made) => (typeof made.f === 'function' ? made.f() : 'no fn')))
await note('pipeIdentity', () => {
  const item = { z: 1 }
  return pipeline([item], (value, original) => [value === item, original === item, value === original])
})
await note('pipeClass', () => pipeline([new Point()], (value) => [value instanceof Point, typeof value.method]))
await note('pipeFinalFn', async () => kind(await pipeline([1], (x) => () => x)))
await note('instErr', async () => {
  try { await parallel('x') } catch (error) { return [error instanceof TypeError, error instanceof Error, error.constructor.name] }
})
await note('errStack', async () => {
  try { await agent('x', { agentType: 'nope' }) } catch (error) { return [error instanceof Error, typeof error.stack] }
})
await note('bigArr', async () => (await parallel([() => Array.from({ length: 5000 }, (_, i) => i)]))[0].length)
await note('agentBigPrompt', async () => (await agent('L'.repeat(200), {})).length)
await note('race', () => Promise.race([agent('r1'), agent('r2')]))
await note('any', () => Promise.any([Promise.reject(1), agent('r3')]))
await note('timer', async () => {
  const id = setTimeout(() => { throw new Error('in timer') }, 1)
  await new Promise((resolve) => setTimeout(resolve, 20))
  return typeof id
})
await note('forAwait', async () => {
  const out = []
  for await (const value of (async function* () { yield 1; yield agent('g') })()) out.push(value)
  return out
})
await note('dup', () => Promise.all([agent('same'), agent('same')]))
await note('freezeMath', () => {
  try { Math['random'] = () => 4; return Math['random']() } catch (error) { return error.message }
})
await note('protoPollute', () => {
  try { Array.prototype.zz = 1; return [].zz } catch (error) { return error.message }
})
await note('globalAssign', () => { globalThis.foo = 1; return foo })
await note('redefAgent', () => {
  const old = globalThis.agent
  globalThis.agent = () => 'mine'
  const answer = agent()
  globalThis.agent = old
  return answer
})
await note('random crypto', () => typeof globalThis.crypto)
await note('locale', () => (1234.5).toLocaleString())
return notes`,
    done(
      {
        parTypes: 'THROW TypeError: JSON.stringify cannot serialize cyclic structures.',
        identity: false,
        objWithFn: ['undefined', 'undefined', 1],
        pipeFn: [2],
        pipeIdentity: [[true, true, true]],
        pipeClass: [[true, 'function']],
        pipeFinalFn: 'array(undefined:undefined)',
        instErr: "THROW TypeError: undefined is not an object (evaluating 'e.constructor.name')",
        errStack: [false, 'string'],
        bigArr:
          'THROW Error: array length 5000 exceeds the maximum of 4096 supported across the workflow VM boundary',
        agentBigPrompt: 18,
        race: 'DEFAULT-AGENT-TEXT',
        any: 'DEFAULT-AGENT-TEXT',
        timer: 'number',
        forAwait: [1, 'DEFAULT-AGENT-TEXT'],
        dup: ['DEFAULT-AGENT-TEXT', 'DEFAULT-AGENT-TEXT'],
        freezeMath: 'Attempted to assign to readonly property.',
        protoPollute: 'Attempting to define property on object that is not extensible.',
        globalAssign: 1,
        redefAgent: 'mine',
        'random crypto': 'undefined',
        locale: '1,234.5',
      },
      { agents: 8 },
    ),
  ),
]
