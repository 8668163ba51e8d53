// Measures the heuristic against best fit on instances that the search never saw. Run it by hand after the loop.
//   node holdout/measure.js [--json]
import { instance } from '../src/instances.js'
import { excessPercent } from '../src/pack.js'
import { priority } from '../src/priority.js'

const SEEDS = Array.from({ length: 20 }, (_, i) => 1001 + i)
const SIZES = { uniform: 1000, weibull: 2000 }
const bestFit = (leftover) => -leftover
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

const rows = Object.entries(SIZES).map(([family, size]) => {
  const instances = SEEDS.map((seed) => instance(family, seed, size))
  const measure = (heuristic) => mean(instances.map((i) => excessPercent(i.items, i.capacity, heuristic)))
  return { family, best_fit: measure(bestFit), heuristic: measure(priority) }
})
rows.push({
  family: 'mean',
  best_fit: mean(rows.map((row) => row.best_fit)),
  heuristic: mean(rows.map((row) => row.heuristic)),
})
for (const row of rows) row.cut_percent = 100 * (1 - row.heuristic / row.best_fit)

if (process.argv.includes('--json')) {
  console.log(JSON.stringify(Object.fromEntries(rows.map(({ family, ...row }) => [family, row]))))
} else {
  console.log('Bins above the lower bound, held-out instances:')
  for (const { family, best_fit, heuristic, cut_percent } of rows) {
    const numbers = [best_fit, heuristic].map((value) => `${value.toFixed(2).padStart(6)} %`)
    console.log(
      `${family.padEnd(8)} best fit ${numbers[0]}   heuristic ${numbers[1]}   cut ${cut_percent.toFixed(1)} %`,
    )
  }
}
