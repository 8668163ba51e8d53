/**
 * `npm run bench [name…]`: every case against its floor, interleaved, one of each a round, so that a noisy machine is
 * noisy for both. A case holds when the median of its per-round ratios is within its bar; with `per`, the median of what
 * a round takes longer than its floor, for each of `per` units of work, scaled to a machine on which the floor takes
 * `quiet_ms`. Writes `bench-results/<time>.json`; ends with 1 when a bar does not hold.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CASES } from './bench/cases.mjs'
import { median } from './bench/median.mjs'
import { aligned } from './bench/table.mjs'

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} floor   what it is compared with, in words
 * @property {number} bar     the ratio to the floor that must not be exceeded; with `per`, milliseconds
 * @property {number} [per]   units of work in one go
 * @property {number} [quiet_ms]   with `per`: what the floor takes where nothing else runs
 * @property {string} [unit]   of what the functions return; absent: ms
 * @property {number} rounds
 * @property {() => Promise<{ ours: () => number, floor: () => number, clean?: () => void }>} prepare
 *   Each function does its work once and returns how long it took, in milliseconds, or what it took of `unit`.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !CASES.some((one) => one.name === name))
if (unknown.length > 0) {
  process.stderr.write(
    `no benchmark ${unknown.join(', ')}; there are: ${CASES.map((one) => one.name).join(', ')}\n`,
  )
  process.exit(2)
}
const cases = CASES.filter((one) => wanted.length === 0 || wanted.includes(one.name))

const prepared = []
let results
try {
  for (const one of cases) prepared.push({ ...one, ...(await one.prepare()), samples: [] })
  measure(prepared)
  results = prepared.map(summarise)
} finally {
  for (const one of prepared) one.clean?.()
}
print(results)
save(results)
process.exitCode = results.every((result) => result.holds) ? 0 : 1

function measure(running) {
  for (const one of running) warmUp(one)
  const rounds = Math.max(...running.map((one) => one.rounds))
  for (let round = 0; round < rounds; round++) {
    for (const one of running) {
      if (round >= one.rounds) continue
      // Alternating, so that neither side always comes second.
      const floorFirst = round % 2 === 0
      const first = floorFirst ? one.floor() : one.ours()
      const second = floorFirst ? one.ours() : one.floor()
      one.samples.push(floorFirst ? { floor: first, ours: second } : { ours: first, floor: second })
    }
  }
}

function warmUp(one) {
  one.floor()
  one.ours()
}

function summarise({ name, floor: _, bar, per, quiet_ms, unit = 'ms', samples }) {
  const ratio = median(samples.map((sample) => sample.ours / sample.floor))
  const over_ms = per === undefined ? null : ((ratio - 1) * quiet_ms) / per
  return {
    name,
    unit,
    ours: median(samples.map((sample) => sample.ours)),
    floor: median(samples.map((sample) => sample.floor)),
    ratio,
    over_ms,
    bar,
    holds: (over_ms ?? ratio) <= bar,
    samples,
  }
}

function print(rows) {
  const table = [
    ['name', 'ours', 'floor', 'ratio or more', 'bar', 'holds?'],
    ...rows.map((row) => [
      row.name,
      `${row.ours.toFixed(1)} ${row.unit}`,
      `${row.floor.toFixed(1)} ${row.unit}`,
      row.over_ms === null ? row.ratio.toFixed(2) : `+${row.over_ms.toFixed(2)} ms`,
      row.over_ms === null ? `≤ ${Number(row.bar.toFixed(2))}` : `≤ ${row.bar} ms`,
      row.holds ? 'yes' : 'NO',
    ]),
  ]
  process.stdout.write(aligned(table))
}

function save(rows) {
  const at = new Date().toISOString()
  const machine = {
    node: process.version,
    platform: process.platform,
    kernel: release(),
    cpus: cpus().length,
  }
  mkdirSync(join(root, 'bench-results'), { recursive: true })
  const file = join(root, 'bench-results', `${at.replaceAll(':', '-')}.json`)
  writeFileSync(file, `${JSON.stringify({ at, machine, results: rows }, null, 2)}\n`)
}
