import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assay, dataOf, problemOf } from '../rig/assay.ts'
import { makeTemp } from '../rig/temp.ts'
import { type InitData, makeProject, ms, type Project } from './project.ts'

const ME = 'session-me'
const AROUND = { env: { CLAUDE_CODE_SESSION_ID: ME } }

interface Told {
  decision?: string
  reason?: string
  hookSpecificOutput?: { permissionDecision: string; permissionDecisionReason: string }
}

/** A project with a baseline; `on` entrusts it to this session. */
async function driven({ on = true, spec = {} } = {}) {
  const project = makeProject({ spec })
  await project.data<InitData>('init')
  if (on) await turn(project, 'on')
  return project
}

const turn = (project: Project, word: string) => project.cli(['config', 'autonomous', word], AROUND)

/** What the hook prints, read; null when that is nothing. It must end with 0 and say nothing else, whatever it is told. */
async function hook(cwd: string, which: 'stop' | 'pre-tool', input: object | string): Promise<Told | null> {
  const text = typeof input === 'string' ? input : JSON.stringify({ session_id: ME, cwd, ...input })
  const { code, stdout, stderr } = await assay(['hook', which], { cwd, input: text })
  expect([code, stderr]).toEqual([0, ''])
  return stdout === '' ? null : (JSON.parse(stdout) as Told)
}
const stop = (project: Project, more: object = {}) => hook(project.repo.dir, 'stop', more)
const write = async (project: Project, file_path: string, more: object = {}) => {
  const told = await hook(project.repo.dir, 'pre-tool', {
    tool_name: 'Write',
    tool_input: { file_path },
    ...more,
  })
  return told?.hookSpecificOutput?.permissionDecision ?? null
}

describe('who continues', () => {
  test('a session that was not asked to continue, or a different session, is kept from ending', async () => {
    const project = await driven({ on: false })
    expect(await stop(project)).toBeNull()
    expect(await project.problem('config', 'autonomous', 'on')).toMatchObject({ code: 'no_session', exit: 3 })
    await turn(project, 'on')
    expect((await project.data<{ autonomous: object }>('status')).autonomous).toMatchObject({
      host: 'claude-code',
      session: ME,
    })
    expect((await stop(project))?.decision).toBe('block')
    expect(await stop(project, { session_id: 'another' })).toBeNull()
    await turn(project, 'off')
    expect(await stop(project)).toBeNull()
    expect(await write(project, 'src/metrics.txt')).toBeNull()
  })

  test('the stop hook says continue although the loop is over, paused, or driven by a process', async () => {
    const project = await driven()
    const told = await stop(project)
    expect(told?.reason).toContain('assay round next --wait 90s --run run_0001 --json')
    const driver = { pid: process.pid, started: 'unknown', host: 'another-machine' }
    const drove = { v: 1, id: 'd1', at: new Date().toISOString(), type: 'drove', driver: 'x', owner: driver }
    const ledger = project.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl')
    const append = (event: object) => writeFileSync(ledger, `${JSON.stringify(event)}\n`, { flag: 'a' })
    append({ ...drove, phase: 'start', active_ms: 0 })
    expect(await stop(project)).toBeNull()
    append({ ...drove, id: 'd2', phase: 'stop', active_ms: 0 })
    expect((await stop(project))?.decision).toBe('block')
    await project.data('loop', 'pause')
    expect(await stop(project)).toBeNull()
    await project.data('loop', 'resume')
    expect((await stop(project))?.decision).toBe('block')
    await project.data('loop', 'stop')
    expect(await stop(project)).toBeNull()
    expect(await write(project, 'src/metrics.txt')).toBeNull()
  })

  test('a session whose own agents still work is reminded twice, or one that does nothing can never stop', async () => {
    const project = await driven()
    const busy = (task: object) =>
      stop(project, { background_tasks: [{ id: 'x', status: 'running', ...task }] })
    expect(await busy({ type: 'workflow' })).toBeNull()
    expect(await busy({ type: 'subagent' })).toBeNull()
    expect(await busy({ type: 'shell', command: 'assay wait --for exp_0001' })).toBeNull()
    const four = async (session_id: string) => {
      const decisions: (string | undefined)[] = []
      for (let tries = 0; tries < 4; tries++) decisions.push((await stop(project, { session_id }))?.decision)
      return decisions
    }
    expect(await four(ME)).toEqual(['block', 'block', 'block', undefined])
    const spaced = 'session of mine'
    await project.cli(['config', 'autonomous', 'on'], { env: { CLAUDE_CODE_SESSION_ID: spaced } })
    expect(await four(spaced)).toEqual(['block', 'block', 'block', undefined])
    await turn(project, 'on')
    await project.data('note', 'something happened')
    expect((await busy({ type: 'shell', command: 'npm run dev' }))?.decision).toBe('block')
  })
})

describe('what it may write', () => {
  test('a tool may edit the checkout, or may not edit a worktree, by any path or name of a tool', async () => {
    const project = await driven()
    const { repo } = project
    const { worktree } = await project.open(ms(90))
    expect(await write(project, repo.path('src/metrics.txt'))).toBe('deny')
    expect(await write(project, 'src/new/deep/file.txt')).toBe('deny')
    expect(await write(project, join(worktree, 'src/metrics.txt'))).toBeNull()
    expect(await write(project, join(worktree, 'src/new/file.txt'))).toBeNull()
    expect(await write(project, 'src/metrics.txt', { cwd: worktree })).toBeNull()
    expect(await write(project, join(worktree, '../../../src/metrics.txt'))).toBe('deny')
    expect(await write(project, join(makeTemp('elsewhere'), 'notes.md'))).toBeNull()
    const alias = join(makeTemp('alias'), 'link')
    symlinkSync(repo.dir, alias)
    expect(await write(project, join(alias, 'src/metrics.txt'))).toBe('deny')
    expect(await write(project, `${worktree.replace(repo.dir, alias)}/src/metrics.txt`)).toBeNull()
    const patch = (path: string) => ({
      tool_name: 'apply_patch',
      tool_input: { command: `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch` },
    })
    expect(await write(project, '', patch('src/metrics.txt'))).toBe('deny')
    expect(await write(project, '', patch(join(worktree, 'src/metrics.txt')))).toBeNull()
    const tools = await hook(repo.dir, 'pre-tool', { tool_name: 'Bash', tool_input: { command: 'ls' } })
    expect(tools).toBeNull()
  })

  test('an agent of a lane gets the reminder of its session, or a session without a run gets one', async () => {
    const project = await driven()
    const path = project.repo.path('src/metrics.txt')
    const input = { tool_name: 'Edit', tool_input: { file_path: path } }
    const said = async (more: object) =>
      (await hook(project.repo.dir, 'pre-tool', { ...input, ...more }))?.hookSpecificOutput
        ?.permissionDecisionReason
    expect(await said({ agent_id: 'a1', agent_type: 'general-purpose' })).toContain('A lane edits its own')
    expect(await said({})).toContain('config autonomous off')
    expect(await said({ session_id: 'another' })).toBeUndefined()
  })
})

test('a session that lost its lease is told to continue, or may not edit the checkout', async () => {
  const project = await driven()
  const later = { CODEX_THREAD_ID: 'later' }
  dataOf(await project.cli(['round', 'open'], AROUND))
  expect((await stop(project))?.decision).toBe('block')
  // By a person's word: what was entrusted ends with it.
  dataOf(await project.cli(['round', 'open', '--take-over'], { env: later }))
  expect([await stop(project), await write(project, 'src/metrics.txt')]).toEqual([null, null])
  expect(await project.data('status')).toMatchObject({
    turn: { session: 'later', live: true },
    autonomous: null,
  })
  // Entrusted once more, it still has to wait for its turn.
  await turn(project, 'on')
  expect([await stop(project), await write(project, 'src/metrics.txt')]).toEqual([null, null])
  dataOf(await project.cli(['round', 'open', '--take-over'], AROUND))
  expect((await stop(project))?.decision).toBe('block')
})

test('a session of a program whose hooks are untested is kept from stopping', async () => {
  const project = await driven({ on: false })
  const refused = await project.cli(['config', 'autonomous', 'on'], { env: { COPILOT_AGENT_SESSION_ID: ME } })
  expect([refused.code, problemOf(refused).code]).toEqual([3, 'no_session'])
})

test('a hook with unreadable input, or in a broken run, blocks the session', async () => {
  const project = await driven()
  for (const text of [
    '',
    'null',
    '[]',
    '{"session_id":7}',
    '{',
    JSON.stringify({ session_id: ME, cwd: '/nowhere' }),
  ])
    expect(await hook(project.repo.dir, 'stop', text)).toBeNull()
  const outside = makeTemp('outside')
  mkdirSync(join(outside, 'x'))
  expect(await hook(outside, 'stop', {})).toBeNull()
  expect(await hook(outside, 'pre-tool', { tool_input: { file_path: 'x/y' } })).toBeNull()
  expect(readdirSync(outside)).toEqual(['x'])
  const ledger = project.repo.path('.assay', 'runs', 'run_0001', 'ledger.jsonl')
  writeFileSync(ledger, `{"broken"\n${readFileSync(ledger, 'utf8')}`)
  expect(await stop(project)).toBeNull()
  expect(await write(project, 'src/metrics.txt')).toBeNull()
})
