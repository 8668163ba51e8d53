import { expect, test } from 'vitest'
import { NO_USAGE } from '../../cli/hosts/host.ts'
import type { AgentCall, AgentReply } from '../../cli/workflow/call.ts'
import { play, text, useRig } from './rig.ts'

const rig = useRig()
const TRY = `const R = {}; const T = async (k, f) => { try { R[k] = await f() } catch (e) { R[k] = e.name + ': ' + e.message } };\n`
const object = (value: unknown): AgentReply => ({ outcome: 'ok', text: '', object: value, usage: NO_USAGE })

test('prompts and options reach the host as the script meant them', async () => {
  const { calls } = await play(
    rig,
    `phase('P'); await agent('  a\\n\\tb  ' + 'x'.repeat(80)); await agent(undefined, 7); await agent({}, { label: 'L', phase: 'Q', model: 'm', effort: 'high', isolation: 'worktree', agentType: 't', stallMs: 60000, other: 1 })
await agent('z', { effort: 'huge', isolation: 'other', stallMs: -1, model: 3 })`,
  )
  const plain = {
    phase: 'P',
    schema: null,
    model: null,
    effort: null,
    agentType: null,
    isolation: null,
    stallMs: null,
    thread: '',
  }
  expect(calls).toMatchObject([
    { ...plain, index: 1, prompt: `  a\n\tb  ${'x'.repeat(80)}`, label: `a b ${'x'.repeat(56)}` },
    { ...plain, index: 2, prompt: 'undefined', label: 'undefined' },
    {
      ...plain,
      index: 3,
      prompt: '[object]',
      label: 'L',
      phase: 'Q',
      model: 'm',
      effort: 'high',
      isolation: 'worktree',
      agentType: 't',
      stallMs: 60000,
    },
    { ...plain, index: 4, prompt: 'z' },
  ])
})

test('remote isolation and an unknown type throw, and still count as calls', async () => {
  const { result, agents, calls } = await play(
    rig,
    `${TRY}await T('type', () => agent('x', { agentType: 'nope' })); await T('remote', () => agent('x', { isolation: 'remote' })); return R`,
    { agentTypes: ['a', 'b'] },
  )
  expect(result).toEqual({
    type: "Error: agent({agentType}): agent type 'nope' not found. Available agents: a, b",
    remote: "Error: agent({isolation: 'remote'}) is not available in this build",
  })
  expect([agents, calls.length]).toEqual([1, 0])
})

test('null continues with null and is told; error throws', async () => {
  const { result, logs, failures, status } = await play(
    rig,
    `const a = await agent('A'); try { await agent('B') } catch (e) { return [a, e.name, e.message] }`,
    {
      play: (call) =>
        call.prompt === 'A'
          ? { outcome: 'null', message: 'API Error: 400', usage: NO_USAGE }
          : { outcome: 'error', message: 'broken' },
    },
  )
  expect(result).toEqual([null, 'Error', 'broken'])
  expect(logs).toEqual(['[A] failed: API Error: 400'])
  expect(failures).toEqual(logs)
  expect(status).toBe('completed')
})

test('schemas that do not hold are refused in the words of the hosts', async () => {
  const { result, calls } = await play(
    rig,
    `${TRY}const bad = (schema) => () => agent('a', { schema })
await T('bool', bad(true)); await T('type', bad({ type: 'objekt' })); await T('keyword', bad({ type: 'object', foo: 1 })); await T('format', bad({ type: 'object', properties: { n: { type: 'string', format: 'email' } } }))
await T('draft', bad({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' })); await T('null', bad(null))
await T('allOf', bad({ type: 'object', allOf: [{ required: ['a'] }] })); await T('if', bad({ properties: { a: { if: {}, then: {} } } })); await T('named', bad({ type: 'object', properties: { if: { type: 'number' } } }))
return R`,
    { play: (call) => (call.schema === null ? text('re: a') : object({ if: 1 })) },
  )
  const start = 'TypeError: agent({schema}) received an invalid JSON Schema: '
  expect(result).toEqual({
    bool: `${start}schema must be an object`,
    type: `${start}data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf`,
    keyword: `${start}strict mode: unknown keyword: "foo"`,
    format: `${start}unknown format "email" ignored in schema at path "#/properties/n"`,
    draft: `${start}no schema with key or ref "https://json-schema.org/draft/2020-12/schema"`,
    null: 're: a',
    allOf: `${start}strict mode: unknown keyword: "allOf"`,
    if: `${start}strict mode: unknown keyword: "if"`,
    named: { if: 1 },
  })
  expect(calls).toHaveLength(2)
})

test('an answer that breaks the schema is asked for again with the reason; the fifth is the end', async () => {
  const run = (replies: AgentReply[]) => {
    let turn = 0
    return play(
      rig,
      `try { return await agent('P', { schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } }) } catch (e) { return e.message }`,
      { play: () => replies[turn++] ?? text('') },
    )
  }
  const bad = object({ n: 'x' })
  const repaired = await run([bad, text('Sure:\n```json\n{"n": 2}\n```')])
  expect(repaired.result).toEqual({ n: 2 })
  expect(repaired.agents).toBe(1)
  expect(repaired.calls.map((call) => call.prompt)).toEqual([
    'P',
    'P\n\nOutput does not match required schema: /n: must be number. Answer again with one JSON object that satisfies it.\n',
  ])
  const worn = await run([bad, bad, bad, bad, bad, object({ n: 1 })])
  expect(worn.result).toBe(
    'agent({schema}): StructuredOutput retry cap (5) exceeded — 5 failed calls with no valid output',
  )
  expect(worn.calls).toHaveLength(5)
  const silent = await run([text('hello'), text('hello'), object({ n: 1 })])
  expect(silent.result).toBe(
    'agent({schema}): subagent completed without calling StructuredOutput (after in-conversation nudge)',
  )
})

test('agents run at most `concurrency` at once, in order', async () => {
  let now = 0
  let most = 0
  const order: string[] = []
  const { result } = await play(rig, `return parallel([0, 1, 2, 3, 4].map((i) => () => agent('a' + i)))`, {
    play: async (call) => {
      now += 1
      most = Math.max(most, now)
      order.push(call.prompt)
      await new Promise((resolve) => setImmediate(resolve))
      now -= 1
      return text(call.prompt)
    },
  })
  expect(result).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
  expect(most).toBe(2)
  expect(order).toEqual(['a0', 'a1', 'a2', 'a3', 'a4'])
})

test('clerk calls go to the clerk, do not wait for agents, and are not asked twice', async () => {
  const asked: string[] = []
  let finish = () => {}
  const clerkDone = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { result, calls } = await play(
    rig,
    `return parallel([() => agent('slow'), () => agent('status', { agentType: 'assay:clerk' }),
  () => agent('bad', { agentType: 'assay:clerk', schema: { type: 'object', required: ['n'] } }).catch((e) => e.message)])`,
    {
      concurrency: 1,
      play: async (call) => {
        await clerkDone
        return text(call.prompt)
      },
      clerk: async (prompt) => {
        asked.push(prompt)
        if (prompt === 'bad') finish()
        return text('{"ok":true}')
      },
    },
  )
  expect(result).toEqual([
    'slow',
    '{"ok":true}',
    "agent({schema}): Output does not match required schema: /: must have required property 'n'",
  ])
  expect(asked).toEqual(['status', 'bad'])
  expect(calls).toHaveLength(1)
})

test('the cap on calls throws inside the script', async () => {
  const body = `const out = []; for (let i = 0; i < 4; i += 1) { try { out.push(await agent('x')) } catch (e) { out.push(e.message) } } return out`
  const capped = await play(rig, body, { maxAgents: 2 })
  const cap = 'Workflow agent() call cap reached (2)'
  expect(capped.result).toEqual(['re: x', 're: x', cap, cap])
  expect(capped.agents).toBe(2)
  expect((await play(rig, body, { maxAgents: Number.POSITIVE_INFINITY })).agents).toBe(4)
})

test('a budget that is spent throws before the next call; parallel gives null for it', async () => {
  let spent = 0
  const { result, calls } = await play(
    rig,
    `const before = [budget.total, budget.spent(), budget.remaining()]; await agent('a'); const after = [budget.spent(), budget.remaining()]
let name; try { await agent('b') } catch (e) { name = e.name } return { before, after, name, p: await parallel([() => agent('c'), () => 1]) }`,
    {
      budget: { total: 100, spent: () => spent },
      play: () => {
        spent += 150
        return text('t')
      },
    },
  )
  expect(result).toEqual({
    before: [100, 0, 100],
    after: [150, 0],
    name: 'WorkflowBudgetExceededError',
    p: [null, 1],
  })
  expect(calls).toHaveLength(1)
})

test('usage sums what is reported and says when something is not', async () => {
  const { usage, result } = await play(rig, `await agent('a'); await agent('b'); return budget.spent()`, {
    play: (call) => ({
      outcome: 'ok',
      text: '',
      usage: { tokens_in: 10, tokens_out: 20, usd: call.prompt === 'a' ? 0.5 : null },
    }),
  })
  expect(usage).toEqual({ tokens_in: 20, tokens_out: 40, usd: 0.5, at_least: true })
  expect(result).toBe(40)
})

test('a stalled attempt is aborted and made again five times, then throws', async () => {
  const silent = (call: AgentCall) =>
    new Promise<AgentReply>((resolve) => {
      call.signal.addEventListener('abort', () => resolve({ outcome: 'error', message: 'aborted' }))
    })
  const { result, logs, agents, calls } = await play(
    rig,
    `try { return await agent('SLOW', { stallMs: 5 }) } catch (e) { return e.message }`,
    { play: silent },
  )
  expect(result).toBe('agent stalled on all 6 attempts (no progress for 5ms each)')
  expect(logs).toEqual(
    [1, 2, 3, 4, 5].map((n) => `[stall] agent "SLOW" stalled (no progress) after 0s — retrying (${n}/5)`),
  )
  expect([agents, calls.length]).toEqual([1, 6])
})

test('a pattern that never ends on an answer stops the whole process, or asks the agent again', async () => {
  const { result, calls } = await play(
    rig,
    `try { await agent('x', { schema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } }) } catch (e) { return e.message }`,
    { play: () => ({ ...text(''), object: { a: `${'a'.repeat(50)}!` } }) as AgentReply },
  )
  expect(result).toContain(
    'agent({schema}): the schema cannot be checked: it takes more than 2 s on this answer',
  )
  expect(calls).toHaveLength(1)
})
