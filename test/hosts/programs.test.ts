import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { HostAnswer, HostCall } from '../../cli/hosts/host.ts'
import type { Invocation, ProgramCall } from '../../cli/hosts/program.ts'
import { PROGRAMS, type ProgramName, programNames } from '../../cli/hosts/registry.ts'
import { mayUseWeb, rightsOf } from '../../cli/hosts/rights.ts'
import { alive } from '../process/scene.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'
import { type Act, type FakeProgram, fakeProgram } from './fake-program.ts'
import { RECORDINGS } from './recorded.ts'

const NUMBER = {
  type: 'object',
  properties: { n: { type: 'number' }, note: { type: 'string' } },
  required: ['n'],
}
const unknown = { tokens_in: null, tokens_out: null, usd: null }

interface Asked {
  answer: HostAnswer
  fake: FakeProgram
}

async function ask(
  name: ProgramName,
  acts: Act[],
  request: Partial<HostCall> = {},
  setup: { permissions?: 'safe' | 'unsafe'; silenceMs?: number } = {},
): Promise<Asked> {
  const fake = fakeProgram(name, acts)
  const entry = await PROGRAMS[name].load()
  const host = entry.open({ permissions: 'safe', silenceMs: 60_000, ...setup })
  const answer = await host.call({
    prompt: 'the prompt',
    schema: null,
    role: 'implement',
    cwd: makeTemp(),
    folders: [],
    timeoutMs: 30_000,
    model: null,
    effort: null,
    signal: new AbortController().signal,
    ...request,
    env: { ...fake.env, ...request.env },
  })
  return { answer, fake }
}

/** What a program would be started with. */
async function invocation(name: ProgramName, order: Partial<ProgramCall> = {}): Promise<Invocation> {
  const { vendor } = await PROGRAMS[name].load()
  return vendor.invoke({
    prompt: 'the prompt',
    schema: null,
    rights: 'edit',
    web: false,
    folders: [],
    model: null,
    effort: null,
    env: {},
    file: (file) => `/of-the-call/${file}`,
    ...order,
  })
}
const argsFor = async (name: ProgramName, order: Partial<ProgramCall> = {}) =>
  (await invocation(name, order)).args

describe.each(programNames)('%s', (name) => {
  const recording = RECORDINGS[name]
  const usage = { tokens_in: 300, tokens_out: 60, usd: recording.usd }

  test('the last message is not the answer, or tokens and cost are not the sums', async () => {
    const cwd = makeTemp()
    const asked = await ask(name, [recording.text('The end.\n{"n": 1}')], { cwd, prompt: 'ü $HOME\n' })
    expect(asked.answer).toEqual({ outcome: 'ok', text: 'The end.\n{"n": 1}', usage })
    expect(asked.fake.seen()).toMatchObject([
      { stdin: 'ü $HOME\n', cwd, env: { ASSAY_ROLE: 'implement', ASSAY_HOST_CALL: '1' } },
    ])
  })

  test('a structured answer is not taken, or is not asked for when the program has no way for it', async () => {
    const object = { n: 1, note: 'x' }
    const act = recording.object?.(object) ?? recording.text(`So:\n${JSON.stringify(object)}`)
    const { answer, fake } = await ask(name, [act], { schema: NUMBER })
    expect(answer).toMatchObject({ outcome: 'ok', object, usage })
    expect(fake.seen()).toHaveLength(1)
    expect(fake.seen()[0]?.stdin.includes(JSON.stringify(NUMBER))).toBe(recording.object === null)
  })

  test('an answer that breaks the schema is taken, is not asked for again, or its repair is not counted', async () => {
    const wrong = recording.text('{"n": "one"}')
    const repaired = await ask(name, [wrong, recording.text('{"n": 1}')], { schema: NUMBER })
    expect(repaired.answer).toMatchObject({
      outcome: 'ok',
      object: { n: 1 },
      usage: { tokens_in: 600, tokens_out: 120 },
    })
    expect(repaired.fake.seen()[1]?.stdin).toContain('/n: must be number')
  })

  test('an error of the provider passes for an answer, or the time to wait is not read', async () => {
    const message = '429 Rate limit reached. Try again in 1m 5s.'
    const { answer } = await ask(name, [recording.error(message)])
    expect(answer).toMatchObject({ outcome: 'retry_after', seconds: 65 })
    expect('message' in answer && answer.message).toContain(message)
  })

  test('what the provider said on standard error is lost behind a stack trace', async () => {
    const complain =
      'Error: quota exceeded, try again in 17 minutes\n    at run (a.js:429:10)\n    at b.js:1:1\n'
    const { answer } = await ask(name, [{ complain, exit: 1 }])
    expect(answer).toMatchObject({ outcome: 'retry_after', seconds: 1020 })
  })

  test('output of a different form passes for an answer, or is an exception', async () => {
    const { vendor } = await PROGRAMS[name].load()
    const events = [{}, { type: 7 }, { type: 'result' }, { type: 'message_end', message: [] }, { item: null }]
    for (const some of [[], events, events.toReversed()])
      expect(vendor.read(some, { schema: NUMBER }, () => '{"modelMetrics":[]}').text).toBe(null)
  })

  test('model, effort or a further folder get lost, or are made up', async () => {
    const told = await argsFor(name, { model: 'm1', effort: 'high', folders: ['/further'] })
    expect(told).toContain('m1')
    const words = told.join(' ')
    if (name !== 'gemini' && name !== 'qwen') expect(words).toMatch(/\bhigh\b/)
    if (name !== 'opencode' && name !== 'pi') expect(words).toContain('/further')
    const bare = (await argsFor(name)).join(' ')
    expect(bare).not.toMatch(/--model|effort|thinking|variant|further/)
  })
})

// ------------------------------------------------------------------ what each program may do

const READING = [
  ...['context', 'diff', 'discards', 'gate list', 'guide'],
  ...['path', 'show', 'status', 'traces', 'tree'],
]
const CLAUDE_READS = `Read,Grep,Glob,${READING.map((verb) => `Bash(assay ${verb}:*)`).join(',')}`
const QWEN_READS = READING.flatMap((verb) => ['--allowed-tools', `run_shell_command(assay ${verb})`])

type Case = 'edit' | 'read' | 'web' | 'unsafe'
const ENDS: Partial<Record<ProgramName, Record<Case, string[]>>> = {
  'claude-code': {
    edit: ['--permission-mode', 'acceptEdits', '--allowedTools', CLAUDE_READS],
    read: ['--permission-mode', 'dontAsk', '--allowedTools', CLAUDE_READS],
    web: ['--permission-mode', 'dontAsk', '--allowedTools', `${CLAUDE_READS},WebSearch,WebFetch`],
    unsafe: ['--dangerously-skip-permissions'],
  },
  codex: {
    edit: [
      '--sandbox',
      'workspace-write',
      '-c',
      'approval_policy="never"',
      '-c',
      'web_search="disabled"',
      '-',
    ],
    read: ['--sandbox', 'read-only', '-c', 'approval_policy="never"', '-c', 'web_search="disabled"', '-'],
    web: ['--sandbox', 'read-only', '-c', 'approval_policy="never"', '-c', 'web_search="live"', '-'],
    unsafe: ['--dangerously-bypass-approvals-and-sandbox', '-'],
  },
  copilot: {
    edit: ['--allow-tool=shell(assay:*)', '--allow-tool=write'],
    read: ['--allow-tool=shell(assay:*)', '--deny-tool=write'],
    web: ['--allow-tool=shell(assay:*)', '--deny-tool=write', '--allow-all-urls'],
    unsafe: ['--allow-all'],
  },
  gemini: {
    edit: ['--approval-mode', 'auto_edit', '--policy', '/of-the-call/policy.toml'],
    read: ['--approval-mode', 'default', '--policy', '/of-the-call/policy.toml'],
    web: ['--approval-mode', 'default', '--policy', '/of-the-call/policy.toml'],
    unsafe: ['--approval-mode', 'yolo'],
  },
  pi: {
    edit: ['--no-session', '--tools', 'read,grep,find,ls,edit,write'],
    read: ['--no-session', '--tools', 'read,grep,find,ls'],
    web: ['--no-session', '--tools', 'read,grep,find,ls'],
    unsafe: ['--no-session'],
  },
  qwen: {
    edit: ['--approval-mode', 'auto-edit', ...QWEN_READS],
    read: ['--approval-mode', 'default', ...QWEN_READS],
    web: ['--approval-mode', 'default', ...QWEN_READS, '--allowed-tools', 'web_fetch'],
    unsafe: ['--approval-mode', 'yolo'],
  },
}

const ORDERS: Record<Case, Partial<ProgramCall>> = {
  edit: { rights: 'edit' },
  read: { rights: 'read' },
  web: { rights: 'read', web: true },
  unsafe: { rights: 'all' },
}

describe('permissions', () => {
  const cases = Object.entries(ENDS).flatMap(([name, ends]) =>
    Object.entries(ends).map(([which, end]) => [name as ProgramName, which as Case, end] as const),
  )
  test.each(cases)('%s is not told to %s as it should be', async (name, which, end) => {
    const args = await argsFor(name, ORDERS[which])
    expect(args.slice(-end.length)).toEqual(end)
    if (which !== 'unsafe') expect(args.join(' ')).not.toMatch(/dangerous|yolo|--allow-all(?!-urls)/)
  })

  test('a reading role may edit, a role other than the ideator may use the web, or agent.permissions: safe allows too much', () => {
    const roles = ['scan', 'ideate', 'brief', 'verify', 'audit', 'collect', 'meta', 'step']
    expect(roles.map((role) => rightsOf(role, 'safe'))).toEqual(roles.map(() => 'read'))
    expect(['implement', 'revise', 'of a script'].map((role) => rightsOf(role, 'safe'))).toEqual(
      Array(3).fill('edit'),
    )
    expect(rightsOf('verify', 'unsafe')).toBe('all')
    expect([...roles, 'implement'].filter(mayUseWeb)).toEqual(['ideate'])
  })

  test('the web is open in gemini when it should not be, or a command of the CLI is closed', async () => {
    const policy = async (order: Partial<ProgramCall>) =>
      (await invocation('gemini', order)).files?.['policy.toml']
    expect(await policy({ web: true })).toContain('"web_fetch"]\ndecision = "allow"')
    expect(await policy({})).toContain('"web_fetch"]\ndecision = "deny"')
    expect(await policy({})).toContain('commandPrefix = ["assay context", "assay diff"')
    expect(await policy({ rights: 'all' })).toBe(undefined)
  })

  test('opencode gets more or fewer permissions than its role', async () => {
    const rights = async (order: Partial<ProgramCall>) =>
      JSON.parse((await invocation('opencode', order)).env.OPENCODE_PERMISSION ?? '')
    expect(await rights({ folders: ['/further'] })).toMatchObject({
      '*': 'deny',
      edit: 'allow',
      webfetch: 'deny',
      bash: { '*': 'deny', 'assay context*': 'allow' },
      external_directory: { '*': 'deny', '/further/*': 'allow' },
    })
    expect(await rights({ rights: 'read' })).toMatchObject({ '*': 'deny', edit: 'deny', webfetch: 'deny' })
    expect(await rights({ rights: 'read', web: true })).toMatchObject({ edit: 'deny', webfetch: 'allow' })
    expect(await rights({ rights: 'all' })).toEqual({ '*': 'allow' })
  })
})

// ------------------------------------------------------------------ schemas, ends, nesting

describe('schemas by the program’s own means', () => {
  test('claude-code and qwen get a different schema than the one of the call', async () => {
    const claude = await argsFor('claude-code', { schema: NUMBER })
    expect(claude[claude.indexOf('--json-schema') + 1]).toBe(JSON.stringify(NUMBER))
    const qwen = await ask('qwen', [RECORDINGS.qwen.text('{"n":1}')], { schema: NUMBER })
    expect(qwen.fake.seen()[0]?.files['schema.json']).toBe(JSON.stringify(NUMBER))
  })

  test('codex gets a schema that its provider refuses, or a null stays where a property is optional', async () => {
    const act = RECORDINGS.codex.text('{"n": 1, "note": null}')
    const { answer, fake } = await ask('codex', [act], { schema: NUMBER })
    expect(JSON.parse(fake.seen()[0]?.files['schema.json'] ?? '')).toEqual({
      type: 'object',
      properties: { n: { type: 'number' }, note: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['n', 'note'],
      additionalProperties: false,
    })
    expect(answer).toMatchObject({ outcome: 'ok', object: { n: 1 } })
    expect(answer).not.toHaveProperty('object.note')
  })

  test('a schema that no strict provider takes is lost for codex', async () => {
    const free = { type: 'object', required: ['n'] }
    const asked = await ask('codex', [RECORDINGS.codex.text('{"n": 1}')], { schema: free })
    expect(asked.fake.seen()[0]?.argv).not.toContain('--output-schema')
    expect(asked.fake.seen()[0]?.stdin).toContain(JSON.stringify(free))
    expect(asked.answer).toMatchObject({ outcome: 'ok', object: { n: 1 } })
  })
})

describe('how a program ends', () => {
  test.each<[string, Act, object]>([
    ['nothing', {}, { message: 'no answer: exit 0', again: true }],
    ['no JSON', { print: 'Segmentation fault\n1\n[]\n{"half": ', exit: 3 }, { message: 'no answer: exit 3' }],
    ['a complaint', { complain: 'one\nlast words\n\n', exit: 2 }, { message: 'exit 2: last words' }],
    ['a complaint of its login', { complain: 'Not logged in', exit: 1 }, { outcome: 'refused' }],
  ])('a program that prints %s passes for one that answers', async (_, act, expected) => {
    expect((await ask('claude-code', [act])).answer).toMatchObject({ outcome: 'failed', ...expected })
  })

  test('a program that is not there is an exception, or is called again', async () => {
    const { answer } = await ask('copilot', [{}], { env: { PATH: '/no/such/folder' } })
    expect(answer).toMatchObject({
      outcome: 'failed',
      message: 'copilot is not installed, or not on PATH',
      again: false,
    })
  })

  test('an answer that breaks the schema is asked for without end', async () => {
    const { answer, fake } = await ask('pi', [RECORDINGS.pi.text('{"n": "one"}')], { schema: NUMBER })
    expect(answer).toMatchObject({ outcome: 'failed', again: false, usage: { tokens_in: 900 } })
    expect(fake.seen()).toHaveLength(3)
  })

  test('with a schema, qwen hides an error of its provider behind a complaint of its own', async () => {
    const { vendor } = await PROGRAMS.qwen.load()
    const events = (text: string) => [
      { type: 'assistant', message: { content: [{ type: 'text', text }] } },
      { type: 'result', subtype: 'error_during_execution', is_error: true, error: { message: 'no call' } },
    ]
    const read = (text: string) => vendor.read(events(text), { schema: NUMBER }, () => null)
    expect(read('[API Error: 429 busy]')).toMatchObject({ text: null, trouble: '[API Error: 429 busy]' })
    expect(read('{"n": 1}')).toMatchObject({ text: '{"n": 1}', trouble: null })
    expect(read('')).toMatchObject({ text: null, trouble: 'no call' })
  })

  test('a program that prints nothing more is waited for, or leaves a process', async () => {
    const act = { print: '{"type":"system"}\n', hang: true }
    const { answer, fake } = await ask('claude-code', [act], {}, { silenceMs: 1500 })
    expect(answer).toEqual({
      outcome: 'failed',
      message: 'claude printed nothing for 1.5 s, so Assay ended it',
      again: true,
      usage: unknown,
    })
    const pid = fake.seen()[0]?.pid ?? 0
    await until(() => !alive(pid), { what: 'the program to end' })
  })

  test('the time limit, or an abort, is an exception or goes unnoticed, or the folder of the call stays', async () => {
    const late = await ask('pi', [{ hang: true }], { timeoutMs: 1500 })
    expect(late.answer).toMatchObject({ outcome: 'failed', message: 'no answer within 1.5 s', again: false })
    const stop = new AbortController()
    const fake = fakeProgram('pi', [{ hang: true }])
    const host = (await PROGRAMS.pi.load()).open({ permissions: 'safe', silenceMs: 60_000 })
    const answer = host.call({
      prompt: 'x',
      schema: null,
      role: 'implement',
      cwd: makeTemp(),
      folders: [],
      timeoutMs: 60_000,
      model: null,
      effort: null,
      env: fake.env,
      signal: stop.signal,
    })
    await until(() => fake.seen().length === 1, { what: 'the program to start' })
    stop.abort()
    expect(await answer).toMatchObject({ outcome: 'failed', message: 'cancelled' })
  })

  test('the folder of a call outlives it', async () => {
    const { fake } = await ask('qwen', [RECORDINGS.qwen.text('{"n":1}')], { schema: NUMBER })
    const path =
      fake
        .seen()[0]
        ?.argv.find((word) => word.startsWith('@'))
        ?.slice(1) ?? ''
    expect(path).not.toBe('')
    expect(existsSync(path)).toBe(false)
  })
})

describe('inside of the same program', () => {
  test('codex is started where its sandbox has no network', async () => {
    const { answer, fake } = await ask('codex', [{}], { env: { CODEX_SANDBOX_NETWORK_DISABLED: '1' } })
    expect(answer).toMatchObject({ outcome: 'refused' })
    expect('message' in answer && answer.message).toContain('no network')
    expect(fake.seen()).toEqual([])
  })

  test('claude takes itself for a child of the session around it, or loses the user’s own settings', async () => {
    const env = {
      CLAUDECODE: '1',
      CLAUDE_CODE_SESSION_ID: 's',
      CLAUDE_CODE_CHILD_SESSION: '1',
      CLAUDE_CODE_USE_BEDROCK: '1',
    }
    const { fake } = await ask('claude-code', [RECORDINGS['claude-code'].text('x')], { env })
    const seen = fake.seen()[0]?.env ?? {}
    expect(Object.keys(seen).filter((key) => key in env)).toEqual(['CLAUDE_CODE_USE_BEDROCK'])
    expect(seen).toMatchObject({ CLAUDE_CODE_DISABLE_WORKFLOWS: '1' })
  })
})
