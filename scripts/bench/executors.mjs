/**
 * `npm run bench:executors`: how many attempts of a second a sample two nodes of Slurm measure in the time of one, on the virtual
 * cluster of the tests. Ends with 1 when the bar does not hold.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'
import { bundled } from './bundled.mjs'
import { median } from './median.mjs'
import { ASSAY, tinyProject } from './project.mjs'
import { aligned } from './table.mjs'

const ROUNDS = 2
const ATTEMPTS = 2
const BAR = 1.8
const BENCHMARK = `import { readFileSync } from 'node:fs'
setTimeout(() => console.log('METRIC score=' + Number(readFileSync('src/number.txt', 'utf8'))), 1000)
`

const alias = { vitest: fileURLToPath(new URL('executors/cleanups.ts', import.meta.url)) }
const rig = await bundled(fileURLToPath(new URL('executors/rig.ts', import.meta.url)), { alias })
const missing = rig.noSlurm()
if (missing !== null) {
  process.stderr.write(`${missing}: apt-get install slurm-wlm\n`)
  process.exit(2)
}

const projects = []
try {
  const cluster = await rig.startCluster()
  for (const jobs of [1, 2]) projects.push(project(cluster, jobs))
  const [one, two] = projects
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? [one, two] : [two, one]
    for (const each of order) await each.measure()
    rounds.push(one.times[round] / two.times[round])
  }
  const gain = median(rounds)
  const seconds = ({ times }) => `${(median(times) / 1000).toFixed(1)} s`
  process.stdout.write(
    aligned([
      ['attempts, 1 s a sample', 'one job at a time', 'two', 'throughput', 'bar', 'holds?'],
      [
        String(ATTEMPTS),
        seconds(one),
        seconds(two),
        `${gain.toFixed(2)} ×`,
        `≥ ${BAR} ×`,
        gain >= BAR ? 'yes' : 'NO',
      ],
    ]),
  )
  process.exitCode = gain >= BAR ? 0 : 1
} finally {
  for (const { clean } of projects) clean()
  rig.cleanUp()
}

function project(cluster, jobs) {
  const executor = `executor: { kind: slurm, partition: bench, limit: 10m, jobs: ${jobs} }\n`
  const { dir, env, clean } = tinyProject({
    spec: executor,
    files: { 'bench.mjs': BENCHMARK },
    noise: 'paired',
    more: cluster.env,
  })
  const options = { cwd: dir, env, extendEnv: false }
  const assay = (...args) => [process.execPath, [ASSAY, ...args, '--json'], options]
  let made = 0
  const times = []
  return {
    times,
    clean,
    /** Candidates that are sealed already, as many at once as there may be. */
    async measure() {
      const sealed = Array.from({ length: ATTEMPTS }, () => {
        const created = execaSync(...assay('new', '--parent', 'exp_0000', '-m', `idea ${made++}`))
        const { experiment, worktree } = JSON.parse(created.stdout).data
        writeFileSync(join(worktree, 'src/number.txt'), `${5 - made / 100}\n`)
        execaSync(...assay('seal', experiment))
        return experiment
      })
      const began = performance.now()
      const runs = sealed.map(async (experiment) => {
        const [program, args] = assay('run', experiment)
        const [code] = await once(spawn(program, args, { ...options, stdio: 'ignore' }), 'close')
        if (code !== 0) throw new Error(`assay run ${experiment} ended with ${code}`)
      })
      await Promise.all(runs)
      times.push(performance.now() - began)
    },
  }
}
