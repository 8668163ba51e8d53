/**
 * `npm run bench:suite [-- --markdown]`: how often the loop keeps useless and useful texts of a suite whose tasks vary by 10 %, on
 * simulated runs. It runs the very code that computes losses, chooses texts and judges them. Ends with 1 when a bar does not hold.
 */
import { fileURLToPath } from 'node:url'
import { bundled } from './bundled.mjs'
import { aligned, markdown } from './table.mjs'

const SESSIONS = 200
const NOISE = 0.1
const CASES = [
  { name: 'useless texts', cut: 0, of: 'sessions', most: 0.01 },
  { name: 'texts that cut the loss by 20 %', cut: 0.2, of: 'texts', least: 0.9 },
  { name: 'texts that cut the loss by 10 %', cut: 0.1, of: 'texts' },
  { name: 'texts that make the loss 20 % larger', cut: -0.2, of: 'sessions', most: 0.01 },
]

const { epochs } = await bundled(fileURLToPath(new URL('suite/worker.mjs', import.meta.url)))
const print = process.argv.includes('--markdown') ? markdown : aligned
const wrong = []
const rows = CASES.map(({ name, cut, of, most = 1, least = 0 }) => {
  const paired = share(of, { noise: NOISE, cut })
  const single = share(of, { noise: NOISE, cut, single: true })
  if (paired > most)
    wrong.push(`${name}: kept in ${percent(paired)} of the ${of}, not at most ${percent(most)}`)
  if (paired < least)
    wrong.push(`${name}: ${percent(paired)} of the ${of} kept, not at least ${percent(least)}`)
  return [name, `${percent(paired)} of the ${of}`, `${percent(single)} of the ${of}`]
})
process.stdout.write(
  `${print([['what is proposed', 'kept, in pairs', 'kept, noise.mode: single'], ...rows])}\n` +
    `${SESSIONS} sessions of 5 epochs a row; three tasks with ${100 * NOISE} % noise each, at most 25 pairs a stage\n`,
)
for (const line of wrong) process.stdout.write(`MISSED ${line}\n`)
if (wrong.length === 0) process.stdout.write('every bar holds\n')
process.exitCode = wrong.length === 0 ? 0 : 1

/** Of the sessions that kept any text, or of the texts that were kept. */
function share(of, how) {
  const all = Array.from({ length: SESSIONS }, (_, i) => epochs(`suite/${how.cut}/${i}`, how))
  const sum = (pick) => all.reduce((total, one) => total + pick(one), 0)
  return of === 'sessions'
    ? sum(({ kept }) => Number(kept > 0)) / SESSIONS
    : sum(({ kept }) => kept) / sum(({ tried }) => tried)
}

function percent(value) {
  return `${(100 * value).toFixed(1)} %`
}
