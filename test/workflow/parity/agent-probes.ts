/** What `agent`, `parallel`, `pipeline`, `workflow`, phases, logs, budget and resume do. */

import { META } from '../rig.ts'
import { ANSWER, done, NOTES, type Probe, probe } from './probe.ts'

const MUST_BE_FUNCTIONS = 'THROW TypeError: parallel() expects an array of functions'
const ONE_LEVEL =
  'workflow() cannot be called from within a child workflow — nesting is limited to one level. Inline the inner script or call its agents directly.'
const INVALID = 'THROW TypeError: agent({schema}) received an invalid JSON Schema: '
const THROWN_BY_CHILD = `Error: child boom
    at <anonymous> (workflow.js:2:7)
    at workflow.js:3:1275
    at runInContext (native)
    at <anonymous> ((host))
    at processTicksAndRejections (native)`
const OVERLOADED =
  '[APIERR] failed: API Error: 529 scripted error. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:34867).'

export const AGENT_PROBES: Probe[] = [
  probe(
    'parallel',
    `${NOTES}
const ones = (length) => Array.from({ length }, () => () => 1)
await note('empty', () => parallel([]))
await note('notArray', () => parallel('x'))
await note('promises', () => parallel([Promise.resolve(1)]))
await note('throwing', () => parallel([
  () => 1, () => { throw new Error('boom') }, async () => { throw new TypeError('async boom') }, () => undefined, () => null,
]))
await note('set', () => parallel(new Set([() => 1])))
await note('big', async () => (await parallel(ones(4097))).length)
await note('max', async () => (await parallel(ones(4096))).length)
await note('values', () => parallel([() => ({ a: 1 }), () => [1, 2], () => 's', () => ({ f() {} }).f.name]))
await note('thunkArgs', () => parallel([(...given) => given.length]))
return notes`,
    done(
      {
        empty: [],
        notArray: MUST_BE_FUNCTIONS,
        promises: `${MUST_BE_FUNCTIONS}, not promises. Wrap each call: () => agent(...)`,
        throwing: [1, null, null, null, null],
        set: MUST_BE_FUNCTIONS,
        big: 'THROW Error: array length 4097 exceeds the maximum of 4096 supported across the workflow VM boundary',
        max: 4096,
        values: [{ a: 1 }, [1, 2], 's', 'f'],
        thunkArgs: [0],
      },
      { logs: ['parallel[1] failed: boom', 'parallel[2] failed: async boom'] },
    ),
  ),
  probe(
    'pipeline',
    `${NOTES}
let afterNull = 0
let afterUndefined = 0
await note('empty', () => pipeline([], (x) => x))
await note('noStages', () => pipeline([1, 2]))
await note('args', () => pipeline(['a', 'b'], (p, item, i) => [p, item, i], (p, item, i) => ({ p, item, i })))
await note('throw', () => pipeline([1, 2, 3], (x) => { if (x === 2) throw new Error('bad2'); return x * 10 }, (x) => x + 1))
await note('nullStops', () => pipeline([1, 2], (x) => (x === 1 ? null : x), (x) => { afterNull += 1; return x + 1 }))
notes.c = afterNull
await note('undefStops', () => pipeline([1], () => undefined, (x) => { afterUndefined += 1; return 'got ' + x }))
notes.u = afterUndefined
await note('notFn', () => pipeline([1], 'x'))
await note('notArr', () => pipeline({}, (x) => x))
await note('nullItem', () => pipeline([null, undefined, 0, false], (x) => 'v' + x))
await note('promiseItems', () => pipeline([Promise.resolve(5)], (x) => x))
return notes`,
    done(
      {
        empty: [],
        noStages: [1, 2],
        args: [
          { p: ['a', 'a', 0], item: 'a', i: 0 },
          { p: ['b', 'b', 1], item: 'b', i: 1 },
        ],
        throw: [11, null, 31],
        nullStops: [null, 3],
        c: 1,
        undefStops: ['got undefined'],
        u: 1,
        notFn:
          'THROW TypeError: pipeline() stages must be functions: pipeline(items, item => ..., result => ...)',
        notArr: 'THROW TypeError: pipeline() expects an array as the first argument',
        nullItem: [null, 'vundefined', 'v0', 'vfalse'],
        promiseItems: [5],
      },
      { logs: ['pipeline[1] failed: bad2'] },
    ),
  ),
  probe(
    'failures',
    `return { r: await parallel([() => { throw new Error('p boom') }]) }`,
    done({ r: [null] }, { logs: ['parallel[0] failed: p boom'] }),
  ),
  probe(
    'concurrency',
    `return parallel(Array.from({ length: 6 }, (_, i) => () => agent('SLOW' + i, { label: 's' + i })))`,
    done(Array(6).fill('t'), { agents: 6 }),
    { agents: [{ prompt: /SLOW/, answers: [{ text: 't', after: 20 }] }] },
  ),
  probe(
    'schema',
    `${NOTES}
const asks = (schema) => () => agent('a', { schema })
await note('bool', asks(true))
await note('str', asks('object'))
await note('badType', asks({ type: 'objekt' }))
await note('arrayTop', asks({ type: 'array', items: { type: 'number' } }))
await note('empty', asks({}))
await note('unknownKw', asks({ type: 'object', foo: 1 }))
await note('format', asks({ type: 'object', properties: { n: { type: 'string', format: 'email' } } }))
await note('ref', asks({ type: 'object', properties: { n: { $ref: '#/$defs/N' } }, $defs: { N: { type: 'number' } } }))
await note('draft2020', asks({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' }))
await note('draft7', asks({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }))
await note('reqMissingProps', asks({ type: 'object', required: ['n'] }))
await note('noType', asks({ properties: { n: { type: 'number' } } }))
await note('nullSchema', asks(null))
return notes`,
    done(
      {
        bool: 'THROW TypeError: WeakMap keys must be objects or non-registered symbols',
        str: 'THROW TypeError: WeakMap keys must be objects or non-registered symbols',
        badType: `${INVALID}data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf`,
        arrayTop:
          'THROW Error: agent({schema}): subagent completed without calling StructuredOutput (after in-conversation nudge)',
        empty: { n: 1 },
        unknownKw: `${INVALID}strict mode: unknown keyword: "foo"`,
        format: `${INVALID}unknown format "email" ignored in schema at path "#/properties/n"`,
        ref: { n: 1 },
        draft2020: `${INVALID}no schema with key or ref "https://json-schema.org/draft/2020-12/schema"`,
        draft7: { n: 1 },
        reqMissingProps: { n: 1 },
        noType: { n: 1 },
        nullSchema: ANSWER,
      },
      { agents: 13 },
    ),
    { agents: [{ prompt: /^a/, structured: true, answers: [{ object: { n: 1 } }, { text: 'x' }] }] },
  ),
  probe(
    'schema-text',
    `return agent('P', { schema: {
  type: 'object',
  properties: {
    s: { type: 'string', minLength: 3, pattern: '^a' },
    e: { enum: ['x', 'y'] },
    arr: { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 2 },
  },
  required: ['s'],
  additionalProperties: false,
} })`,
    done({ s: 'abc', e: 'x', arr: [1] }, { agents: 1 }),
    {
      agents: [
        {
          prompt: /^P/,
          structured: true,
          answers: [
            { object: { s: 'b', e: 'z', arr: [], extra: 1 } },
            { object: { s: 'abc', e: 'x', arr: [1] } },
          ],
        },
      ],
    },
  ),
  probe('effort', `return agent('x', { effort: 'high' })`, done(ANSWER, { agents: 1 })),
  probe(
    'worktree',
    `return parallel([0, 1].map((i) => () => agent('WT' + i, { isolation: 'worktree' })))`,
    done(
      ['$W/.claude/worktrees/wf_RUNID-1\n?? newfile\nworktree-wf_RUNID-1', '$W/.claude/worktrees/wf_RUNID-2'],
      { agents: 2 },
    ),
  ),
  probe(
    'api500',
    `return agent('APIERR')`,
    done(null, {
      logs: [OVERLOADED],
      agents: 1,
    }),
    { agents: [{ prompt: /APIERR/, answers: [{ fails: '529 scripted error' }] }] },
  ),
  probe(
    'stall',
    `try { return await agent('SLOW', { stallMs: 1000 }) } catch (error) { return error.message }`,
    done('agent stalled on all 6 attempts (no progress for 1000ms each)', {
      logs: [1, 2, 3, 4, 5].map(
        (n) => `[stall] agent "SLOW" stalled (no progress) after 1s — retrying (${n}/5)`,
      ),
      agents: 1,
    }),
    { agents: [{ prompt: /SLOW/, answers: [{ text: 't', after: 3000 }] }] },
  ),
  probe(
    'early-return',
    `agent('SLOWX').then(() => log('late'))
setTimeout(() => log('timer'), 10)
await new Promise((resolve) => setTimeout(resolve, 50))
return 'early'`,
    done('early', { logs: ['timer'], agents: 1 }),
    { agents: [{ prompt: /SLOWX/, answers: [{ text: 't', after: 1500 }] }] },
  ),
  probe(
    'budget',
    `const before = { t: budget.total, s: budget.spent(), r: budget.remaining() }
await agent('x')
return { b0: before, b1: { s: budget.spent(), r: budget.remaining() } }`,
    done({ b0: { t: null, s: 20, r: null }, b1: { s: 40, r: null } }, { agents: 1 }),
    { agents: [{ prompt: /^x$/, answers: [{ text: ANSWER, tokens: 20 }] }] },
  ),
  probe(
    'budget-exceed',
    `const out = []
for (let i = 0; i < 5; i += 1) {
  try { out.push(await agent('x' + i)) } catch (error) { out.push(error.name + ': ' + error.message) }
}
const p = await parallel([() => agent('y'), () => 1])
let q
try { q = await parallel([() => 1]) } catch (error) { q = error.name }
return { out, p, q, s: budget.spent() }`,
    done({ out: ['t', 't', 't', 't', 't'], p: ['t', 1], q: [1], s: 2440 }, { agents: 6 }),
    { agents: [{ prompt: /^(x\d|y)$/, answers: [{ text: 't', tokens: 400 }] }] },
  ),
  probe(
    'log-objects',
    `log({ a: 1 }); log(5); log(); console.log('c', { a: 1 }, [1]); console.warn('w')
phase({ a: 1 }); phase('P')
for (let i = 0; i < 3; i += 1) log('l' + i)
return 1`,
    done(1, {
      logs: ['[object]', '5', 'undefined', 'c {"a":1} [1]', '[warn] w', 'l0', 'l1', 'l2'],
      phases: ['[object]', 'P'],
    }),
  ),
  probe(
    'logs-cap',
    `for (let i = 0; i < 1200; i += 1) log('l' + i)\nreturn 1`,
    done(1, { logs: Array.from({ length: 1000 }, (_, i) => `l${i}`) }),
  ),
  probe(
    'phase-in-parallel',
    `await parallel(['A', 'B'].map((p) => async () => { phase(p); await agent('in ' + p); await agent('in2 ' + p) }))
await agent('after')
phase('A')
await agent('A again')
return 1`,
    done(1, { phases: ['A', 'B'], agents: 6 }),
  ),
  probe(
    'workflow-nested',
    `${NOTES}
await note('path', () => workflow({ scriptPath: '$W/child.js' }, { k: 1 }))
await note('rel', () => workflow({ scriptPath: 'child.js' }))
await note('unknown', () => workflow('nope'))
await note('missing', () => workflow({ scriptPath: '$W/none.js' }))
await note('bad', () => workflow({ scriptPath: '$W/bad.js' }))
await note('thrower', () => workflow({ scriptPath: '$W/thrower.js' }))
await note('num', () => workflow(5))
await note('named', () => workflow('my-named', ['x']))
return notes`,
    done(
      {
        path: { x: ANSWER, n: ONE_LEVEL, args: { k: 1 } },
        rel: { x: ANSWER, n: ONE_LEVEL },
        unknown:
          "THROW Error: workflow('nope'): no workflow with that name. Available: deep-research, code-review, my-named",
        missing:
          "THROW Error: workflow({scriptPath: '$W/none.js'}): Workflow script file not found: $W/none.js",
        bad: "THROW Error: workflow({scriptPath: '$W/bad.js'}): `export const meta = { name, description, phases }` must be the FIRST statement in the script",
        thrower: `THROW Error: ${THROWN_BY_CHILD}`,
        num: 'THROW TypeError: workflow() expects a workflow name (string) or {scriptPath: string}',
        named: { named: true, args: ['x'] },
      },
      {
        logs: [
          '▸ running dynamic workflow child',
          '[child] in child {"k":1}',
          '▸ child done',
          '▸ running dynamic workflow child',
          '[child] in child undefined',
          '▸ child done',
          '▸ running dynamic workflow thrower',
          `▸ thrower failed: ${THROWN_BY_CHILD}`,
          '▸ running dynamic workflow my-named',
          '▸ my-named done',
        ],
        phases: ['▸ child', '▸ child #2', '▸ thrower', '▸ my-named'],
        agents: 2,
      },
    ),
    {
      files: {
        'child.js': `export const meta = { name: 'child', description: 'd' }
log('in child ' + JSON.stringify(args))
phase('ChildPhase')
const x = await agent('child agent', { label: 'c' })
let n
try { n = await workflow({ scriptPath: '$W/child.js' }) } catch (error) { n = error.message }
return { x, n, args }`,
        'bad.js': 'const x = 1',
        'thrower.js': `export const meta = { name: 'thrower', description: 'd' }\nthrow new Error('child boom')`,
        '.claude/workflows/named.js': `export const meta = { name: 'my-named', description: 'd' }\nreturn { named: true, args }`,
      },
    },
  ),
  probe(
    'nested-deps',
    `const x = await workflow({ scriptPath: '$W/c.js' }, { a: [1] })\nreturn { x, keys: Object.keys(x) }`,
    done(
      { x: { has: 'function', b: null, args: { a: [1] } }, keys: ['has', 'b', 'undef', 'args'] },
      { logs: ['▸ running dynamic workflow c', '▸ c done'], phases: ['▸ c'] },
    ),
    {
      files: {
        'c.js': `export const meta = { name: 'c', description: 'd' }
return { has: typeof workflow, b: budget.total, undef: undefined, f: () => 1, args }`,
      },
    },
  ),
  {
    name: 'resume-edit',
    launches: [
      {
        script: `${META}const a = await agent('A1')
const b = await agent('B1')
const c = await agent('C1')
return { a, b, c, args }`,
        args: { v: 1 },
      },
      {
        script: `${META}const a = await agent('A1', { label: 'newlabel', phase: 'P' })
const b = await agent('B2')
const c = await agent('C1')
return { a, b, c, args }`,
        resume: true,
      },
    ],
    expected: done({ a: ANSWER, b: ANSWER, c: ANSWER }, { phases: ['P'], agents: 3, replayed: 1 }),
  },
  {
    name: 'resume-unknown',
    launches: [{ script: `${META}return agent('A')`, resume: true }],
    expected: done(ANSWER, { agents: 1 }),
  },
]
