import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { META, play, text, useRig } from './rig.ts'

const rig = useRig()

test.each([
  ['nothing', `log('x')`, null],
  ['null', 'return null', null],
  ['text that looks like JSON', `return '{"a":1}'`, '{"a":1}'],
  [
    'what JSON cannot say',
    'return { m: new Map([[1, 2]]), d: new Date(0), n: NaN, u: undefined, f() {}, s: 1 }',
    { m: {}, d: {}, n: null, s: 1 },
  ],
])('returns %s', async (_what, body, expected) => {
  const { status, result, error } = await play(rig, body)
  expect({ status, result, error }).toEqual({ status: 'completed', result: expected, error: null })
})

test.each([
  [
    'a cycle',
    'const a = {}; a.a = a; return a',
    'TypeError: JSON.stringify cannot serialize cyclic structures.',
  ],
  ['a bigint', 'return 10n', 'TypeError: JSON.stringify cannot serialize BigInt.'],
  ['a function', 'return () => 1', 'Error: workflow result cannot be a function'],
  ['thrown text', `throw 'just a string'`, 'Error: just a string'],
  ['a thrown null', 'throw null', 'Error: null'],
  ['an error of the API', 'await parallel(1)', 'TypeError: parallel() expects an array of functions'],
])('fails for %s', async (_what, body, error) => {
  const outcome = await play(rig, body)
  expect([outcome.status, outcome.error?.split('\n')[0], outcome.result]).toEqual(['failed', error, null])
})

test('an error names the line and column of the source', async () => {
  const { error } = await play(rig, `\n  await null; throw new TypeError('here')`, {
    file: '/w/my-script.js',
  })
  expect(error).toBe('TypeError: here\n    at /w/my-script.js:3:21')
})

test('a script that does not parse fails without a process', async () => {
  const { status, error, agents } = await play(rig, '', { source: 'return 1', childEntry: '/nowhere' })
  expect([status, error, agents]).toEqual([
    'failed',
    'Invalid workflow script: `export const meta = { name, description, phases }` must be the FIRST statement in the script',
    0,
  ])
})

test('a process that dies is told, not waited for', async () => {
  const childEntry = `${rig.folder}/dies.mjs`
  writeFileSync(childEntry, 'process.exit(7)')
  const { status, error } = await play(rig, 'return 1', { childEntry })
  expect([status, error]).toEqual([
    'failed',
    "Error: the script's process ended before the script did (exit 7)",
  ])
})

test('args arrive as they are: value, text, or undefined', async () => {
  const body = 'return [typeof args, args]'
  expect((await play(rig, body, { args: { k: [1] } })).result).toEqual(['object', { k: [1] }])
  expect((await play(rig, body, { args: '["a"]' })).result).toEqual(['string', '["a"]'])
  expect((await play(rig, body)).result).toEqual(['undefined', null])
})

test('the part before the first await has a time limit', async () => {
  const { status, error } = await play(rig, 'while (true) {}', { firstSliceMs: 50 })
  expect([status, error]).toEqual(['failed', 'Error: Script execution timed out after 50ms'])
})

test('log, console and phase print what they are given, in order', async () => {
  const { logs, phases, facts } = await play(
    rig,
    `log({ a: 1 }); log(5); log(); console.log('c', { a: 1 }, [1]); console.warn('w'); console.error('e'); phase({ a: 1 }); phase('P'); phase('P'); await agent('x', { phase: 'Q' })`,
  )
  expect(logs).toEqual(['[object]', '5', 'undefined', 'c {"a":1} [1]', '[warn] w', '[error] e'])
  expect(phases).toEqual(['[object]', 'P', 'Q'])
  expect(facts.filter((fact) => fact.type !== 'log').map((fact) => ({ ...fact, ms: 0 }))).toEqual([
    { type: 'phase', title: '[object]', ms: 0 },
    { type: 'phase', title: 'P', ms: 0 },
    { type: 'phase', title: 'P', ms: 0 },
    { type: 'agent', state: 'started', label: 'x', phase: 'Q', ms: 0 },
    { type: 'agent', state: 'done', label: 'x', phase: 'Q', ms: 0 },
  ])
})

test('phases of meta come first; the current one is shared by parallel slots', async () => {
  const { phases, calls } = await play(rig, '', {
    source: `export const meta = { name: 'p', description: 'd', phases: [{ title: 'Z' }, { title: 'A' }] }
await parallel(['A', 'B'].map((p) => async () => { phase(p); await agent('1' + p); await agent('2' + p) })); await agent('after')`,
  })
  expect(phases).toEqual(['Z', 'A', 'B'])
  expect(calls.map((call) => [call.prompt, call.phase])).toEqual([
    ['1A', 'A'],
    ['1B', 'B'],
    ['2A', 'B'],
    ['2B', 'B'],
    ['after', 'B'],
  ])
})

test('the first 1,000 log lines are kept', async () => {
  const { logs } = await play(rig, `for (let i = 0; i < 1200; i += 1) log('l' + i)`)
  expect([logs.length, logs[0], logs[999]]).toEqual([1000, 'l0', 'l999'])
})

test('the run ends with the body: a pending agent is aborted, its answer and its timers are not heard', async () => {
  let aborted = false
  const { result, logs, agents } = await play(
    rig,
    `agent('SLOW').then(() => log('late')); setTimeout(() => log('timer'), 1); setTimeout(() => log('never'), 100000)
const off = setTimeout(() => log('off'), 0); clearTimeout(off); await new Promise((r) => setTimeout(r, 5)); return 'early'`,
    {
      play: (call) =>
        new Promise((resolve) => {
          call.signal.addEventListener('abort', () => {
            aborted = true
            resolve(text('too late'))
          })
        }),
    },
  )
  expect([result, logs, agents, aborted]).toEqual(['early', ['timer'], 1, true])
})

test('failures that nobody awaits do not fail the run', async () => {
  const { status, result } = await play(
    rig,
    `Promise.reject(new Error('a')); setTimeout(() => { throw new Error('b') }, 0); setTimeout(async () => { throw 1 }, 0); await new Promise((r) => setTimeout(r, 5)); return 1`,
  )
  expect([status, result]).toEqual(['completed', 1])
})

test('stopping ends a script that spins', async () => {
  const stop = new AbortController()
  const { status, error } = await play(rig, `await agent('go'); while (true) {}`, {
    signal: stop.signal,
    play: () => {
      stop.abort()
      return text('x')
    },
  })
  expect([status, error]).toEqual(['failed', 'Error: the workflow was stopped'])
})

test('an agent answer of many megabytes and odd characters arrives whole', async () => {
  const long = `${'ü\u2028"\\'.repeat(1_000_000)}end`
  const { result } = await play(rig, `const a = await agent('x'); return [a.length, a.slice(-6)]`, {
    play: () => text(long),
  })
  expect(result).toEqual([4_000_003, '\u2028"\\end'])
})

test('META of the rig is one line, so positions in these tests are true', () => {
  expect(META.split('\n')).toHaveLength(2)
})

test('the built child, made of shared chunks, runs scripts like the one of these tests', async () => {
  const { result, status } = await play(
    rig,
    `const a = await parallel([() => agent('x')]); try { Date['now']() } catch (e) { return [a, e.name, String(agent)] }`,
    { childEntry: fileURLToPath(new URL('../../bin/lib/workflow-child.cjs', import.meta.url)) },
  )
  expect([status, result]).toEqual(['completed', [['re: x'], 'Error', 'async (...a) => hostFn(...a)']])
})

test('a promise that nothing can settle is waited for without an end', async () => {
  const { status, error } = await play(rig, 'await agent("x"); await new Promise(() => {})')
  expect([status, error]).toEqual([
    'failed',
    'Error: the script waits for a promise that nothing can settle: no agent, no timer and no workflow is under way',
  ])
})

test('a timer beyond what Node takes fires at once', async () => {
  const { result, error } = await play(
    rig,
    'let fired = false; setTimeout(() => { fired = true }, 2 ** 31); await new Promise((go) => setTimeout(go, 30)); return fired',
  )
  expect([error, result]).toEqual([null, false])
})

test('a million phases, or thousands of long failures, fill the memory or take minutes', async () => {
  const played = await play(
    rig,
    `for (let i = 0; i < 1e6; i++) phase('p' + i)
const long = 'x'.repeat(100_000)
await parallel(Array.from({ length: 4000 }, () => () => { throw long }))
return await agent('which phase')`,
  )
  expect([played.error, played.result]).toEqual([null, 're: which phase'])
  expect([played.phases.length, played.calls[0]?.phase]).toEqual([10_000, 'p999999'])
  expect([played.failures.length, played.logs.length]).toEqual([1000, 1000])
  expect(Math.max(...[...played.failures, ...played.logs].map((line) => line.length))).toBe(10_000)
})

test('the process of a script has a secret of the user within its reach', async () => {
  process.env.ASSAY_TEST_SECRET_KEY = 'a secret of the user'
  const seen: string[][] = []
  const { error } = await play(rig, 'await agent("x")', {
    play: () => {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        try {
          if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(rig.child)) continue
          seen.push(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'))
        } catch {
          // It has ended.
        }
      }
      return text('ok')
    },
  })
  delete process.env.ASSAY_TEST_SECRET_KEY
  expect(error).toBeNull()
  const names = seen.map((variables) => variables.map((one) => one.split('=')[0] ?? ''))
  expect(names).toHaveLength(1)
  expect(
    names[0]?.filter((name) => /SECRET|PATH$|^HOME$|^ASSAY/.test(name) && !/LIBRARY/.test(name)),
  ).toEqual([])
})

test('a raw control character in the file of a script is run', async () => {
  const { error } = await play(rig, 'return "a\u001bb"', { file: 'some.js' })
  expect(error).toContain('the script holds the hidden character U+001B')
})
