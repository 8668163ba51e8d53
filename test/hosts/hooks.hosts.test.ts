import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type InitData, makeProject, ms } from '../e2e/project.ts'
import type { Ask } from '../rig/model-dialects.ts'
import { openSession, type Script } from './real/session.ts'

const LANE = 'You are the lane of this test.'
const write = (file_path: string) => ({ tool: 'Write', input: { file_path, content: 'METRIC ms=90\n' } })

test('claude-code: a session stops although its loop continues, continues after its loop, or edits the checkout', async () => {
  const project = makeProject({ spec: { loop: { width: 1, stall: 1 } } })
  const { repo } = project
  await project.data<InitData>('init')
  const { worktree } = await project.open(ms(95))
  const session = await openSession('claude-code', repo)
  const { shell } = session
  const said: Record<string, string> = {}

  function* lane(): Script {
    said.laneInWorktree = yield write(join(worktree, 'src/lane.txt'))
    said.laneInCheckout = yield write(repo.path('src/lane.txt'))
    yield { text: 'The lane has ended.' }
  }
  function* main(): Script {
    said.before = yield write(repo.path('src/before.txt'))
    said.on = yield shell('assay config autonomous on --json')
    said.inCheckout = yield write(repo.path('src/main.txt'))
    said.inWorktree = yield write(join(worktree, 'src/main.txt'))
    said.agent = yield {
      tool: 'Agent',
      input: { description: 'a lane', prompt: LANE, subagent_type: 'general-purpose' },
    }
    said.goOn = yield { text: 'I would like to end here.' }
    const opened = yield shell('assay round open --json')
    const token = /"token":"(\w+)"/.exec(opened)?.[1]
    yield shell(`echo '{"briefs":[]}' | assay round briefs --token ${token} --json`)
    said.closed = yield shell(`echo '{"lanes":[]}' | assay round close --token ${token} --json`)
    yield { text: 'The loop is over.' }
  }
  const isLane = (ask: Ask) => ask.turns.some(({ from, text }) => from === 'user' && text.includes(LANE))
  await session.play('Go on with the run.', (ask) => (isLane(ask) ? lane() : main()))

  expect(said.on).toContain('"host":"claude-code"')
  expect(said.inCheckout).toContain('run_0001 of Assay is being driven from here')
  expect(said.laneInCheckout).toContain('A lane edits its own worktree only')
  expect(said.goOn).toContain('run_0001 of Assay is not over')
  expect(said.closed).toContain('"stop":"stall"')
  const written = ['before', 'main', 'lane'].map((name) => existsSync(repo.path(`src/${name}.txt`)))
  expect(written).toEqual([true, false, false])
  expect(['main', 'lane'].map((name) => existsSync(join(worktree, `src/${name}.txt`)))).toEqual([true, true])
})

test('codex: hooks that the user trusts do not know their session, or say it in a form that it does not read', async () => {
  const project = makeProject({ spec: { loop: { width: 1, stall: 1 } } })
  await project.data<InitData>('init')
  const session = await openSession('codex', project.repo)
  const { shell } = session
  const said: Record<string, string> = {}
  function* main(): Script {
    yield shell('assay config autonomous on --json')
    said.goOn = yield { text: 'I would like to end here.' }
    yield shell('assay loop stop')
    yield { text: 'The loop is over.' }
  }
  await session.play('Go on with the run.', () => main(), ['--dangerously-bypass-hook-trust'])
  expect(said.goOn).toContain('run_0001 of Assay is not over')
})
