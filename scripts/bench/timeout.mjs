/** How long after its limit a benchmark that hangs is answered for, and whether anything of it lives on. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { execaSync } from 'execa'
import { benchEnv } from './project.mjs'

const LIMIT = 500
const ROUNDS = 10
/** One child stays in the group, one has a session of its own. */
const OBEDIENT = 'setsid sleep 300 & sleep 300'
const DEAF = `trap "" TERM; setsid sh -c 'trap "" TERM; sleep 300' & while :; do sleep 0.05; done`

/** Takes the sample of which the request stands in its argument; prints how long that took, in milliseconds. */
const PROGRAM = `import { takeSample } from './evaluate/measure.ts'
const request = JSON.parse(process.argv[2])
const began = performance.now()
const { fault } = await takeSample(request)
console.log(JSON.stringify({ ms: performance.now() - began, reason: fault?.reason }))`

/** Processes that the sample started: its mark is in their environment. */
const left = (mark) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`MARK=${mark}\0`)
    } catch {
      return false
    }
  })

function requestOf(command, base) {
  const checkout = join(base, 'checkout')
  const folder = join(base, 'attempt')
  mkdirSync(checkout)
  mkdirSync(folder)
  const environment = { ...benchEnv(base), MARK: base }
  const config = {
    ...{ command, directory: '.', timeoutMs: LIMIT, read: 'auto', slots: 1, outputBytes: 1024 * 1024 },
    ...{ before: null, after: null, requires: [], score: null },
    environment: { inherit: [], set: {}, file: null, keys: null },
  }
  const sample = { stage: 'judge', side: 'candidate', pair: 0, seed: 1, slot: 0, experiment: 'exp_0001' }
  return { config, metric: { name: 'score' }, aggregate: 'mean', checkout, folder, environment, ...sample }
}

const hang = (name, command, allowed) => ({
  name,
  floor: `the limit of ${LIMIT} ms`,
  bar: (LIMIT + allowed) / LIMIT,
  rounds: ROUNDS,
  prepare: async () => {
    const base = mkdtempSync(join(tmpdir(), 'assay-bench-'))
    const outfile = join(base, 'sample.mjs')
    const resolveDir = fileURLToPath(new URL('../../cli', import.meta.url))
    const stdin = { contents: PROGRAM, resolveDir, loader: 'ts' }
    await build({ stdin, bundle: true, platform: 'node', format: 'esm', target: 'node20', outfile })
    const request = JSON.stringify(requestOf(command, base))
    return {
      ours: () => {
        const ended = execaSync(process.execPath, [outfile, request], { reject: false })
        if (ended.exitCode !== 0) throw new Error(`the sample was not taken: ${ended.stderr}`)
        const { ms, reason } = JSON.parse(ended.stdout)
        if (reason !== 'timeout') throw new Error(`it did not run into its limit, but: ${reason}`)
        const pids = left(base)
        if (pids.length > 0) throw new Error(`processes live on: ${pids.join(', ')}`)
        return ms
      },
      floor: () => LIMIT,
      clean: () => rmSync(base, { recursive: true, force: true }),
    }
  },
})

/** @type {readonly import('../bench.mjs').Case[]} */
export const TIMEOUT = [hang('timeout-obeys', OBEDIENT, 300), hang('timeout-deaf', DEAF, 1000)]
