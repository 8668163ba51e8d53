/** A number in a file, measured as it is; a scripted program as the host, which lowers it. */
import { dataOf } from '../rig/assay.ts'
import { type ScriptedHost, scriptedHost } from '../rig/host.ts'
import { type LoopData, openScene, type Scene } from './loop-scene.ts'

export const numberFiles = {
  'src/number.txt': '100\n',
  'src/sealed.txt': 'not to be changed\n',
  'bench/run.sh': 'echo METRIC ms=$(cat src/number.txt)\n',
}

export const numberSpec = (
  host: ScriptedHost,
  { loop = {}, agent = {}, ...rest }: Record<string, unknown> = {},
) => ({
  version: 1,
  name: 'number',
  goal: 'Make the number small.',
  scope: { mutable: ['src/number.txt'], immutable: ['bench/**'] },
  measure: { command: ['sh', 'bench/run.sh'] },
  metric: { name: 'ms', direction: 'minimize' },
  noise: { mode: 'deterministic', calibrate: 2 },
  search: { policy: 'argmax', k: 1 },
  loop: { width: 1, depth: 1, stall: 1, revise: 1, ...(loop as object) },
  budget: { hours: 24 },
  agent: { host: 'command', command: host.argv, ...(agent as object) },
  ...rest,
})

/** A host that lowers the number by one, but for what the test says: role → text of a function. */
export const answers = (
  roles: Record<string, string> = {},
) => `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
const read = (card) => Number(readFileSync(card.worktree + '/src/number.txt', 'utf8'))
const write = (card, value) => writeFileSync(card.worktree + '/src/number.txt', value + '\\n')
const refuse = (message) => {
  console.error(message)
  process.exit(77)
}
const done = (hypothesis) => ({ hypothesis, learnings: [], suggestions: [] })
const implement = (card) => {
  write(card, read(card) - 1)
  return done('one less than ' + (read(card) + 1))
}
const brief = ({ round, capsule: { open } }) => ({
  briefs: Array.from({ length: open.width }, (_, lane) => ({
    parent: open.parents[0].experiment,
    objective: 'go down, round ' + round + ' lane ' + lane,
    pointers: ['place ' + lane],
  })),
})
export default {
  scan: () => ({ findings: [] }),
  ideate: () => ({ ideas: [] }),
  brief,
  implement,
  revise: implement,
  verify: () => ({ passed: true, findings: [] }),
  audit: () => ({ findings: [] }),
  collect: () => ({ learnings: [], suggestions: [] }),
${Object.entries(roles)
  .map(([role, text]) => `  ${role}: ${text},\n`)
  .join('')}}
`

export async function play(
  roles: Record<string, string>,
  parts: Record<string, unknown> = {},
): Promise<{ scene: Scene; host: ScriptedHost; data: LoopData }> {
  const host = scriptedHost(answers(roles))
  const scene = await openScene(numberFiles, numberSpec(host, parts))
  return { scene, host, data: dataOf(await scene.loop()) }
}

export const rolesOf = (host: ScriptedHost) => host.calls().map(({ role }) => role)
export const verdicts = (scene: Scene) =>
  scene.eventsOf('judged').map(({ experiment, status, value }) => [experiment, status, value])
