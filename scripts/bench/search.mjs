/**
 * `npm run bench:search [-- --markdown]`: what each way to pick parents finds at equal evaluations, on problems whose answer is
 * known, with agents that propose by chance. It runs the policies, the merge and the tuner of the product. Ends with 1 when the
 * default finds less than the better of "keep if better" and "best of N" on some problem.
 */
import { fileURLToPath } from 'node:url'
import { bundled } from './bundled.mjs'
import { aligned, markdown } from './table.mjs'

const SEEDS = 20

const number = (value) => String(Number(value.toFixed(1)))

report(await bundled(fileURLToPath(new URL('search/worker.mjs', import.meta.url))))

function report({ PROBLEMS, SEARCHES, DEFAULT, play, FUNCTIONS, tuned, EVALUATIONS }) {
  const print = process.argv.includes('--markdown') ? markdown : aligned
  const wrong = []
  const rows = SEARCHES.map(({ name }) => [name])
  for (const problem of PROBLEMS) {
    const played = SEARCHES.map((search) => play(problem, search, SEEDS))
    const medians = played.map(({ found }) => quantile(found, 0.5))
    const bar = Math.max(medians[0], medians[1])
    const own = medians[SEARCHES.indexOf(DEFAULT)]
    if (own < bar)
      wrong.push(`${problem.name}: ${DEFAULT.name} finds ${own}, and ${bar} is found without a tree`)
    for (const [at, { found, needed }] of played.entries()) rows[at].push(cell(found, needed, EVALUATIONS))
  }
  const tuners = FUNCTIONS.map((one) => {
    const [ours, other] = ['tune', 'one plus one'].map((tuner) => quantile(tuned(one, tuner, SEEDS), 0.5))
    return [one.name, ours.toFixed(4), other.toFixed(4)]
  })
  process.stdout.write(
    `${print([['parents', ...PROBLEMS.map(({ name, enough }) => `${name} (${enough})`)], ...rows])}\n` +
      `${print([['numbers', 'tune', '(1+1) evolution strategy'], ...tuners])}\n` +
      `${SEEDS} seeds a cell, ${EVALUATIONS} evaluations a search: best found · evaluations to the value in the head; medians (quartiles)\n`,
  )
  for (const line of wrong) process.stdout.write(`MISSED ${line}\n`)
  if (wrong.length === 0) process.stdout.write('every bar holds\n')
  process.exitCode = wrong.length === 0 ? 0 : 1
}

function cell(found, needed, evaluations) {
  const spread = (sorted, say) => {
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => say(quantile(sorted, share)))
    return `${middle} (${low}…${high})`
  }
  const calls = (value) => (value > evaluations ? '–' : String(Math.round(value)))
  return `${spread(found, number)} · ${spread(needed, calls)}`
}

/** Of a sorted list, between its two nearest members. */
function quantile(sorted, share) {
  const at = share * (sorted.length - 1)
  const low = sorted[Math.floor(at)]
  return low + (sorted[Math.ceil(at)] - low) * (at - Math.floor(at))
}
