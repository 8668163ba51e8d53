import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { notebook, openScene } from './loop-scene.ts'

const BENCH = 'echo METRIC ms=$(cat src/number.txt)\n'
const spec = (argv: string[], more = {}) => ({
  version: 1,
  name: 'number',
  goal: 'Make the number small.',
  scope: { mutable: ['src/**'], immutable: ['bench/**'] },
  measure: { command: ['sh', 'bench/run.sh'] },
  metric: { name: 'ms', direction: 'minimize' },
  noise: { mode: 'deterministic', calibrate: 2 },
  loop: { width: 1, depth: 1 },
  budget: { experiments: 5 },
  agent: { host: 'command', command: argv, ...more },
})

test('what a verifier or an auditor edits is judged, stays for the next agent, or is not reported', async () => {
  const seen = notebook()
  const host =
    scriptedHost(`import { appendFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
const at = (card, name) => card.worktree + '/src/' + name
const look = (card) => appendFileSync(${JSON.stringify(seen.file)}, [card.role, readFileSync(at(card, 'number.txt'), 'utf8').trim(), existsSync(at(card, 'kept.txt')), existsSync(at(card, 'new.txt'))].join(' ') + '\\n')
const tamper = (card) => {
  look(card)
  writeFileSync(at(card, 'number.txt'), '1\\n')
  writeFileSync(at(card, 'new.txt'), '1\\n')
  rmSync(at(card, 'kept.txt'))
  symlinkSync('/etc', at(card, 'link'))
}
let verified = 0
export default {
  brief: () => ({ briefs: [{ objective: 'less' }] }),
  implement: (card) => { writeFileSync(at(card, 'number.txt'), '90\\n'); return {} },
  verify: (card) => { tamper(card); return { passed: existsSync(at(card, 'revised.txt')), findings: [{ message: 'more' }] } },
  revise: (card) => { look(card); writeFileSync(at(card, 'revised.txt'), 'x\\n'); return {} },
  audit: (card) => { tamper(card); return { findings: [] } },
  '*': () => ({ learnings: [], suggestions: [], findings: [] }),
}`)
  const scene = await openScene(
    { 'src/number.txt': '100\n', 'src/kept.txt': 'k\n', 'bench/run.sh': BENCH },
    spec(host.argv),
  )
  const done = dataOf(await scene.loop('--rounds', '1'))
  expect(done.best).toEqual({ experiment: 'exp_0001', value: 90 })
  expect(seen.lines()).toEqual([
    'verify 90 true false',
    'revise 90 true false',
    'verify 90 true false',
    'audit 90 true false',
  ])
  expect(scene.eventsOf('alerted').map(({ role, experiment, paths }) => [role, experiment, paths])).toEqual(
    ['verify', 'verify', 'audit'].map((role) => [
      role,
      'exp_0001',
      ['src/kept.txt', 'src/link', 'src/new.txt', 'src/number.txt'],
    ]),
  )
  const folders = done.alerts.map((alert) => /edited files to (.*)$/.exec(String(alert))?.[1] ?? '')
  for (const folder of folders) {
    expect(folder).toContain(scene.repo.path('.assay', 'trash'))
    expect(readFileSync(join(folder, 'src/new.txt'), 'utf8')).toBe('1\n')
  }
  const shown = done.alerts.map((alert, index) => String(alert).replace(folders[index] ?? '', 'TRASH'))
  expect([...new Set(shown)]).toEqual([
    'the agent for verify may only read, but it edited the worktree of exp_0001: src/kept.txt, src/link, src/new.txt, src/number.txt; Assay undid this and moved the edited files to TRASH',
    'the agent for audit may only read, but it edited the worktree of exp_0001: src/kept.txt, src/link, src/new.txt, src/number.txt; Assay undid this and moved the edited files to TRASH',
  ])
})

test('a reader that takes the worktree from git leaves what it edited to the next agent', async () => {
  const seen = notebook()
  const host =
    scriptedHost(`import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
const number = (card) => card.worktree + '/src/number.txt'
export default {
  brief: () => ({ briefs: [{ objective: 'less' }] }),
  implement: (card) => { writeFileSync(number(card), '90\\n'); return {} },
  verify: (card) => {
    const passed = existsSync(card.worktree + '/src/revised.txt')
    if (passed) return { passed }
    writeFileSync(number(card), '1\\n')
    rmSync(card.worktree + '/.git')
    return { passed, findings: [{ message: 'more' }] }
  },
  revise: (card) => {
    appendFileSync(${JSON.stringify(seen.file)}, readFileSync(number(card), 'utf8'))
    writeFileSync(card.worktree + '/src/revised.txt', 'x\\n')
    return {}
  },
  '*': () => ({ learnings: [], suggestions: [], findings: [] }),
}`)
  const scene = await openScene({ 'src/number.txt': '100\n', 'bench/run.sh': BENCH }, spec(host.argv))
  const done = dataOf(await scene.loop('--rounds', '1'))
  expect(seen.lines()).toEqual(['90'])
  expect(done.best).toEqual({ experiment: 'exp_0001', value: 90 })
  expect(scene.show(scene.eventsOf('sealed').at(-1)?.commit ?? '', 'src/revised.txt')).toBe('x\n')
  expect(scene.eventsOf('alerted').map(({ role, paths }) => [role, paths])).toEqual([
    ['verify', ['src/number.txt']],
  ])
})

test('edits of agents in the user’s checkout are not reported, are reported at each call, or are undone', async () => {
  const folder = notebook()
  const host = scriptedHost(`import { readFileSync, writeFileSync } from 'node:fs'
const answers = {
  scan: () => ({ findings: [] }),
  ideate: () => ({ ideas: [] }),
  brief: ({ round }) => ({ briefs: [{ objective: 'step ' + round }] }),
  implement: (card) => { writeFileSync(card.worktree + '/src/number.txt', 100 - card.round + '\\n'); return {} },
  verify: () => ({ passed: true }),
  audit: () => ({ findings: [] }),
  collect: () => ({ learnings: [], suggestions: [] }),
}
const stray = (role) => (card) => {
  writeFileSync(readFileSync(${JSON.stringify(folder.file)}, 'utf8') + '/' + role + '.txt', String(Math.random()))
  return answers[role](card)
}
export default Object.fromEntries(Object.keys(answers).map((role) => [role, stray(role)]))`)
  const scene = await openScene(
    { 'src/number.txt': '100\n', 'bench/run.sh': BENCH, 'scan.txt': 'mine\n' },
    { ...spec(host.argv), loop: { width: 1, depth: 1, ideate: { stall: 5, keeps: 1 } } },
  )
  writeFileSync(folder.file, scene.repo.dir)
  const done = dataOf(await scene.loop('--rounds', '2'))
  expect(done.rounds).toBe(2)
  const roles = ['brief', 'implement', 'verify', 'audit', 'collect', 'scan', 'ideate']
  expect(scene.eventsOf('alerted').map(({ role, paths }) => [role, paths])).toEqual(
    roles.map((role) => [role, [`${role}.txt`]]),
  )
  expect(done.alerts).toEqual(
    roles.map(
      (role) =>
        `while the agent for ${role} worked, ${role}.txt changed in ${scene.repo.dir}: if you did not change it, check it with git diff`,
    ),
  )
  expect(readFileSync(scene.repo.path('scan.txt'), 'utf8')).not.toBe('mine\n')
})
