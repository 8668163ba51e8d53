import { dataOf } from '../rig/assay.ts'
import { scriptedHost } from '../rig/host.ts'
import { type LoopData, notebook, openScene, type Scene } from './loop-scene.ts'

/**
 * The hill that the loop must climb by itself: four modules with values 0 to 4, and a benchmark that tells only how many
 * equal a hidden target. The agent is a program without insight: it changes one module of its parent at random.
 */
export interface Climb {
  scene: Scene
  data: LoopData
  /** Exit code of the loop. */
  code: number | null
  /** Modules of the best candidate, as digits. */
  found: string
  /** Attempts that were measured. */
  evaluations: number
  /** What the agent proposed, in order. */
  proposed: string[]
}

export async function climb(seed: number): Promise<Climb> {
  const notes = notebook()
  const host = scriptedHost(builder(seed, notes.file))
  const scene = await openScene(
    { 'src/config.json': '[0,0,0,0]\n', 'bench/run.mjs': benchmark(seed) },
    {
      version: 1,
      name: 'k-module',
      goal: 'Find the four values that the benchmark hides.',
      scope: { mutable: ['src/**'], immutable: ['bench/**'] },
      measure: { command: [process.execPath, 'bench/run.mjs'] },
      metric: { name: 'equal', direction: 'maximize', target: 4 },
      noise: { mode: 'deterministic', calibrate: 2 },
      search: { policy: 'argmax', k: 1, seed },
      loop: { width: 2, depth: 4, stall: 20, scan: { batch: 24 } },
      budget: { experiments: 60 },
      agent: { host: 'command', command: host.argv },
    },
  )
  const ran = await scene.loop()
  const data = dataOf(ran)
  const sealed = scene.eventsOf('sealed').findLast(({ experiment }) => experiment === data.best?.experiment)
  if (!sealed) throw new Error(`no candidate of the best, ${data.best?.experiment}`)
  return {
    scene,
    data,
    code: ran.code,
    found: JSON.parse(scene.show(sealed.commit, 'src/config.json')).join(''),
    evaluations: scene.eventsOf('started').length - 1,
    proposed: notes.lines(),
  }
}

const benchmark = (seed: number) => `import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
const config = JSON.parse(readFileSync('src/config.json', 'utf8'))
const hidden = [...createHash('sha256').update('target ${seed}').digest()].slice(0, 4).map((byte) => byte % 5)
console.log('METRIC equal=' + hidden.filter((value, module) => config[module] === value).length)
`

/**
 * Never the same configuration twice, and never a module that already differs from the base: a parent was kept, so
 * each of its changes was right. The claim on a configuration is a file that only one lane can make.
 */
const builder = (
  seed: number,
  notes: string,
) => `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
const notes = ${JSON.stringify(notes)}
const rank = (text) => createHash('sha256').update('${seed} ' + text).digest('hex')
function mine(config) {
  try {
    mkdirSync(notes + '.' + config.join(''))
    appendFileSync(notes, config.join('') + '\\n')
    return true
  } catch {
    return false
  }
}
function implement(card) {
  const file = card.worktree + '/src/config.json'
  const parent = JSON.parse(readFileSync(file, 'utf8'))
  const choices = parent.flatMap((now, module) =>
    now === 0 ? [1, 2, 3, 4].map((value) => parent.with(module, value)) : [],
  )
  choices.sort((a, b) => (rank(a.join('')) < rank(b.join('')) ? -1 : 1))
  const config = choices.find(mine)
  if (!config) throw new Error('every change of this parent was tried')
  writeFileSync(file, JSON.stringify(config) + '\\n')
  return { hypothesis: 'the modules are ' + config.join(', '), learnings: [], suggestions: [] }
}
export default {
  scan: () => ({ findings: [] }),
  ideate: () => ({ ideas: [] }),
  brief: ({ capsule: { open } }) => ({
    briefs: Array.from({ length: open.width }, (_, lane) => ({
      parent: open.parents[lane % open.parents.length].experiment,
      kind: 'module ' + lane,
      objective: 'change one module, order ' + lane,
      pointers: ['module ' + lane],
    })),
  }),
  implement,
  verify: () => ({ passed: true, findings: [] }),
  audit: () => ({ findings: [] }),
  collect: () => ({ learnings: [], suggestions: [] }),
}
`
