import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { steadyChance } from '../rig/chance.ts'
import type { Files } from '../rig/repo.ts'
import { makeProject, type Project, type SpecParts } from './project.ts'

/**
 * Prints the cost of the candidate with noise of a fixed sequence: the n-th sample of a project always draws the same.
 * The cost is `src/size`, or what `src/solve.cjs` makes of the input, which the held-out file replaces. `src/noise` is
 * the spread in percent (2), `src/around-zero` makes it that many units. `src/mb` and `src/bytes` are further metrics,
 * with 3 % noise and without; `src/ok` is a boolean, whatever each sample draws when it says `sometimes`.
 * A size, spread or mb that is no number names the file in the control folder that has it now. Others there: `fail-ID` how often that experiment fails from now on; `hold` at which draw to wait.
 */
const NOISY = `
const { appendFileSync, existsSync, readFileSync, watch, writeFileSync } = require('node:fs')
const { resolve } = require('node:path')
const { ASSAY_SEED: seed, ASSAY_HOLDOUT: held } = process.env
const subject = require('node:child_process').execFileSync('git', ['log', '-1', '--format=%s'], { encoding: 'utf8' })
const id = /^exp_\\d+/.exec(subject)?.[0] ?? 'exp_0000'
// The sample with which init looks whether anything is read: its files are empty.
if (readFileSync('src/size', 'utf8') === '') process.exit(1)
const control = process.argv[2] + '/'
const read = (path, otherwise) => (existsSync(path) ? readFileSync(path, 'utf8').trim() : otherwise)
appendFileSync(control + 'draws', [id, seed, held ? 'held-out' : 'visible'].join(' ') + '\\n')
const draw = read(control + 'draws').split('\\n').length
const left = Number(read(control + 'fail-' + id, 0))
if (left > 0) {
  writeFileSync(control + 'fail-' + id, String(left - 1))
  console.error('the machine is out of luck')
  process.exit(7)
}
let x = (draw * 2654435761) % 4294967296
const next = () => { x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0; return (x + 0.5) / 4294967296 }
for (let i = 0; i < 8; i++) next()
const normal = () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next())
const set = (name, otherwise) => { const value = read('src/' + name, otherwise); return Number(read(control + value, value)) }
const solve = existsSync('src/solve.cjs') ? require(resolve('src/solve.cjs')) : () => set('size')
const size = solve(readFileSync(held ?? 'bench/input', 'utf8').trim())
const units = Number(read('src/around-zero', 0))
const z = normal()
const say = () => {
  console.log('METRIC cost=' + (units > 0 ? size + units * z : size * Math.exp(set('noise', 2) / 100 * z)))
  console.log('METRIC bytes=' + read('src/bytes', 7))
  console.log('METRIC mb=' + set('mb', 50) * Math.exp(0.03 * normal()))
  const ok = read('src/ok', 'true')
  console.log('METRIC ok=' + (ok === 'sometimes' ? draw % 3 > 0 : ok))
}
if (read(control + 'hold') !== String(draw)) say()
else {
  writeFileSync(control + 'held', String(process.pid))
  const look = () => existsSync(control + 'released') && (watcher.close(), say())
  const watcher = watch(control, look)
  look()
}
`

export interface Draw {
  experiment: string
  seed: number
  heldOut: boolean
}

export interface NoisyProject extends Project {
  /** The samples until now, in order. */
  draws: () => Draw[]
  /** The next samples of an experiment fail. */
  fail: (experiment: string, times: number) => void
}

export const size = (value: number | string, more: Files = {}): Files => ({
  'src/size': `${value}\n`,
  ...more,
})

/** Its metric is `cost`, which no name of a time hides. `nonce`: see `steadyChance`. */
export function noisyProject(spec: SpecParts = {}, files: Files = {}, nonce = 1): NoisyProject {
  const project = makeProject({
    env: steadyChance(nonce),
    files: { 'bench/noisy.cjs': NOISY, 'bench/input': 'visible\n', ...size(100), ...files },
  })
  const { control } = project
  project.repo.commit('noisy', {
    'assay.yaml': JSON.stringify({
      version: 1,
      name: 'noisy',
      goal: 'Make it small.',
      scope: { mutable: ['src/**'], immutable: ['bench/**'] },
      measure: { isolation: 'none', command: `node bench/noisy.cjs '${control}'`, timeout: '30s' },
      metric: { name: 'cost', direction: 'minimize' },
      ...spec,
    }),
  })
  const draws = () => {
    const log = join(control, 'draws')
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
    return lines.map((line) => {
      const [experiment = '', seed, data] = line.split(' ')
      return { experiment, seed: Number(seed), heldOut: data === 'held-out' }
    })
  }
  return {
    ...project,
    draws,
    fail: (experiment, times) => writeFileSync(join(control, `fail-${experiment}`), String(times)),
  }
}

export const steady: Files = { 'src/noise': '0\n' }

/** Experiments whose verdict does not follow from their record; what was never measured is passed over. */
export async function notRecomputed(project: Project): Promise<unknown[]> {
  const { nodes } = await project.data<{ nodes: { experiment: string }[] }>('tree')
  const wrong: unknown[] = []
  for (const { experiment } of nodes) {
    const { json } = await project.cli<{ same: boolean }>(['show', experiment, '--recompute'])
    const unmeasured = json?.ok === false && json.problem.code === 'nothing_to_recompute'
    if (!unmeasured && !(json?.ok && json.data.same)) wrong.push(json)
  }
  return wrong
}

export interface Shown {
  status: string
  flagged: boolean
  explained: string[]
  lost_to?: string | null
  attempts: {
    measurements: { side: string; stage: string; pair: number; seed: number; value: number | null }[]
  }[]
}
