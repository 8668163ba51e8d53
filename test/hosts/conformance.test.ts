import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Host, HostCall } from '../../cli/hosts/host.ts'
import {
  HOSTS,
  type HostName,
  hostNames,
  isHostName,
  PROGRAMS,
  type ProgramName,
} from '../../cli/hosts/registry.ts'
import { readTaskCard } from '../../cli/hosts/task-card.ts'
import { makeTemp } from '../rig/temp.ts'
import { fakeProgram } from './fake-program.ts'
import { RECORDINGS } from './recorded.ts'

const SCHEMA = {
  type: 'object',
  properties: { passed: { type: 'boolean' }, findings: { type: 'array' } },
  required: ['passed', 'findings'],
}

const CARD = {
  assay: 1,
  role: 'verify',
  run: 'run_0001',
  round: 1,
  lane: 1,
  depth: 1,
  experiment: 'exp_0001',
  worktree: null,
  artifacts: null,
  brief: null,
  capsule: {},
  answer: SCHEMA,
}
const PROMPT = `Check it.\n\n\`\`\`json\n${JSON.stringify(CARD)}\n\`\`\`\n`

/** A program in its place that answers as it would. */
async function openProgram(name: ProgramName): Promise<Host> {
  const host = (await PROGRAMS[name].load()).open({ permissions: 'safe', silenceMs: 60_000 })
  const { env } = fakeProgram(name, [RECORDINGS[name].text('{"passed": true, "findings": []}')])
  return { ...host, call: (request) => host.call({ ...request, env }) }
}

/** One working setup a host. A host that is registered and not here fails to compile. */
const OPEN: Record<HostName, () => Promise<Host>> = {
  command: async () => {
    const file = join(makeTemp(), 'agent.cjs')
    writeFileSync(file, `console.log('{"passed": true, "findings": []}')`)
    return (await HOSTS.command.load()).open({ command: [process.execPath, file] })
  },
  tune: async () =>
    (await HOSTS.tune.load()).open({ parameters: [], prefix: '', seed: 1, history: async () => [] }),
  'claude-code': () => openProgram('claude-code'),
  codex: () => openProgram('codex'),
  copilot: () => openProgram('copilot'),
  gemini: () => openProgram('gemini'),
  opencode: () => openProgram('opencode'),
  pi: () => openProgram('pi'),
  qwen: () => openProgram('qwen'),
}

const request = (change: Partial<HostCall> = {}): HostCall => ({
  prompt: PROMPT,
  schema: SCHEMA,
  role: 'verify',
  cwd: makeTemp(),
  folders: [],
  timeoutMs: 30_000,
  model: null,
  effort: null,
  env: process.env,
  signal: new AbortController().signal,
  ...change,
})

describe.each(hostNames)('host %s', (name) => {
  test('is registered under its own name', async () => {
    expect((await HOSTS[name].load()).name).toBe(name)
    expect((await OPEN[name]()).name).toBe(name)
  })

  test('answers a task card with an object that satisfies the schema, and reports usage', async () => {
    const answer = await (await OPEN[name]()).call(request())
    expect(answer).toMatchObject({ outcome: 'ok', object: { passed: true, findings: [] } })
    expect(Object.keys(answer.usage).sort()).toEqual(['tokens_in', 'tokens_out', 'usd'])
  })

  test('answers many calls at once', async () => {
    const host = await OPEN[name]()
    const answers = await Promise.all([1, 2, 3, 4].map(() => host.call(request())))
    expect(answers.map((answer) => answer.outcome)).toEqual(['ok', 'ok', 'ok', 'ok'])
  })

  test('an aborted call fails, it does not throw', async () => {
    const answer = await (await OPEN[name]()).call(request({ signal: AbortSignal.abort() }))
    expect(answer.outcome).toBe('failed')
  })

  test('a folder that is gone and a prompt without a card are answers, not exceptions', async () => {
    const host = await OPEN[name]()
    for (const change of [{ cwd: '/no/such/folder' }, { prompt: 'hello' }]) {
      expect(['ok', 'failed', 'refused']).toContain((await host.call(request(change))).outcome)
    }
  })
})

test('names that are no hosts are not', () => {
  expect([isHostName('command'), isHostName('toString'), isHostName('')]).toEqual([true, false, false])
})

describe('the task card', () => {
  const fence = (text: string) => `\`\`\`json\n${text}\n\`\`\`\n`

  test('is the last block of a prompt that is one, whatever stands around it', () => {
    const prompt = `${fence('{"assay":1,"role":"old"}')}text\n${PROMPT}${fence('{"not":"a card"}')}${fence('{broken')}after`
    expect(readTaskCard(prompt)).toEqual(CARD)
  })

  test('fields that are absent or of a different type are null', () => {
    expect(readTaskCard(fence('{"assay":1,"role":"scan","round":"3","capsule":[]}'))).toEqual({
      assay: 1,
      role: 'scan',
      run: null,
      round: null,
      lane: null,
      depth: null,
      experiment: null,
      worktree: null,
      artifacts: null,
      brief: null,
      capsule: {},
      answer: null,
    })
  })

  test.each([
    ['no block', 'hello'],
    ['another version', fence('{"assay":2,"role":"scan"}')],
    ['no role', fence('{"assay":1}')],
    ['a list', fence('[1]')],
    ['another language', '```js\n{"assay":1,"role":"scan"}\n```'],
    ['an inline mention', 'a ```json\n{"assay":1,"role":"scan"}``` b'],
  ])('is null for %s', (_what, prompt) => {
    expect(readTaskCard(prompt)).toBe(null)
  })
})
