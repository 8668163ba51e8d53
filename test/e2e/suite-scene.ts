import { dataOf } from '../rig/assay.ts'
import { type Files, makeRepo } from '../rig/repo.ts'
import { type Scene, sceneOf } from './loop-scene.ts'

/** What a task scores is what the last line with its name says, in the text that names it; so a test says each loss. */
const PROGRAM = `import { readFileSync, writeFileSync } from 'node:fs'
const { name } = JSON.parse(process.env.ASSAY_TASK)
const text = readFileSync('prompts/preamble.md', 'utf8') + readFileSync('prompts/pitfalls.md', 'utf8')
const line = text.split('\\n').findLast((one) => one.startsWith(name + ' '))
if (line === undefined) throw new Error('no line for ' + name)
const [, score] = line.split(' ')
writeFileSync(process.env.ASSAY_RESULT, JSON.stringify({ eval: Number(score), status: 'complete', defects: ['too long'] }))
`

/** Scores of the three tasks, as lines of a text: losses are 1 minus them. */
export const scores = (one: number, two: number, three: number): string =>
  `one ${1 - one}\ntwo ${1 - two}\nthree ${1 - three}\n`

export const suiteFiles = (preamble: string, program = PROGRAM): Files => ({
  'bench/run-task.mjs': program,
  'prompts/preamble.md': preamble,
  'prompts/pitfalls.md': 'Mind the gap.\n',
  'prompts/other.md': 'no artifact\n',
})

const task = (name: string) => ({ name, task: `Do ${name}.` })

/** Only the evaluation counts, and each candidate is measured once. `parts` replace top-level keys. */
export const suiteSpec = (parts: object = {}, suite: object = {}) => ({
  version: 1,
  name: 'prompts',
  goal: 'Better prompts.',
  scope: { mutable: ['prompts/**'], immutable: ['bench/**'] },
  suite: {
    name: 'three tasks',
    artifacts: [
      { name: 'pitfalls', file: 'prompts/pitfalls.md' },
      { name: 'preamble', file: 'prompts/preamble.md' },
    ],
    run: [process.execPath, 'bench/run-task.mjs'],
    concurrency: 2,
    loss: { eval: 1, critique: 0, gate_rejections: 0, budget: 0, status: 0 },
    tasks: [task('one'), task('two'), task('three')],
    ...suite,
  },
  noise: { mode: 'single' },
  ...parts,
})

export async function openSuite(files: Files, spec: object, flags: string[] = []): Promise<Scene> {
  const repo = makeRepo({ files: { ...files, 'assay.yaml': `${JSON.stringify(spec, null, 2)}\n` } })
  const scene = sceneOf(repo)
  dataOf(await scene.cli(['init', ...flags]))
  return scene
}

/** A spec whose gradient asks the program `agent`. */
export const learningSpec = (agent: readonly string[], parts: object = {}, suite: object = {}) =>
  suiteSpec(
    {
      gradient: { learning_rate: 0.5 },
      agent: { host: 'command', command: agent, concurrency: 2 },
      loop: { meta: { on: false } },
      budget: { experiments: 20 },
      ...parts,
    },
    suite,
  )
