// The benchmark: bins above the lower bound, in percent, on instances from fixed seeds. Lower is better.
import { writeFileSync } from 'node:fs'
import { excessPercent } from '../src/pack.js'
import { priority } from '../src/priority.js'
import { benchmark } from './set.js'

const tasks = {}
for (const { name, capacity, items } of benchmark()) {
  tasks[name] = { score: excessPercent(items, capacity, priority) }
}
const scores = Object.values(tasks).map((task) => task.score)
const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length

if (process.env.ASSAY_RESULT) {
  writeFileSync(process.env.ASSAY_RESULT, JSON.stringify({ metrics: { excess_percent: mean }, tasks }))
} else {
  for (const [name, { score }] of Object.entries(tasks)) console.log(`${name} ${score.toFixed(3)} %`)
  console.log(`METRIC excess_percent=${mean}`)
}
