import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandHost } from '../../cli/hosts/command.ts'
import type { HostAnswer, HostCall } from '../../cli/hosts/host.ts'
import { identify, isAlive } from '../../cli/process.ts'
import { makeTemp } from '../rig/temp.ts'
import { until } from '../rig/until.ts'

const unknown = { tokens_in: null, tokens_out: null, usd: null }
const NUMBER = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }

function ask(program: string | string[], request: Partial<HostCall> = {}): Promise<HostAnswer> {
  return commandHost.open({ command: program }).call({
    prompt: 'the prompt',
    schema: null,
    role: 'implement',
    cwd: makeTemp(),
    folders: [],
    timeoutMs: 30_000,
    model: null,
    effort: null,
    env: process.env,
    signal: new AbortController().signal,
    ...request,
  })
}

/** A program that answers the n-th call with the n-th text and keeps every prompt it got. */
function program(answers: string[]): { argv: string[]; cwd: string; prompts: () => string[] } {
  const cwd = makeTemp()
  const file = join(cwd, 'agent.cjs')
  writeFileSync(join(cwd, 'answers.json'), JSON.stringify(answers))
  writeFileSync(
    file,
    `const fs = require('node:fs'); const n = fs.readdirSync('.').filter((f) => f.startsWith('prompt-')).length
fs.writeFileSync('prompt-' + n, fs.readFileSync(0)); process.stdout.write(JSON.parse(fs.readFileSync('answers.json'))[n])`,
  )
  const prompts = () =>
    readdirSync(cwd)
      .filter((name) => name.startsWith('prompt-'))
      .sort()
      .map((name) => readFileSync(join(cwd, name), 'utf8'))
  return { argv: [process.execPath, file], cwd, prompts }
}

test('the prompt arrives on stdin, the answer is stdout unchanged', async () => {
  expect(await ask('cat', { prompt: 'ü  \n$HOME `x`\n' })).toEqual({
    outcome: 'ok',
    text: 'ü  \n$HOME `x`\n',
    usage: unknown,
  })
})

test('a program that reads no prompt, however long, is not an error', async () => {
  expect(await ask('echo done', { prompt: 'x'.repeat(1_000_000) })).toEqual({
    outcome: 'ok',
    text: 'done\n',
    usage: unknown,
  })
})

test('text goes through the shell, a list does not', async () => {
  expect(await ask('echo "$((1 + 1))"')).toMatchObject({ text: '2\n' })
  expect(await ask(['echo', '$((1 + 1))'])).toMatchObject({ text: '$((1 + 1))\n' })
})

test('it works in the given folder and sees its role and its model, and no GIT_* of the caller', async () => {
  const cwd = makeTemp()
  const answer = await ask(
    'echo "$PWD|$ASSAY_ROLE|$ASSAY_HOST_CALL|$ASSAY_MODEL|$ASSAY_EFFORT|$GIT_DIR|$KEPT"',
    {
      cwd,
      role: 'verify',
      model: 'm1',
      effort: 'high',
      env: { PATH: process.env.PATH, GIT_DIR: '/elsewhere', KEPT: 'yes' },
    },
  )
  expect(answer).toMatchObject({ text: `${cwd}|verify|1|m1|high||yes\n` })
})

test.each([
  ['bare', '{"n": 1}'],
  ['fenced', 'Here:\n```json\n{"n": 1}\n```\nDone.'],
  ['among prose with braces', 'I used {x} and "}" then {"n": 1} {and so on'],
  ['after an earlier draft', '{"n": 7}\nBetter:\n{"n": 1}'],
])('with a schema the object is found: %s', async (_what, answer) => {
  const agent = program([answer])
  expect(await ask(agent.argv, { cwd: agent.cwd, schema: NUMBER })).toEqual({
    outcome: 'ok',
    text: answer,
    object: { n: 1 },
    usage: unknown,
  })
})

test('an answer that breaks the schema is asked for again with the reason, at most twice', async () => {
  const repaired = program(['no idea', '{"n": "one"}', '{"n": 1}'])
  expect(await ask(repaired.argv, { cwd: repaired.cwd, schema: NUMBER })).toMatchObject({ object: { n: 1 } })
  const why = (answer: string, reason: string) =>
    `the prompt\n\nYou have answered this already:\n\n${answer}\n\nYour previous answer does not satisfy the required schema: ${reason}. Do not repeat the work: answer with one JSON object that does.\n`
  expect(repaired.prompts()).toEqual([
    'the prompt',
    why('no idea', 'it holds no JSON object'),
    why('{"n": "one"}', '/n: must be number'),
  ])
  const stubborn = program(['{}', '{}', '{}', '{"n": 1}'])
  expect(await ask(stubborn.argv, { cwd: stubborn.cwd, schema: NUMBER })).toEqual({
    outcome: 'failed',
    message: "the answer does not satisfy the schema: /: must have required property 'n'",
    again: false,
    usage: unknown,
  })
  expect(stubborn.prompts()).toHaveLength(3)
})

test('a schema that does not hold fails before the program is started', async () => {
  const agent = program(['{}'])
  expect(await ask(agent.argv, { cwd: agent.cwd, schema: { type: 'objekt' } })).toMatchObject({
    outcome: 'failed',
    again: false,
  })
  expect(agent.prompts()).toEqual([])
})

test.each<[string, string | string[], Record<string, unknown>]>([
  [
    'an exit code',
    'echo out; echo first >&2; echo "last words" >&2; echo >&2; exit 3',
    { outcome: 'failed', message: 'exit 3: last words', again: true },
  ],
  ['a silent exit', 'exit 1', { outcome: 'failed', message: 'exit 1', again: true }],
  ['death by a signal', 'kill -KILL $$', { outcome: 'failed', message: 'killed by SIGKILL', again: true }],
  ['a missing program', ['/no/such/program'], { outcome: 'failed', again: false }],
  ['a command the shell does not find', 'no-such-command-here', { outcome: 'failed', again: false }],
  [
    'an empty command',
    [],
    { outcome: 'failed', message: 'the agent command is an empty list', again: false },
  ],
  ['EX_TEMPFAIL', 'echo busy >&2; exit 75', { outcome: 'retry_after', seconds: null, message: 'busy' }],
  [
    'EX_TEMPFAIL with a time',
    'echo "please retry after 2.5 seconds" >&2; exit 75',
    { outcome: 'retry_after', seconds: 2.5 },
  ],
  [
    'a time with another exit',
    'echo "429: Retry after 7" >&2; exit 1',
    { outcome: 'retry_after', seconds: 7, message: '429: Retry after 7' },
  ],
  ['a time with success', 'echo "retry after 7" >&2; echo fine', { outcome: 'ok', text: 'fine\n' }],
  ['EX_NOPERM', 'echo "not allowed" >&2; exit 77', { outcome: 'refused', message: 'not allowed' }],
])('tells %s', async (_what, program, expected) => {
  expect(await ask(program)).toEqual({
    usage: unknown,
    ...expected,
    ...('message' in expected || expected.outcome === 'ok' ? {} : { message: expect.any(String) }),
  })
})

test('a folder that is not there fails and does not throw', async () => {
  expect(await ask('true', { cwd: '/no/such/folder' })).toMatchObject({ outcome: 'failed' })
})

test('at its time limit the whole group is ended', async () => {
  const cwd = makeTemp()
  const answer = await ask('sleep 1000 & echo $! > pid; wait', { cwd, timeoutMs: 300 })
  expect(answer).toEqual({
    outcome: 'failed',
    message: 'no answer within 0.3 s',
    again: false,
    usage: unknown,
  })
  await gone(cwd)
})

test('an abort ends the whole group', async () => {
  const cwd = makeTemp()
  const stop = new AbortController()
  const answer = ask('sleep 1000 & echo $! > pid; wait', { cwd, signal: stop.signal })
  await until(() => existsSync(join(cwd, 'pid')) && pidIn(cwd) > 0, { what: 'the agent', dir: cwd })
  stop.abort()
  expect(await answer).toEqual({ outcome: 'failed', message: 'cancelled', again: false, usage: unknown })
  await gone(cwd)
})

test('an abort before the call starts nothing', async () => {
  const cwd = makeTemp()
  expect(await ask('touch started', { cwd, signal: AbortSignal.abort() })).toMatchObject({
    message: 'cancelled',
  })
  expect(existsSync(join(cwd, 'started'))).toBe(false)
})

function pidIn(cwd: string): number {
  return Number(readFileSync(join(cwd, 'pid'), 'utf8'))
}
async function gone(cwd: string) {
  const identity = identify(pidIn(cwd))
  if (identity !== null) await until(() => !isAlive(identity), { what: "the end of the agent's child" })
}
