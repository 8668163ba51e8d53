/**
 * `npm run bench:decisions [-- --markdown]`: what the paired rule decides on simulated machines, beside two rules that
 * are in use elsewhere. It runs the very code that judges candidates. Ends with 1 when a bar does not hold.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { build } from 'esbuild'
import { missed } from './decisions/bars.mjs'
import { NOISE } from './decisions/noise.mjs'
import { GAINS, luckyTable, noiseTable, summarise } from './decisions/summary.mjs'
import { aligned, markdown } from './table.mjs'

const NO_OP_SESSIONS = 10_000
const GAIN_SESSIONS = 4_000
const LUCKY_SESSIONS = 200_000
const LUCKY_CHANCES = [0.01, 0.05, 0.1, 1 / 6, 2 / 7, 0.5]
/** Sessions of one task: few enough that no worker is left alone with a long one. */
const CHUNK = 500

const began = performance.now()
const dir = mkdtempSync(join(tmpdir(), 'assay-decisions-'))
try {
  report(await simulate(await bundled(dir)))
} finally {
  rmSync(dir, { recursive: true })
}

function report({ kinds, lucky }) {
  const print = process.argv.includes('--markdown') ? markdown : aligned
  const wrong = missed(kinds)
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  process.stdout.write(
    `${print(noiseTable(kinds))}\n${print(luckyTable(lucky))}\n${NO_OP_SESSIONS} sessions of 100 candidates without effect a row, ${GAIN_SESSIONS} of each gain; ${seconds} s\n`,
  )
  for (const line of wrong) process.stdout.write(`MISSED ${line}\n`)
  if (wrong.length === 0) process.stdout.write('every bar holds\n')
  process.exitCode = wrong.length === 0 ? 0 : 1
}

/** The worker with the rule in it: Node of today's oldest version does not read TypeScript. */
async function bundled(dir) {
  const outfile = join(dir, 'worker.mjs')
  const entry = fileURLToPath(new URL('decisions/worker.mjs', import.meta.url))
  await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile })
  return outfile
}

async function simulate(worker) {
  const names = Object.keys(NOISE)
  const tasks = [
    ...names.flatMap((kind) => chunks(NO_OP_SESSIONS, { what: 'noOps', kind })),
    ...names.flatMap((kind) => GAINS.flatMap((gain) => chunks(GAIN_SESSIONS, { what: 'gains', kind, gain }))),
    ...LUCKY_CHANCES.map((chance) => ({ what: 'lucky', chance, from: 0, to: LUCKY_SESSIONS })),
  ]
  const left = tasks.values()
  await Promise.all(Array.from({ length: availableParallelism() }, () => work(worker, left)))
  return {
    kinds: names.map((kind) => summarise(kind, tasks)),
    lucky: tasks.filter(({ what }) => what === 'lucky'),
  }
}

function chunks(sessions, task) {
  return Array.from({ length: sessions / CHUNK }, (_, i) => ({
    ...task,
    from: i * CHUNK,
    to: (i + 1) * CHUNK,
  }))
}

/** Takes tasks off the common list, one after another, and leaves the `tally` in each. */
function work(file, left) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(file)
    let task
    const next = () => {
      const { value, done } = left.next()
      if (done) {
        resolve(worker.terminate())
        return
      }
      task = value
      worker.postMessage(value)
    }
    worker.on('message', (tally) => {
      task.tally = tally
      next()
    })
    worker.on('error', reject)
    next()
  })
}
