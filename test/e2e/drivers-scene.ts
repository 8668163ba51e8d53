/**
 * One scene that every driver of the loop plays: what each agent writes and answers, by its task, what a person does meanwhile, and
 * what the ledger must hold afterwards.
 */
import { execFileSync } from 'node:child_process'
import type { Event } from '../../cli/ledger/events.ts'
import { ASSAY_BIN, dataOf } from '../rig/assay.ts'
import type { ScriptedHost } from '../rig/host.ts'
import type { Files } from '../rig/repo.ts'
import { isolatedEnv } from '../rig/temp.ts'
import type { Scene } from './loop-scene.ts'
import { numberFiles } from './number-scene.ts'

export interface Part {
  /** What the agent leaves in `src/number.txt` of its worktree. */
  writes?: string
  /** A command that a person runs while the agent is at work; EXP is its experiment. */
  meanwhile?: string[]
  /** null: it has nothing to hand in. PARENT is the first parent of the round. */
  answer: object | null
}

const brief = (objective: string, place: string) => ({ parent: 'PARENT', objective, pointers: [place] })
const PASSED: Part = { answer: { passed: true, findings: [] } }
const done = (writes: string, hypothesis: string): Part => ({ writes, answer: { hypothesis, learnings: [] } })

/**
 * Round 1: lane 1 is revised for a finding and kept, lane 2 is rejected, and a person aborts lane 3, which hangs. A person pauses
 * the loop while the lessons are collected. Round 2: lane 1 does not build, is repaired and kept, and a person revokes it while its
 * auditor is out; the agent of lane 2 leaves nothing; no candidate of lane 3 passes its verifier.
 */
export const PARTS: Record<string, Part> = {
  'r1/brief': {
    answer: {
      briefs: [brief('sort first', 'one'), brief('keep a table', 'two'), brief('read ahead', 'three')],
    },
  },
  'r1/l1/d1/implement': done('99', 'a first try'),
  'r1/l1/d1/verify': { answer: { passed: false, findings: [{ message: 'it gains too little' }] } },
  'r1/l1/d1/revise.1': done('98', 'a second try'),
  'r1/l1/d1/verify.1': PASSED,
  'r1/l1/d1/audit': { answer: { findings: [] } },
  'r1/l2/d1/implement': done('105', 'a table'),
  'r1/l2/d1/verify': PASSED,
  'r1/l3/d1/implement': done('77', 'it reads for ever'),
  'r1/l3/d1/verify': PASSED,
  'r1/collect': {
    meanwhile: ['loop', 'pause', '--reason', 'lunch'],
    answer: { learnings: ['tables are slow'], suggestions: [] },
  },
  'r2/scan/1': { answer: { findings: [] } },
  'r2/brief': {
    answer: { briefs: [brief('unroll it', 'four'), brief('split it', 'five'), brief('guess it', 'six')] },
  },
  'r2/l1/d1/implement': done('broken', 'unrolled'),
  'r2/l1/d1/verify': PASSED,
  'r2/l1/d1/revise.1': done('90', 'unrolled, and it builds'),
  'r2/l1/d1/verify.1': PASSED,
  'r2/l1/d1/audit': {
    meanwhile: ['revoke', 'EXP', '--reason', 'it caches the answer'],
    answer: { findings: [{ message: 'it looks too good' }] },
  },
  'r2/l2/d1/implement': { answer: null },
  'r2/l3/d1/implement': done('60', 'a guess'),
  'r2/l3/d1/verify': { answer: { passed: false, findings: [{ message: 'it guesses' }] } },
  'r2/l3/d1/revise.1': done('50', 'a better guess'),
  'r2/l3/d1/verify.1': { answer: { passed: false, findings: [{ message: 'it still guesses' }] } },
  'r2/collect': { answer: { learnings: ['guesses do not pass'], suggestions: [] } },
}

export const sceneFiles: Files = {
  ...numberFiles,
  'bench/run.sh': 'n=$(cat src/number.txt)\n[ "$n" = 77 ] && sleep 600\necho METRIC ms=$n\n',
  'bench/build.sh': 'grep -q "^[0-9]*$" src/number.txt\n',
}

export const sceneSpec = (agent: object, loop: object = {}) => ({
  version: 1,
  name: 'number',
  goal: 'Make the number small.',
  scope: { mutable: ['src/number.txt'], immutable: ['bench/**'] },
  measure: { command: ['sh', 'bench/run.sh'] },
  metric: { name: 'ms', direction: 'minimize' },
  noise: { mode: 'deterministic', calibrate: 2 },
  search: { policy: 'argmax', k: 1 },
  // A slow machine gives the meta controller time for a look of its own.
  loop: { width: 3, depth: 1, stall: 9, revise: 1, meta: { on: false }, ...loop },
  worktree: { build: { command: ['sh', 'bench/build.sh'] } },
  budget: { experiments: 20 },
  agent,
})

/** The command that a person runs meanwhile, in the repository. */
export function meanwhile({ meanwhile: command }: Part, repo: string, experiment: string | null): void {
  if (!command) return
  const args = command.map((word) => (word === 'EXP' ? (experiment ?? '') : word))
  execFileSync(process.execPath, [ASSAY_BIN, ...args], { cwd: repo, env: isolatedEnv(), stdio: 'pipe' })
}

/** The answer as JSON; null = there is none. */
export const answerOf = ({ answer }: Part, parent: string): string | null =>
  answer === null ? null : JSON.stringify(answer).replaceAll('PARENT', parent)

/** The scene as a module of `scriptedHost`. */
export const sceneHost = () => `import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const parts = ${JSON.stringify(PARTS)}
const env = ${JSON.stringify(isolatedEnv())}
const play = (card, { cwd }) => {
  const { writes, meanwhile, answer } = parts[card.task]
  if (writes) writeFileSync(card.worktree + '/src/number.txt', writes + '\\n')
  if (meanwhile) {
    const args = meanwhile.map((word) => (word === 'EXP' ? card.experiment : word))
    execFileSync(process.execPath, [${JSON.stringify(ASSAY_BIN)}, ...args], { cwd: cwd.split('/.assay/')[0], env })
  }
  if (answer === null) return 'I only looked.'
  return JSON.stringify(answer).replaceAll('PARENT', card.brief.parents?.[0].experiment)
}
export default { '*': play }
`

/** As a person who sees that lane 3 hangs. */
export async function abortLane3(scene: Scene): Promise<void> {
  const hung = () =>
    scene.eventsOf('created').find(({ round, lane }) => round === 1 && lane === 3)?.experiment
  await scene.happened('lane 3 to be measured', (one) => one.type === 'started' && one.experiment === hung())
  const why = ['--failure-class', 'eval', '--reason', 'it hangs']
  dataOf(await scene.cli(['abort', hung() ?? '', ...why]))
}

/** As the person who paused it. */
export async function resume(scene: Scene): Promise<void> {
  await scene.happened('round 1 to be closed', ({ type }) => type === 'round_closed')
  dataOf(await scene.cli(['loop', 'resume']))
}

const OF_A_DRIVER: readonly Event['type'][] = ['usage', 'drove', 'leased']

/** As `round next` says it. */
interface Told {
  over: string | null
  tasks: { id: string; experiment: string | null }[]
}

/** What a session does, with the scripted program in the place of its subagents. */
export async function session(scene: Scene, host: ScriptedHost, rounds: number): Promise<void> {
  for (;;) {
    const next = dataOf(await scene.cli<Told>(['round', 'next', '--until', String(rounds), '--wait', '50s']))
    if (next.over !== null) return
    for (const { id } of next.tasks) {
      const { prompt } = dataOf(await scene.cli<{ prompt: string }>(['task', id]))
      const said = execFileSync(host.argv[0], [host.argv[1]], { cwd: scene.repo.dir, input: prompt })
      const answered = said.toString().startsWith('{')
        ? scene.cli(['answer', id], said.toString())
        : scene.cli(['answer', id, '--none'])
      dataOf(await answered)
    }
  }
}

/** By lane, in order: what happened there, without ids and times. */
export function sequences(scene: Scene): Record<string, string[]> {
  const lanes = new Map<string, string>()
  const found: Record<string, string[]> = {}
  for (const event of scene.events()) {
    if (OF_A_DRIVER.includes(event.type)) continue
    if (event.type === 'created' && event.round !== null)
      lanes.set(event.experiment, `round ${event.round}, lane ${event.lane}`)
    const { type, task, experiment, status, reason, outcome } = event as unknown as Record<
      string,
      string | undefined
    >
    const lane = lanes.get(experiment ?? '') ?? 'of all'
    const role = task?.slice(task.lastIndexOf('/') + 1)
    found[lane] = [...(found[lane] ?? []), [type, role, status, reason, outcome].filter(Boolean).join(' ')]
  }
  return found
}

const TRIED = ['created', 'task_answered implement', 'sealed', 'task_answered sealed', 'task_answered verify']
const REVISED = ['task_answered revise.1', 'sealed', 'task_answered sealed.1', 'task_answered verify.1']

/** Whichever driver plays it. */
export const EXPECTED: Record<string, string[]> = {
  'of all': [
    'run_started',
    'created',
    'isolated',
    'sealed',
    'started',
    'judged kept',
    'round_opened',
    'task_answered brief',
    'round_briefed',
    'task_answered laid',
    'paused',
    'task_answered collect',
    'round_closed',
    'resumed',
    'round_opened',
    'task_answered 1',
    'task_answered brief',
    'round_briefed',
    'task_answered laid',
    'task_answered collect',
    'round_closed',
  ],
  'round 1, lane 1': [
    ...TRIED,
    ...REVISED,
    'started',
    'judged kept improved',
    'task_answered audit',
    'audited passed',
  ],
  'round 1, lane 2': [...TRIED, 'started', 'judged rejected not_better'],
  'round 1, lane 3': [...TRIED, 'started', 'judged failed aborted'],
  'round 2, lane 1': [
    ...TRIED,
    'started',
    'judged failed crash',
    ...REVISED,
    'started',
    'judged kept improved',
    'audited revoked',
    'task_answered audit',
  ],
  'round 2, lane 2': ['created', 'task_answered implement', 'task_answered sealed', 'discarded'],
  'round 2, lane 3': [...TRIED, ...REVISED, 'annotated', 'discarded'],
}
