/**
 * `npm run bench:decisions [-- --markdown]`: what the paired rule decides on simulated machines, beside two rules that
 * are in use elsewhere. It runs the very code that judges candidates. Ends with 1 when a bar does not hold.
 */
import { fileURLToPath } from 'node:url'
import { missed } from './decisions/bars.mjs'
import { NOISE } from './decisions/noise.mjs'
import { GAINS, luckyTable, noiseTable, summarise } from './decisions/summary.mjs'
import { aligned, markdown } from './table.mjs'
import { inWorkers } from './workers.mjs'

const NO_OP_SESSIONS = 10_000
const GAIN_SESSIONS = 4_000
const LUCKY_SESSIONS = 200_000
const LUCKY_CHANCES = [0.01, 0.05, 0.1, 1 / 6, 2 / 7, 0.5]
/** Sessions of one task: few enough that no worker is left alone with a long one. */
const CHUNK = 500

const began = performance.now()
report(await simulate())

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

async function simulate() {
  const names = Object.keys(NOISE)
  const tasks = [
    ...names.flatMap((kind) => chunks(NO_OP_SESSIONS, { what: 'noOps', kind })),
    ...names.flatMap((kind) => GAINS.flatMap((gain) => chunks(GAIN_SESSIONS, { what: 'gains', kind, gain }))),
    ...LUCKY_CHANCES.map((chance) => ({ what: 'lucky', chance, from: 0, to: LUCKY_SESSIONS })),
  ]
  const entry = fileURLToPath(new URL('decisions/worker.mjs', import.meta.url))
  const tallies = await inWorkers(entry, tasks)
  for (const [at, tally] of tallies.entries()) tasks[at].tally = tally
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
