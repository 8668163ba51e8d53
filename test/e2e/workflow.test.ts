import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { assay, dataOf, problemOf, startAssay } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'

const META = "export const meta = { name: 'ours', description: 'asks', phases: [{ title: 'Ask' }] }\n"

/** Notes each prompt in `calls`; one that begins with "slow" hangs at a pipe that nobody writes, unless `go` is there. */
const AGENT = `#!/bin/sh
prompt=$(cat)
echo "$prompt" >> calls
case "$prompt" in
  slow*) [ -e go ] || cat gate ;;
  object*) echo 'It is {"n": 5}'; exit 0 ;;
  broken*) echo 'no quota' >&2; exit 77 ;;
esac
echo "did $prompt"
`

let cwd = ''
beforeEach(() => {
  cwd = makeTemp('plain')
  writeFileSync(join(cwd, 'agent.sh'), AGENT, { mode: 0o755 })
})
const script = (body: string, name = 'w.js') => writeFileSync(join(cwd, name), META + body)
const calls = () => readFileSync(join(cwd, 'calls'), 'utf8').trimEnd().split('\n')
const workflow = <T = unknown>(...args: string[]) => assay<T>(['workflow', ...args], { cwd })

test('run in a folder without git or a run: the answer has every field, prompts go to the command as they are', async () => {
  script(`phase('Later')
log('a line')
const text = await agent('text ' + args.x + " $HOME 'q'")
const object = await agent('object', { schema: { type: 'object', properties: { n: { type: 'number' } } } })
return { text, object, none: await agent('broken', { label: 'b' }) }`)
  const ran = await workflow(
    'run',
    'w.js',
    '--args',
    '{"x":7}',
    '--host',
    'command',
    '--command',
    './agent.sh',
    '--json',
  )
  expect(ran.code).toBe(0)
  expect(dataOf(ran)).toEqual({
    status: 'completed',
    result: { text: "did text 7 $HOME 'q'", object: { n: 5 }, none: null },
    error: null,
    logs: ['a line', '[b] failed: no quota'],
    phases: ['Ask', 'Later'],
    agents: 3,
    usage: { tokens_in: null, tokens_out: null, usd: null, at_least: true },
    run: expect.stringMatching(/^wf_[0-9a-f]{12}$/),
  })
  expect(calls()).toEqual(["text 7 $HOME 'q'", 'object', 'broken'])
  expect(existsSync(join(cwd, '.assay'))).toBe(false)
})

test('a script that throws has done its job badly: exit 4, its own line is named, agents may be asked again', async () => {
  script(`await agent('first')\nthrow new Error('boom')`)
  const ran = await workflow<{ status: string; error: string; result: unknown }>(
    'run',
    './w.js',
    '--command',
    './agent.sh',
    '--json',
  )
  expect(ran.code).toBe(4)
  expect(dataOf(ran)).toMatchObject({ status: 'failed', result: null })
  expect(dataOf(ran).error).toMatch(/^Error: boom\n.*w\.js:3:7/)
})

test('resume asks nobody again; it is refused while the run continues, and reads the script as it is then', async () => {
  execFileSync('mkfifo', [join(cwd, 'gate')])
  script(`const a = await agent('fast')\nreturn [a, await agent('slow one'), args]`)
  const running = startAssay<{ run: string }>(
    ['workflow', 'run', 'w.js', '--args', '[1]', '--command', './agent.sh'],
    { cwd },
  )
  await running.said('agent slow one started')
  const id = /wf_[0-9a-f]{12}/.exec(running.output().stderr)?.[0] ?? ''
  const refused = await workflow('resume', id, '--json')
  expect([refused.code, problemOf(refused).code]).toEqual([3, 'driven'])
  running.kill('SIGINT')
  const stopped = await running.ended
  expect([stopped.code, stopped.stderr]).toEqual([
    130,
    expect.stringContaining(`assay workflow resume ${id}`),
  ])

  writeFileSync(join(cwd, 'go'), '')
  script(`const a = await agent('fast')\nreturn [a, await agent('slow one'), args, 'edited']`)
  const resumed = await assay<{ result: unknown; run: string }>(['workflow', 'resume', id, '--json'], {
    cwd: makeTemp('elsewhere'),
  })
  expect(dataOf(resumed)).toMatchObject({ result: ['did fast', 'did slow one', [1], 'edited'], run: id })
  expect(calls()).toEqual(['fast', 'slow one', 'slow one'])
})

test('agents of type assay:clerk are this CLI; a named workflow is found; worktrees are refused, not ignored', async () => {
  mkdirSync(join(cwd, '.claude', 'workflows'), { recursive: true })
  script('return { named: args }', join('.claude', 'workflows', 'n.js'))
  script(`const fence = '\`\`\`'
const status = await agent(fence + 'sh\\nassay status --json\\n' + fence, { agentType: 'assay:clerk' })
let isolated
try { isolated = await agent('x', { isolation: 'worktree' }) } catch (error) { isolated = error.message }
return { code: JSON.parse(status).problem.code, child: await workflow('ours', 3), isolated }`)
  const ran = await workflow<{ result: unknown }>('run', 'w.js', '--command', './agent.sh', '--json')
  expect(dataOf(ran).result).toEqual({
    code: 'no_run',
    child: { named: 3 },
    isolated: expect.stringContaining("agent({isolation: 'worktree'}) is not available here"),
  })
  const named = await workflow<{ result: unknown }>('run', 'ours', '--command', './agent.sh', '--json')
  expect(dataOf(named).result).toEqual({})
})

test.each([
  ['no host', ['run', 'w.js'], 'no_host'],
  ['a host without its command', ['run', 'w.js', '--host', 'command'], 'needs_command'],
  ['a host that is not known', ['run', 'w.js', '--host', 'nobody'], 'bad_value'],
  ['a host that needs a run', ['run', 'w.js', '--host', 'tune'], 'needs_run'],
  ['args that are not JSON', ['run', 'w.js', '--command', 'cat', '--args', '{x}'], 'bad_value'],
  ['a file that is not there', ['run', './none.js', '--command', 'cat'], 'unknown_workflow'],
  ['a script that does not parse', ['run', 'bad.js', '--command', 'cat'], 'bad_workflow'],
  ['a run that is not there', ['resume', 'wf_000000000000'], 'unknown_workflow_run'],
  ['a path for a run', ['resume', '../../x'], 'unknown_workflow_run'],
])('exit 2, and nothing is started, for %s', async (_what, args, code) => {
  script('return 1')
  writeFileSync(join(cwd, 'bad.js'), 'return 1')
  const ran = await workflow(...args, '--json')
  expect([ran.code, problemOf(ran).code, problemOf(ran).hint]).toEqual([2, code, expect.any(String)])
})

test('check tells file, line, column and fix, and exits 0 when there is nothing', async () => {
  script('return 1')
  const good = await workflow('check', 'w.js', '--json')
  expect(dataOf(good)).toEqual({
    file: join(cwd, 'w.js'),
    name: 'ours',
    description: 'asks',
    phases: ['Ask'],
  })
  script('return Date.now()')
  const bad = await workflow('check', 'w.js')
  expect([bad.code, bad.stdout, bad.stderr]).toEqual([
    2,
    '',
    `assay: Date.now() throws in workflow scripts: a resumed run would go another way
  at w.js:2:8
       return Date.now()
              ^^^^^^^^
  → pass the time in args, or stamp the result after the workflow
`,
  ])
})

test('eject copies ours to where it is found by name, and overwrites nothing', async () => {
  const ejected = await workflow<{ file: string }>('eject', 'optimize', '--json')
  expect(dataOf(ejected).file).toBe(join(cwd, '.claude', 'workflows', 'optimize.js'))
  const listed = await workflow<{ workflows: { name: string; file: string }[] }>('list', '--json')
  expect(dataOf(listed).workflows.map(({ name }) => name)).toEqual(['optimize', 'assay:optimize'])
  expect((await workflow('check', 'optimize')).code).toBe(0)
  const again = await workflow('eject', 'assay:optimize', '--json')
  expect([again.code, problemOf(again).code]).toEqual([3, 'file_exists'])
  const there = await workflow('eject', 'optimize', '--to', 'deep/own.js')
  expect([there.code, existsSync(join(cwd, 'deep', 'own.js'))]).toEqual([0, true])
})

test('a pattern of a script hangs the CLI on what an agent answered', async () => {
  script(
    `return await agent('object', { schema: { type: 'object', properties: { n: { type: 'string', pattern: '^(a+)+$' } } } })`,
  )
  writeFileSync(join(cwd, 'agent.sh'), `#!/bin/sh\necho '{"n": "${'a'.repeat(50)}!"}'\n`, { mode: 0o755 })
  const ran = await workflow<{ result: unknown; logs: string[] }>(
    'run',
    'w.js',
    '--command',
    './agent.sh',
    '--json',
  )
  expect(dataOf(ran).result).toBeNull()
  expect(dataOf(ran).logs).toEqual([
    expect.stringMatching(/^\[object\] failed: the schema cannot be checked: it takes more than 2 s/),
  ])
})
