// The gate: every packing of the benchmark is valid and was made online. Exit 1 names the first flaw.
import { benchmark } from '../bench/set.js'
import { pack } from '../src/pack.js'
import { priority } from '../src/priority.js'
import { flaw, foresight } from './check.js'

for (const { name, capacity, items } of benchmark()) {
  const packer = (list) => pack(list, capacity, priority)
  const problem = flaw(items, capacity, packer(items)) ?? foresight(items, packer)
  if (problem) {
    console.error(`${name}: ${problem}`)
    process.exit(1)
  }
}
