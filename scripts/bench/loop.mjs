import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ASSAY, time, tinyProject } from './project.mjs'

export const LANES = 4
/** An agent that takes no time: it lowers the number, and says yes to everything. */
const AGENT = `const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const card = JSON.parse(readFileSync(0, 'utf8').match(/^\`\`\`json\\n([^]*?)\\n\`\`\`$/gm).at(-1).slice(8, -4))
appendFileSync(__dirname + '/asked', card.role + '\\n')
// Versions of before the agenda told it in the capsule.
const open = card.brief?.parents ? card.brief : card.capsule.open
const number = card.worktree + '/src/number.txt'
const answers = {
  brief: () => ({ briefs: Array.from({ length: open.width }, (_, lane) => ({
    parent: open.parents[0].experiment, objective: 'way ' + card.round + '.' + lane, pointers: ['src/' + card.round + lane],
  })) }),
  implement: () => (writeFileSync(number, readFileSync(number, 'utf8') - card.lane + '\\n'), { summary: 'less' }),
  verify: () => ({ passed: true }),
  collect: () => ({ learnings: [], suggestions: [] }),
}
console.log(JSON.stringify((answers[card.role] ?? (() => ({ findings: [] })))()))
`
const SPEC = `loop: { width: ${LANES}, depth: 1, stall: 1000, ideate: { stall: 999, keeps: 1000 } }
agent: { host: command, command: [node, agent.cjs], concurrency: 2 }
budget: { experiments: 100000 }
`

const project = (assay) =>
  tinyProject({ spec: SPEC, files: { 'agent.cjs': AGENT, '.gitignore': 'asked\n' }, assay })
const countIn = (file) => readFileSync(file, 'utf8').split('\n').length - 1

/** Milliseconds of one round of `assay loop`, and of the benchmark of its experiments. */
export function roundsBy(assay) {
  const { dir, env, clean } = project(assay)
  const options = { cwd: dir, env }
  const floor = () =>
    Array.from({ length: LANES }, () => time(['bench.mjs'], options)).reduce((a, b) => a + b, 0)
  return {
    ours: () => time([assay, 'loop', '--rounds', '1', '--uncapped', '--json'], options),
    floor,
    clean,
  }
}

/** Agents of type clerk in one round of the script, as the workflow tool of a host would start them, and its experiments. */
export function clerksBy(assay) {
  const { dir, env, clean } = project(assay)
  const asked = join(dir, 'asked')
  const args = JSON.stringify({ run: 'run_0001', rounds: 1 })
  const run = [
    'workflow',
    'run',
    'assay:optimize',
    '--command',
    `node ${join(dir, 'agent.cjs')}`,
    '--args',
    args,
    '--json',
  ]
  let before = 0
  const ours = () => {
    const ran = spawnSync(process.execPath, [assay, ...run], { cwd: dir, env, encoding: 'utf8' })
    if (ran.status !== 0) throw new Error(`the workflow ended with ${ran.status}: ${ran.stdout}${ran.stderr}`)
    const all = JSON.parse(ran.stdout).data.agents
    const agents = countIn(asked) - before
    before += agents
    return all - agents
  }
  return { ours, floor: () => LANES, clean }
}

export const LOOP = [
  {
    name: 'loop-round',
    floor: `the benchmark of its ${LANES} experiments`,
    bar: 500,
    per: LANES,
    quiet_ms: 30 * LANES,
    rounds: 5,
    prepare: async () => roundsBy(ASSAY),
  },
  {
    name: 'clerk-calls',
    floor: 'experiments',
    bar: 3,
    rounds: 3,
    prepare: async () => clerksBy(ASSAY),
  },
]
