/** What Assay adds around its samples: worktrees, slots, the record. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { execaSync } from 'execa'
import { ASSAY, time, tinyProject } from './project.mjs'

/** An empty node, where nothing else runs. */
const NODE_MS = 40

/** The programs of `overhead-programs.ts`, as one file that Node of today's oldest version reads. */
async function programs() {
  const base = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const file = join(base, 'programs.mjs')
  const entry = fileURLToPath(new URL('overhead-programs.ts', import.meta.url))
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outfile: file,
  })
  return {
    base,
    run(args, options) {
      const ended = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', ...options })
      if (ended.status !== 0) throw new Error(`${args.join(' ')} ended with ${ended.status}: ${ended.stderr}`)
      return ended.stdout === '' ? null : JSON.parse(ended.stdout)
    },
    clean: () => rmSync(base, { recursive: true, force: true }),
  }
}

const node = (options) => time(['/dev/null'], options)

// ---------------------------------------------------------------- worktrees

const COLLECTED = 100
const KEPT = 1000
const CROWD = 32
const FILES = 1000

const collected = {
  name: 'gc',
  floor: 'an empty node; more = for each worktree',
  bar: 2,
  per: COLLECTED,
  quiet_ms: NODE_MS,
  rounds: 3,
  prepare: async () => {
    const { dir, env, clean } = tinyProject()
    const ours = await programs()
    const options = { cwd: dir, env }
    return {
      ours: () => {
        ours.run(['ended', String(COLLECTED)], options)
        return time([ASSAY, 'gc'], options)
      },
      floor: () => node(options),
      clean: () => {
        ours.clean()
        clean()
      },
    }
  },
}

const beside = {
  name: 'new-beside-1000',
  floor: 'new in a run without experiments',
  bar: 1.2,
  rounds: 15,
  prepare: async () => {
    const [many, none] = [tinyProject(), tinyProject()]
    const { run, clean } = await programs()
    run(['ended', String(KEPT)], { cwd: many.dir, env: many.env })
    clean()
    const opened = ({ dir, env }) =>
      time([ASSAY, 'new', '--parent', 'exp_0000', '-m', 'idea'], { cwd: dir, env })
    return {
      ours: () => opened(many),
      floor: () => opened(none),
      clean: () => {
        many.clean()
        none.clean()
      },
    }
  },
}

const fillers = Object.fromEntries(
  Array.from({ length: FILES }, (_, n) => [`lib/${n % 20}/${n}.js`, `export const v = ${n}\n`.repeat(40)]),
)

const crowd = {
  name: 'new-crowd-32',
  floor: `${CROWD} × git worktree add, one after the other, ${FILES} files`,
  bar: 2,
  rounds: 3,
  prepare: async () => {
    const { dir, env, clean } = tinyProject({ files: fillers })
    const ours = await programs()
    const options = { cwd: dir, env }
    const raw = join(ours.base, 'raw')
    execaSync('git', ['clone', '--quiet', '--bare', dir, raw], { env, extendEnv: false })
    let made = 0
    const command = [process.execPath, ASSAY, 'new', '--parent', 'exp_0000', '-m', 'idea {n}']
    return {
      ours: () => ours.run(['crowd', '1', String(CROWD), ...command], options).ms,
      floor: () => {
        const began = performance.now()
        for (let n = 0; n < CROWD; n++)
          execaSync('git', ['worktree', 'add', '--quiet', '--detach', join(ours.base, `w${made++}`)], {
            cwd: raw,
            env,
            extendEnv: false,
          })
        return performance.now() - began
      },
      clean: () => {
        ours.clean()
        clean()
      },
    }
  },
}

// ---------------------------------------------------------------- slots

const JOBS = 6
const ONE_SECOND = `import { readFileSync } from 'node:fs'
setTimeout(() => console.log('METRIC score=' + Number(readFileSync('src/number.txt', 'utf8'))), 1000)
`

/** Candidates that are sealed already, judged side by side. */
const throughput = (slots) => ({
  name: `throughput-${slots}`,
  floor: `${JOBS} jobs of a second in each of ${slots} slots, bare`,
  bar: 1 / 0.95,
  rounds: 3,
  prepare: async () => {
    const { dir, env, clean } = tinyProject({ slots, files: { 'bench.mjs': ONE_SECOND } })
    const ours = await programs()
    const options = { cwd: dir, env }
    const count = JOBS * slots
    let made = 0
    const assay = (...args) =>
      JSON.parse(
        execaSync(process.execPath, [ASSAY, ...args, '--json'], { ...options, extendEnv: false }).stdout,
      )
    const row = `for job in ${'x '.repeat(JOBS)}; do node bench.mjs || exit 1; done`
    return {
      ours: () => {
        const first = made + 1
        for (let n = 0; n < count; n++) {
          const { experiment, worktree } = assay('new', '--parent', 'exp_0000', '-m', `idea ${made++}`).data
          writeFileSync(join(worktree, 'src/number.txt'), `${100 + made}\n`)
          assay('seal', experiment)
        }
        return ours.run(
          ['crowd', String(first), String(count), process.execPath, ASSAY, 'run', 'exp_{n}'],
          options,
        ).ms
      },
      floor: () => ours.run(['crowd', '1', String(slots), '/bin/sh', '-c', row], options).ms,
      clean: () => {
        ours.clean()
        clean()
      },
    }
  },
})

// ---------------------------------------------------------------- the record

const WRITERS = [1, 32]
const LINES = 640

const appended = (writers) =>
  [
    ['', 'ms', 1 / 0.7],
    ['-p99', 'p99', 3],
  ].map(([suffix, measure, bar]) => ({
    name: `append-${writers}${suffix}`,
    floor: 'a bare write and fdatasync',
    bar,
    rounds: 5,
    prepare: async () => {
      const { base, run, clean } = await programs()
      const by = (how) => () =>
        run(['append', how, join(base, `${how}.jsonl`), String(writers), String(LINES / writers)])[measure]
      return { ours: by('ours'), floor: by('bare'), clean }
    },
  }))

/** @type {readonly import('../bench.mjs').Case[]} */
export const OVERHEAD = [collected, beside, crowd, ...[1, 2, 4].map(throughput), ...WRITERS.flatMap(appended)]
