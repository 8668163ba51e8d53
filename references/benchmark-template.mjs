// A benchmark that its candidate cannot talk to: the candidate runs in a child process, and is timed from outside.
// Save it as bench/run.mjs, adapt the marked parts, and keep `immutable: ["bench/**"]` in the spec.
import { spawnSync } from 'node:child_process'

// 1. What is measured. It reads its input on standard input and writes its answer to standard output. If your code is a
//    library, write a short program that does this with it (bench/child.mjs) and start that one.
const COMMAND = [process.execPath, 'src/main.mjs']

// 2. An input for each run, drawn from ASSAY_SEED: equal for both sides of a pair, never the same again. So a candidate
//    gains nothing by remembering answers.
function inputFor(random) {
  return Array.from({ length: 20_000 }, () => Math.floor(random() * 1e9)).join('\n')
}

// 3. Whether the answer is right, by code that is not the candidate's.
function isRight(input, output) {
  const sorted = input
    .split('\n')
    .map(Number)
    .sort((a, b) => a - b)
  return output.trim() === sorted.join('\n')
}

const RUNS = 5

// The names and places of Assay's own answer are not told to the candidate, and what it prints is only looked at here.
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('ASSAY_')),
)
const random = generator(Number(process.env.ASSAY_SEED ?? 1))
const times = []
for (let run = 0; run <= RUNS; run++) {
  const input = inputFor(random)
  const started = performance.now()
  const child = spawnSync(COMMAND[0], COMMAND.slice(1), { input, env: environment, maxBuffer: 2 ** 28 })
  const ms = performance.now() - started
  if (child.error || child.status !== 0) {
    stop(
      `the candidate failed (${child.error?.message ?? child.signal ?? `exit ${child.status}`})\n${child.stderr ?? ''}`,
    )
  }
  if (!isRight(input, child.stdout.toString())) stop('the answer is wrong')
  // The first run fills caches of the machine.
  if (run > 0) times.push(ms)
}
times.sort((a, b) => a - b)
// The median: one slow run in five does not move it.
console.log(`METRIC ms=${times[Math.floor(RUNS / 2)].toFixed(3)}`)

function stop(why) {
  console.error(why)
  process.exit(1)
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function generator(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
