import { expect, test } from 'vitest'
import { sceneOf } from '../e2e/loop-scene.ts'
import { type InitData, makeProject } from '../e2e/project.ts'
import { openSession, type Script, type SessionHost } from './real/session.ts'

const HOSTS: [SessionHost, boolean][] = [
  ['claude-code', true],
  ['codex', true],
  ['copilot', true],
  ['pi', false],
]

test.each(HOSTS)(
  '%s: a command does not get the id of its session, or each command a different one (the host names it: %s)',
  async (host, named) => {
    const project = makeProject({ spec: { loop: { width: 1, stall: 1 } } })
    await project.data<InitData>('init')
    const { shell, play } = await openSession(host, project.repo)
    const said: Record<string, string> = {}
    function* main(): Script {
      const opened = yield shell('assay round open --json')
      const token = /"token":"(\w+)"/.exec(opened)?.[1]
      yield shell(`echo '{"briefs":[]}' | assay round briefs --token ${token} --json`)
      said.closed = yield shell(`echo '{"lanes":[]}' | assay round close --token ${token} --json`)
      yield { text: 'The loop is over.' }
    }
    await play('Go on with the run.', () => main())
    expect(said.closed).toContain('"stop":"stall"')
    const events = sceneOf(project.repo).events()
    const callers = events.flatMap((event) => ('by' in event ? [event.by] : []))
    const [first] = callers
    if (!named) expect(callers).toEqual([])
    else {
      expect(first).toMatchObject({ host, session: expect.stringMatching(/^[0-9a-f-]{36}$/) })
      // Opened, briefed, closed, given up.
      expect(callers).toEqual([first, first, first, first])
    }
  },
)
