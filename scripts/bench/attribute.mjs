/**
 * `npm run bench:attribute [-- --markdown]`: what it takes to find which units of a winner pay, and to put several wins
 * together, on simulated machines. It runs the very code that decides. Ends with 1 when a bar does not hold.
 */
import { fileURLToPath } from 'node:url'
import { bundled } from './bundled.mjs'
import { aligned, markdown } from './table.mjs'

const RUNS = 600
/** How far a figure may be from what the design was chosen by, relatively; of losses also `POINTS` at least. */
const WITHIN = 0.15
const POINTS = 0.15
const REKEPT = 0.95

report(await bundled(fileURLToPath(new URL('attribute/worker.mjs', import.meta.url))))

function report({ CASES, reduce, MERGES, combine }) {
  const print = process.argv.includes('--markdown') ? markdown : aligned
  const wrong = []
  const units = CASES.map((one) => {
    const found = reduce(one, RUNS)
    wrong.push(...missed(one, found))
    return [
      one.name,
      `${found.pairs.toFixed(0)} (${one.pairs ?? '–'})`,
      found.left.toFixed(1),
      `${found.lost.toFixed(2)} (${one.lost ?? '–'})`,
      `${(100 * found.kept).toFixed(1)} %`,
      found.verdict.toFixed(0),
    ]
  })
  const merges = MERGES.map((one) => [
    one.name,
    ...['best', 'greedy', 'all'].map((how) => {
      const { pairs, gain, of } = combine(one, how, RUNS)
      return `${pairs.toFixed(0)} → ${gain.toFixed(1)} of ${of.toFixed(1)}`
    }),
  ])
  process.stdout.write(
    `${print([['winner', 'pairs (design)', 'units left', 'points lost (design)', 'kept again', 'pairs for that'], ...units])}\n` +
      `${print([['siblings', 'one runner-up', 'one by one', 'all at once, then halves'], ...merges])}\n` +
      `${RUNS} runs a row; 2 % noise, at most 25 pairs a stage\n`,
  )
  for (const line of wrong) process.stdout.write(`MISSED ${line}\n`)
  if (wrong.length === 0) process.stdout.write('every bar holds\n')
  process.exitCode = wrong.length === 0 ? 0 : 1
}

/** Of groups, only more pairs than the design had are a miss: they come first to save pairs. */
function missed({ name, pairs, lost, groups }, found) {
  const off = (value, bar, slack) => bar !== null && (groups ? value - bar : Math.abs(value - bar)) > slack
  return [
    ...(off(found.pairs, pairs, WITHIN * pairs)
      ? [`${name}: ${found.pairs.toFixed(1)} pairs, not ${pairs}`]
      : []),
    ...(off(found.lost, lost, Math.max(WITHIN * lost, POINTS))
      ? [`${name}: ${found.lost.toFixed(2)} points lost, not ${lost}`]
      : []),
    ...(found.kept < REKEPT ? [`${name}: kept again in ${(100 * found.kept).toFixed(1)} %`] : []),
  ]
}
