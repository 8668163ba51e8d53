/** A loop that a workflow script of the user's own drives: `loop.workflow` names its file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { until } from '../rig/until.ts'
import { notebook, openScene, RUN } from './loop-scene.ts'
import { answers, numberFiles, numberSpec } from './number-scene.ts'

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

test.each([
  ['as it is ejected now', '../../workflows/optimize.js', true],
  ['as it was ejected while it held the prompts', './ejected/optimize-with-prompts.js', false],
])(
  'a script of the user’s own, %s, is not run, or asks an agent again that has answered',
  async (_what, path, byTasks) => {
    const notes = notebook()
    const host = scriptedHost(
      answers({
        implement: `async (card) => {
        appendFileSync(${JSON.stringify(notes.file)}, card.round + '\\n')
        if (card.round === 2 && !existsSync(${JSON.stringify(`${notes.file}.go`)}))
          await new Promise((resolve) => setTimeout(resolve, 3_600_000))
        return implement(card)
      }`,
      }),
    )
    const spec = numberSpec(host, { loop: { workflow: 'own/loop.js' }, budget: { experiments: 2 } })
    const scene = await openScene({ ...numberFiles, 'own/loop.js': textOf(path) }, spec)
    const driver = scene.startLoop('--json')
    await until(() => notes.lines().includes('2'), { what: 'the agent of round 2 to hang' })
    process.kill(-driver.pid, 'SIGKILL')
    await driver.ended
    const before = host.calls().length
    expect(existsSync(scene.repo.path('.assay', 'runs', RUN, 'workflows', 'wf_0001', 'journal.jsonl'))).toBe(
      true,
    )
    writeFileSync(`${notes.file}.go`, '')
    expect(dataOf(await scene.loop())).toMatchObject({ stop: 'budget', best: { value: 98 } })
    const asked = host.calls().map(({ role, card }) => `${card.round} ${role}`)
    expect(asked.slice(before)).toEqual(['2 implement', '2 verify', '2 audit', '2 collect'])
    expect(scene.eventsOf('task_answered').length > 0).toBe(byTasks)
  },
)
