import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { ASSAY, time } from './project.mjs'
import { idOf, syntheticRun } from './synthetic.mjs'

const FEW = 10
const MANY = Number(process.env.ASSAY_BENCH_EXPERIMENTS ?? 100_000)
const ROUNDS = 9

/** The two runs, which take minutes to make: all cases share them, and the last one removes them. */
let runs = null
let users = 0
function bothRuns() {
  users++
  runs ??= [FEW, MANY].map((experiments) => {
    const run = syntheticRun({ experiments })
    // The first command of a run whose ledger was made writes the snapshot, as the commands before would have done.
    time([ASSAY, 'status'], { cwd: run.dir, env: run.env })
    return run
  })
  return runs
}
function release() {
  users--
  if (users > 0) return
  for (const { clean } of runs ?? []) clean()
  runs = null
}

const call = ({ dir, env }, args) => time([ASSAY, ...args], { cwd: dir, env })

/** A verb at many experiments beside the same at few. */
const growth = (name, bar, args) => ({
  name: `scale-${name}`,
  floor: `the same at ${FEW} experiments`,
  bar,
  rounds: ROUNDS,
  prepare: async () => {
    const [few, many] = bothRuns()
    return { ours: () => call(many, args(many)), floor: () => call(few, args(few)), clean: release }
  },
})

let numbers = 20
function newExperiment(run) {
  const args = ['new', '--parent', 'exp_0000', '-m', 'another number', '--json']
  const made = spawnSync(process.execPath, [ASSAY, ...args], { cwd: run.dir, env: run.env })
  const { experiment, worktree } = JSON.parse(made.stdout).data
  writeFileSync(join(worktree, 'src/number.txt'), `${++numbers}\n`)
  return experiment
}

/** Peak memory of a command, in MiB; it takes its time, too, but that is not asked for. */
function memory(args, { dir, env }) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const hook = join(folder, 'hook.cjs')
    const file = join(folder, 'peak')
    writeFileSync(
      hook,
      `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.resourceUsage().maxRSS)))`,
    )
    time(['--require', hook, ...args], { cwd: dir, env })
    return Number(readFileSync(file, 'utf8')) / 1024
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const peak = (name, bar, args) => ({
  name: `memory-${name}`,
  floor: 'node /dev/null',
  unit: 'MiB',
  bar,
  rounds: 5,
  prepare: async () => {
    const [, many] = bothRuns()
    return {
      ours: () => memory([ASSAY, ...args], many),
      floor: () => memory(['/dev/null'], many),
      clean: release,
    }
  },
})

/** Picking parents from a frontier as large as a run, warm, beside one pass over it. */
async function policyPicks() {
  const dir = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const outfile = join(dir, 'policies.mjs')
  buildSync({ entryPoints: ['cli/search/policies.ts'], bundle: true, format: 'esm', outfile })
  const { POLICIES } = await import(outfile)
  rmSync(dir, { recursive: true })
  const nodes = Array.from({ length: MANY }, (_, n) => {
    const score = Math.sin(n) * 1000
    return {
      id: idOf(n),
      parent: null,
      value: score,
      score,
      children: n % 3,
      keptChildren: n % 2,
      order: idOf(n),
    }
  })
  const timed = (act) => {
    const began = performance.now()
    act()
    return performance.now() - began
  }
  return {
    ours: () => Math.max(...POLICIES.map((policy) => timed(() => policy.pick(nodes, 8)))),
    floor: () => timed(() => nodes.filter(({ score }) => Number.isFinite(score))),
  }
}

export const SCALE = [
  {
    name: 'scale-status-start',
    floor: 'node /dev/null',
    bar: 1.5,
    rounds: ROUNDS,
    prepare: async () => {
      const [, many] = bothRuns()
      return {
        ours: () => call(many, ['status']),
        floor: () => time(['/dev/null'], { cwd: many.dir, env: many.env }),
        clean: release,
      }
    },
  },
  growth('status', 1.5, () => ['status']),
  growth('frontier', 1.5, () => ['frontier']),
  growth('context', 1.5, () => ['context']),
  growth('note', 1.5, () => ['note', 'one more thing was learnt']),
  growth('new', 1.5, () => ['new', '--parent', 'exp_0000', '-m', 'another idea']),
  growth('run', 1.5, (run) => ['run', newExperiment(run)]),
  growth('tree', 2, () => ['tree', '--limit', '10']),
  growth('show', 2, ({ best }) => ['show', best]),
  growth('report', 2, () => ['report']),
  peak('status', 2, ['status']),
  peak('tree', 4, ['tree']),
  {
    name: 'policies',
    floor: `one pass over ${MANY} nodes`,
    // Of a pass that takes 1 ms where nothing else runs.
    bar: 10,
    per: 1,
    quiet_ms: 1,
    rounds: 25,
    prepare: policyPicks,
  },
]
