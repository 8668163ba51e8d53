/**
 * `npm run bench:real`: the real CLI judges candidates of a benchmark of 0.3 s of CPU, while others keep every processor
 * busy. By CPU time no-ops must be rejected and 5 % gains kept; by wall time, which then tells who was let wait, nothing
 * may be kept. Ends with 1 when a bar does not hold. Takes about 13 minutes.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ASSAY = join(root, 'bin', 'assay.cjs')

/** Work in steps: the candidate says how many, and each is the same. */
const LOOP =
  'let x = 1; for (let i = 0; i < steps; i++) x = (x * 1103515245 + 12345 + (x >>> 3)) % 2147483648'
const BENCHMARK = `
const { readFileSync } = require('node:fs')
const steps = Number(readFileSync('src/steps', 'utf8'))
${LOOP}
console.log('METRIC sum=' + x)
`
const TARGET_MS = 300
const GAIN = 0.05

const BARS = [
  { metric: 'cpu_ms', kind: 'no-op', count: 50, least: 0, most: 2 },
  { metric: 'cpu_ms', kind: '5 % gain', count: 20, least: 17, most: 20 },
  { metric: 'wall_ms', kind: 'no-op', count: 5, least: 0, most: 0 },
  { metric: 'wall_ms', kind: '5 % gain', count: 3, least: 0, most: 0 },
]

const home = mkdtempSync(join(tmpdir(), 'assay-real-'))
const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: home, LANG: 'C.UTF-8' }
const neighbours = []
process.exitCode = 1
// Whatever ends this script ends its neighbours.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
process.on('exit', () => {
  for (const one of neighbours) one.kill('SIGKILL')
})
try {
  const steps = calibrateSteps()
  const metrics = [...new Set(BARS.map(({ metric }) => metric))]
  const projects = Object.fromEntries(metrics.map((metric) => [metric, makeProject(metric, steps)]))
  for (let i = 0; i < Math.max(2, cpus().length); i++) neighbours.push(busy())
  for (const metric of metrics) run(projects[metric], ['init'])
  const began = Date.now()
  const rows = BARS.map((bar) => ({ ...bar, outcomes: judgeAll(projects[bar.metric], bar, steps) }))
  for (const row of rows) row.kept = row.outcomes.improved ?? 0
  process.stdout.write(`${table(rows)}\n${Math.round((Date.now() - began) / 1000)} s\n`)
  process.exitCode = rows.every(({ kept, least, most }) => kept >= least && kept <= most) ? 0 : 1
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** As many steps as take the target, by CPU time. */
function calibrateSteps() {
  const probe = 20_000_000
  const work = new Function('steps', `${LOOP}; return x`)
  work(probe)
  const before = process.cpuUsage()
  work(probe)
  const { user, system } = process.cpuUsage(before)
  return Math.round((probe * TARGET_MS) / ((user + system) / 1000))
}

function busy() {
  const neighbour = spawn(process.execPath, ['-e', 'for (let x = 1; ; ) x = (x * 16807) % 2147483647'], {
    stdio: 'ignore',
  })
  // Waiting for it would be for ever: it ends with this script, not before.
  neighbour.unref()
  return neighbour
}

function makeProject(metric, steps) {
  const folder = join(home, metric)
  mkdirSync(join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'bench.cjs'), BENCHMARK)
  writeFileSync(join(folder, 'src', 'steps'), String(steps))
  const spec = {
    version: 1,
    name: 'real',
    goal: 'Do the same work in less time.',
    scope: { mutable: ['src/**'], immutable: ['bench.cjs'] },
    measure: { command: 'node bench.cjs', timeout: '30s' },
    metric: { name: metric, direction: 'minimize' },
  }
  writeFileSync(join(folder, 'assay.yaml'), JSON.stringify(spec))
  const git = (...args) =>
    execaSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: folder,
      env,
      extendEnv: false,
    })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-q', '-m', 'base')
  return folder
}

/** Every candidate is a child of the baseline. */
function judgeAll(project, { kind, count, metric }, steps) {
  const outcomes = {}
  for (let i = 0; i < count; i++) {
    const { experiment, worktree } = run(project, ['new', '--parent', 'exp_0000', '-m', `${kind} ${i}`])
    const work = kind === 'no-op' ? steps : Math.round(steps * (1 - GAIN))
    writeFileSync(join(worktree, 'src', 'steps'), String(work))
    writeFileSync(join(worktree, 'src', 'note'), `${kind} ${i}\n`)
    const { reason, improvement, samples } = run(project, ['run', experiment])
    outcomes[reason] = (outcomes[reason] ?? 0) + 1
    process.stderr.write(
      `${metric} ${kind} ${i + 1}/${count}: ${reason}, ${percent(improvement)}, ${samples} samples\n`,
    )
  }
  return outcomes
}

function run(cwd, args) {
  const ran = execaSync(process.execPath, [ASSAY, ...args, '--json'], {
    cwd,
    env,
    extendEnv: false,
    reject: false,
  })
  const answer = JSON.parse(ran.stdout || 'null')
  if (!answer?.ok) throw new Error(`assay ${args[0]}: ${ran.stdout}${ran.stderr}`)
  return answer.data
}

function table(rows) {
  const lines = rows.map(
    ({ metric, kind, count, kept, least, most, outcomes }) =>
      `${metric.padEnd(8)} ${kind.padEnd(9)} kept ${kept} of ${count}, bar ${least} to ${most}, ${kept >= least && kept <= most ? 'holds' : 'DOES NOT HOLD'}  (${Object.entries(
        outcomes,
      )
        .map(([reason, n]) => `${reason} ${n}`)
        .join(', ')})`,
  )
  return lines.join('\n')
}

function percent(improvement) {
  return improvement === null ? 'unknown' : `${(100 * improvement).toFixed(1)} %`
}
