import { writeFileSync } from 'node:fs'
import { cpus, release, type } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { makeProject, ms, type Project } from '../e2e/project.ts'
import { fakeProgram } from '../hosts/fake-program.ts'
import { RECORDINGS } from '../hosts/recorded.ts'
import { dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { type Ask, type Serving, startServing, untilTold } from './serving.ts'

let project: Project
let serving: Serving
beforeAll(async () => {
  project = makeProject()
  await project.data('init')
  await project.attempt(ms(90))
  serving = await startServing(project.repo.dir)
})

const act = (action: object, headers: Record<string, string> = {}): Ask => ({
  method: 'POST',
  body: action,
  headers: { 'content-type': 'application/json', 'x-assay-token': serving.token, ...headers },
})
const DO = '/api/runs/run_0001/do'

test.each([
  ['a name that means this machine (DNS rebinding)', { host: 'evil.example' }, 421],
  ['the right name with another port', { host: '127.0.0.1:1' }, 421],
  ['a page of another site', { origin: 'http://evil.example' }, 403],
  ['a page without an origin', { origin: 'null' }, 403],
  ['a request that a browser calls foreign', { 'sec-fetch-site': 'cross-site' }, 403],
])('%s is answered', async (_, headers, status) => {
  for (const path of ['/', '/api/runs', '/api/runs/run_0001', '/api/runs/run_0001/stream'])
    expect((await serving.ask(path, { headers })).status, path).toBe(status)
  expect((await serving.ask(DO, act({ action: 'note', text: 'forged' }, headers))).status).toBe(status)
  const { notes } = await project.data<{ notes: unknown[] }>('note')
  expect(notes).toEqual([])
})

test.each([
  ['no token', { 'x-assay-token': '' }, 403],
  ['a wrong token', { 'x-assay-token': 'f'.repeat(32) }, 403],
  ['a form, which any site may send', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
])('an action is taken with %s', async (_, headers, status) => {
  expect((await serving.ask(DO, act({ action: 'note', text: 'forged' }, headers))).status).toBe(status)
  expect(await project.data('note')).toMatchObject({ notes: [] })
})

test.each([
  ['a verb that is none of the actions', { action: 'gc', text: 'x' }],
  ['an id that is a flag', { action: 'prune', id: '--all', text: 'x' }],
  ['no words where words are needed', { action: 'note', text: '  ' }],
  ['a list', []],
])('%s is called', async (_, action) => {
  expect((await serving.ask(DO, act(action))).status).toBe(400)
})

test('words of the user are taken for a flag', async () => {
  const done = await serving.ask(DO, act({ action: 'steer', text: '--help' }))
  expect([done.status, JSON.parse(done.body)]).toMatchObject([200, { data: { text: '--help' } }])
  const paused = await serving.ask(DO, act({ action: 'pause', text: '--json -x' }))
  expect(paused.status).toBe(200)
  expect(await project.data('status')).toMatchObject({ paused: '--json -x' })
  expect((await serving.ask(DO, act({ action: 'resume', text: 'go on' }))).status).toBe(200)
})

test('an action says other than its verb would', async () => {
  const done = await serving.ask(DO, act({ action: 'prune', id: 'exp_0042', text: 'no' }))
  const { problem } = JSON.parse(done.body)
  const { exit: _, ...same } = await project.problem(
    'prune',
    'exp_0042',
    '--reason',
    'no',
    '--run',
    'run_0001',
  )
  expect(done.status).toBe(409)
  expect(problem).toMatchObject({ code: same.code, message: same.message })
})

test('on which kernel and processors an experiment was measured is not told', async () => {
  const { environment } = JSON.parse((await serving.ask('/api/runs/run_0001/nodes/exp_0001')).body)
  expect(environment).toMatchObject({
    kernel: `${type()} ${release()}`,
    processor: cpus()[0]?.model.trim() || 'unknown',
    samples: '2',
  })
})

test('a second server is started, or a first one forgotten', async () => {
  const { address, running } = serving
  const second = dataOf(await project.cli<object>(['serve']))
  expect(second).toEqual({ address, pid: running.pid, already: true })
})

test('a stream leaves out what came while nobody listened, or tells it twice', async () => {
  const whole = JSON.parse((await serving.ask('/api/runs/run_0001')).body)
  const { experiment } = await project.attempt(ms(80), 'exp_0001')
  const path = '/api/runs/run_0001/stream'
  const has = (told: readonly { event: string }[]) => told.some(({ event }) => event === 'change')
  const [change] = (await untilTold(serving.port, `${path}?since=${whole.head.offset}`, has)).filter(
    ({ event }) => event === 'change',
  )
  const ids = change?.data.rows.map(([number]: [number]) => number)
  expect(ids).toEqual([Number(experiment.slice(4))])
  expect(change?.data.head.best).toMatchObject({ experiment, value: 80 })
  expect(change?.id).toBe(String(change?.data.head.offset))
  // The browser's own header counts more than the address.
  await project.data('note', 'one more line')
  const again = await untilTold(serving.port, `${path}?since=0`, has, { 'last-event-id': change?.id ?? '' })
  expect(again.find(({ event }) => event === 'change')?.data.rows).toEqual([])
})

test('a stream continues from an offset that the ledger never had', async () => {
  const told = await untilTold(serving.port, '/api/runs/run_0001/stream?since=999999999', (all) =>
    all.some(({ event }) => event === 'reset'),
  )
  expect(told.filter(({ event }) => event === 'change')).toEqual([])
})

test('what an agent says while it works is not shown, or is shown when it is silent', async () => {
  const brief = RECORDINGS.codex.object?.({ briefs: [{ objective: 'less', parent: 'exp_0000' }] }) ?? {}
  const words = {
    type: 'item.completed',
    item: { type: 'agent_message', text: 'I look at \u001b[2Jthe number.' },
  }
  const tool = { type: 'item.started', item: { type: 'command_execution', command: 'cat src/metrics.txt' } }
  const codex = fakeProgram('codex', [
    brief,
    { print: `${JSON.stringify(words)}\n${JSON.stringify(tool)}\n`, hang: true },
  ])
  const other = makeProject({
    spec: { budget: { experiments: 1 }, loop: { width: 1, depth: 1, stall: 1 }, agent: { host: 'codex' } },
  })
  await other.data('init')
  const loop = startAssay(['loop'], { cwd: other.repo.dir, env: codex.env })
  const shown = await startServing(other.repo.dir)
  try {
    const told = await untilTold(shown.port, '/api/runs/run_0001/stream', (all) =>
      all.some(({ event, data }) => event === 'now' && data.lanes[0]?.agent),
    )
    expect(told.at(-1)?.data.lanes[0]).toMatchObject({
      experiment: 'exp_0001',
      phase: 'agent',
      limit_ms: 1_800_000,
      agent: {
        host: 'codex',
        role: 'implement',
        words: 'I look at \\x1b[2Jthe number.',
        tool: 'command_execution: cat src/metrics.txt',
      },
    })
    loop.kill('SIGTERM')
    await loop.ended
    // Its output is gone, and another file is not read for it.
    const record = join(other.repo.dir, '.assay/runs/run_0001/exp/0001/agent.json')
    const file = join(other.control, 'stdout')
    writeFileSync(file, `${JSON.stringify(words)}\n`)
    writeFileSync(record, JSON.stringify({ host: 'codex', role: 'implement', file }))
    const later = await untilTold(shown.port, '/api/runs/run_0001/stream', (all) =>
      all.some(({ event }) => event === 'now'),
    )
    expect(later.find(({ event }) => event === 'now')?.data.lanes).toMatchObject([
      { experiment: 'exp_0001', agent: null },
    ])
  } finally {
    loop.kill('SIGKILL')
    await other.cli(['serve', '--stop'])
  }
})

test.each([
  '/api/runs/run_0042',
  '/api/runs/run_0001/nodes/exp_0042',
  '/api/runs/..%2f..%2fetc',
  '/etc/passwd',
  '/api/runs/run_0001/diff/exp_0001/base?path=../../../etc/passwd',
])('%s shows a file, or breaks the server', async (path) => {
  const { status, body } = await serving.ask(path)
  if (status === 200) expect(JSON.parse(body)).toEqual({ patch: '' })
  else expect(status).toBe(404)
  expect((await serving.ask('/api/runs')).status).toBe(200)
})

test('an address of the page says less than it must', async () => {
  const { headers, body } = await serving.ask('/')
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': "frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  const policy = /Content-Security-Policy" content="([^"]+)"/.exec(body)?.[1]
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'$/,
  )
  expect(body).not.toContain(serving.token)
})

test('a read-only server acts, or a stopped one still runs', async () => {
  const other = makeProject()
  await other.data('init')
  const shown = await startServing(other.repo.dir, '--read-only')
  expect(shown.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
  const said = await shown.ask(DO, act({ action: 'note', text: 'no' }))
  expect(said.status).toBe(403)
  expect((await other.cli(['serve', '--stop'])).code).toBe(0)
  expect((await shown.running.ended).code).toBe(0)
  expect(problemOf(await other.cli(['serve', '--stop'])).code).toBe('not_served')
  const taken = await other.cli(['serve', '--port', String(serving.port)])
  expect(problemOf(taken).code).toBe('port_in_use')
})
