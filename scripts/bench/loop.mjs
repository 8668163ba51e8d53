import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ASSAY, time, tinyProject } from './project.mjs'

const LANES = 4
/** An agent that takes no time: it lowers the number, and says yes to everything. */
const AGENT = `const { appendFileSync, readFileSync, writeFileSync } = require('node:fs')
const card = JSON.parse(readFileSync(0, 'utf8').match(/^\`\`\`json\\n([^]*?)\\n\`\`\`$/gm).at(-1).slice(8, -4))
appendFileSync(__dirname + '/asked', card.role + '\\n')
const number = card.worktree + '/src/number.txt'
const answers = {
  brief: () => ({ briefs: Array.from({ length: card.brief.width }, (_, lane) => ({
    parent: card.brief.parents[0].experiment, objective: 'way ' + card.round + '.' + lane, pointers: ['src/' + card.round + lane],
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

const project = () => tinyProject({ spec: SPEC, files: { 'agent.cjs': AGENT, '.gitignore': 'asked\n' } })
const countIn = (file) => readFileSync(file, 'utf8').split('\n').length - 1

export const LOOP = [
  {
    name: 'loop-round',
    floor: `the benchmark of its ${LANES} experiments`,
    bar: 2500,
    per: LANES,
    quiet_ms: 30 * LANES,
    rounds: 5,
    prepare: async () => {
      const { dir, env, clean } = project()
      const options = { cwd: dir, env }
      const floor = () =>
        Array.from({ length: LANES }, () => time(['bench.mjs'], options)).reduce((a, b) => a + b, 0)
      return {
        ours: () => time([ASSAY, 'loop', '--rounds', '1', '--uncapped', '--json'], options),
        floor,
        clean,
      }
    },
  },
  {
    // Not times: agents of type clerk for each experiment, as a host's own workflow tool would start them.
    name: 'clerk-calls',
    floor: 'experiments',
    bar: 3,
    rounds: 3,
    prepare: async () => {
      const { dir, env, clean } = project()
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
        const ran = spawnSync(process.execPath, [ASSAY, ...run], { cwd: dir, env, encoding: 'utf8' })
        if (ran.status !== 0)
          throw new Error(`the workflow ended with ${ran.status}: ${ran.stdout}${ran.stderr}`)
        const all = JSON.parse(ran.stdout).data.agents
        const agents = countIn(asked) - before
        before += agents
        return all - agents
      }
      return { ours, floor: () => LANES, clean }
    },
  },
]
