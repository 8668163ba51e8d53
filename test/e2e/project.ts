import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assay, dataOf, type Envelope, type ProblemJson, problemOf, type Ran } from '../rig/assay.ts'
import { type Files, makeRepo, type Repo } from '../rig/repo.ts'
import { makeTemp, tempBase } from '../rig/temp.ts'

export interface InitData {
  run: string
  spec_hash: string
  base: string
  baseline: { experiment: string; value: number | null; samples: number; noise: string }
  warnings: string[]
  facts: Record<string, unknown>
  worktree?: string
  repeated?: true
}

export interface NewData {
  experiment: string
  parent: string
  worktree: string
  repeated?: true
}

export interface RunData {
  experiment: string
  attempt: number
  status: string
  reason: string | null
  failure_class: string | null
  value: number | null
  parent_value: number | null
  improvement: number | null
  improvement_abs: number | null
  interval: [number, number] | null
  samples: number
  against: string | null
  best: boolean
  gates: { name: string; phase: string; passed: boolean }[]
  message: string
  repeated?: true
}

export interface StatusData {
  run: string
  best: { experiment: string; value: number } | null
  counts: Record<string, number>
  budget: Record<'experiments' | 'hours' | 'failures', { used: number; limit: number | null }>
  stop: string | null
}

export interface Project {
  repo: Repo
  /** Outside of the repository: where the benchmark logs, and where flags for programs lie. */
  control: string
  /** One line for each start of the benchmark, in order: the experiment that was measured. */
  starts: () => string[]
  /** Runs the CLI with `--json` in the repository. */
  cli: <T>(args: string[], options?: Partial<Parameters<typeof assay>[1]>) => Promise<Ran<T>>
  data: <T>(...args: string[]) => Promise<T>
  problem: (...args: string[]) => Promise<ProblemJson & { exit: number | null }>
  /** `new`, then the files written into its worktree. */
  open: (files: Files, parent?: string) => Promise<NewData>
  /** `open`, then `run`. */
  attempt: (files: Files, parent?: string) => Promise<RunData>
}

export type SpecParts = Record<string, unknown>

/** A spec as JSON, which is YAML too; `parts` replace its top-level keys. */
export function specText(parts: SpecParts = {}): string {
  const spec = {
    version: 1,
    name: 'demo',
    goal: 'Make the number small.',
    scope: { mutable: ['src/**'], immutable: ['bench/**'] },
    measure: { command: 'sh bench/run.sh', timeout: '30s' },
    metric: { name: 'ms', direction: 'minimize' },
    // The metric is called ms, and what the file says: a time by its name, and free of noise.
    noise: { mode: 'deterministic', calibrate: 2 },
    ...parts,
  }
  // Its benchmark logs outside of the repository. Tests of isolation ask for it.
  const text = `${JSON.stringify(spec, null, 2)}\n`
  if ('isolation' in (spec.measure as object)) return text
  const isolation =
    process.env.ASSAY_TEST_ISOLATION === 'strict'
      ? { isolation: 'strict', allow: [tempBase()] }
      : { isolation: 'none' }
  // On the line that is there: some tests say on which line a mistake lies.
  return text.replace('"measure": {', `"measure": {${JSON.stringify(isolation).slice(1, -1)},`)
}

/** The file that a candidate edits. */
export const metrics = (values: Record<string, number | string>): Files => ({
  'src/metrics.txt': Object.entries(values)
    .map(([name, value]) => `METRIC ${name}=${value}\n`)
    .join(''),
})
export const ms = (value: number | string): Files => metrics({ ms: value })

/** Code of the candidate that the benchmark runs before it prints. */
export const hook = (text: string): Files => ({ 'src/hook.sh': `${text}\n` })

/** For a benchmark in sh: the experiment that is measured. Assay does not tell it; the commit in the checkout does. */
export const WHO = '$(git log -1 --format=%s | grep -o "^exp_[0-9]*" || echo exp_0000)'

/** Not the sample with which `init` looks whether anything is read: its files are empty. */
const LOG_START = `[ ! -s src/metrics.txt ] || echo "${WHO}" >>`

/**
 * A committed repository whose benchmark runs `src/hook.sh` and prints `src/metrics.txt` (ms=100). Nothing is started
 * in it yet.
 */
export function makeProject({
  spec = {},
  files = {},
  env = {},
}: {
  spec?: SpecParts
  files?: Files
  env?: Record<string, string>
} = {}): Project {
  const control = makeTemp('control')
  const log = join(control, 'starts')
  const repo = makeRepo({
    files: {
      'assay.yaml': specText(spec),
      'bench/run.sh': `${LOG_START} '${log}'\nif [ -f src/hook.sh ]; then . ./src/hook.sh; fi\ncat src/metrics.txt\n`,
      ...ms(100),
      ...files,
    },
  })
  return projectIn(repo, control, env)
}

/** The same in a repository that exists. */
export function projectIn(repo: Repo, control: string, env: Record<string, string> = {}): Project {
  const cli: Project['cli'] = (args, options = {}) =>
    assay([...args, '--json'], { cwd: repo.dir, ...options, env: { ...env, ...options.env } })
  const data = async <T>(...args: string[]): Promise<T> => dataOf(await cli<T>(args))
  const open = async (files: Files, parent = 'exp_0000') => {
    const made = await data<NewData>('new', '--parent', parent, '-m', 'an idea')
    writeFiles(made.worktree, files)
    return made
  }
  return {
    repo,
    control,
    starts: () => {
      const log = join(control, 'starts')
      return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
    },
    cli,
    data,
    problem: async (...args) => {
      const ran = await cli(args)
      return { ...problemOf(ran), exit: ran.code }
    },
    open,
    attempt: async (files, parent) => data('run', (await open(files, parent)).experiment),
  }
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, entry] of Object.entries(files)) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    if (typeof entry === 'string') writeFileSync(file, entry)
    else writeFileSync(file, entry.text, { mode: entry.mode })
  }
}

export type { Envelope, Files, ProblemJson, Repo }
