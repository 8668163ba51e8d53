/** What the deaths of a run cost: counted from the records that are left, from the store and from the living. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { splitLines } from '../../cli/ledger/append.ts'
import type { StepLine } from '../../cli/ledger/events.ts'
import { Ledger } from '../../cli/ledger/ledger.ts'
import { processesIn } from '../e2e/loop-scene.ts'
import type { Crash } from '../rig/crash.ts'
import type { Repo } from '../rig/repo.ts'
import { until } from '../rig/until.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Printed as one sum at the end of all tests. */
    toll?: Toll
  }
}

export interface Toll {
  kills: number
  /** Lines that were acknowledged and are not there, and candidates that are not in the store. */
  lost: number
  /** Samples that were recorded and taken again, and attempts that were charged again. */
  paid_twice: number
  /** Processes of the repository that live on when nobody works there any more. */
  orphans: number
}

export const NOTHING_LOST = { lost: 0, paid_twice: 0, orphans: 0 }

interface Damage {
  repo: Repo
  crashes: Crash[]
  /** Starts of the benchmark by its own log, without those that died with their process. */
  starts?: number
}

/** Adds up, and notes it for the closing line. */
export async function takeToll(
  context: TestContext,
  { repo, crashes, starts }: Damage,
): Promise<Omit<Toll, 'kills'>> {
  const records = recordsOf(repo.path('.assay'))
  const ids = new Set(records.flatMap((record) => record.lines.map(({ id }) => id)))
  const missing = crashes.flatMap((crash) => crash.acknowledged()).filter((id) => !ids.has(id))
  const samples = records.flatMap(({ lines }) => lines.flatMap(sampleIn))
  const repeated = records.reduce((sum, { lines }) => sum + repetitions(lines.flatMap(sampleIn)), 0)
  const unrecorded = starts === undefined ? 0 : Math.max(0, starts - samples.length)
  const charges = records.reduce(
    (sum, { file }) => sum + (file.endsWith('ledger.jsonl') ? recharged(file) : 0),
    0,
  )
  await until(() => processesIn(repo.dir).length === 0, { what: 'the last process', limitMs: 10_000 }).catch(
    () => {},
  )
  const toll: Toll = {
    kills: crashes.reduce((sum, crash) => sum + crash.deaths(), 0),
    lost: missing.length + unpinned(repo, records),
    paid_twice: repeated + unrecorded + charges,
    orphans: processesIn(repo.dir).length,
  }
  const before = context.task.meta.toll
  context.task.meta.toll = before
    ? {
        kills: before.kills + toll.kills,
        lost: before.lost + toll.lost,
        paid_twice: before.paid_twice + toll.paid_twice,
        orphans: before.orphans + toll.orphans,
      }
    : toll
  const { kills: _, ...cost } = toll
  return cost
}

interface Line {
  id: string
  type?: string
  [field: string]: unknown
}

/** Every line that can be read of every record below the state. */
export function recordsOf(state: string): { file: string; lines: Line[] }[] {
  // Not the store: a git that was started before a kill may still be at work there.
  return ['runs', 'trash']
    .map((name) => join(state, name))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => /(^|\/)(ledger|steps)\.jsonl$/.test(path))
        .map((path) => join(folder, path)),
    )
    .map((file) => ({ file, lines: splitLines(readFileSync(file), 0).flatMap(linesIn) }))
}

/** What was cancelled, or is torn, is no line. */
const linesIn = ({ value }: { value: Record<string, unknown> | null }): Line[] =>
  value === null || Object.keys(value).length === 0 ? [] : [value as unknown as Line]

const sampleIn = (line: Line): string[] => {
  const step = line as unknown as StepLine
  if (step.step !== 'sample' || !('sample' in step) || step.sample.fault?.reason === 'aborted') return []
  const { stage, pair, side } = step.sample
  return [`${stage} ${pair} ${side}`]
}

const repetitions = (names: string[]): number => names.length - new Set(names).size

/** Charges beyond one for each attempt that was claimed. */
function recharged(file: string): number {
  const ledger = Ledger.open(file)
  if (!ledger.ok) throw new Error(ledger.problem.message)
  const { claims, experiments } = ledger.value.state
  const claimed = [...experiments.values()]
    .filter(({ parent }) => parent !== null)
    .flatMap(({ attempts }) => attempts.filter(({ claim }) => claim))
  return Math.max(0, claims - claimed.length)
}

/** Sealed attempts whose commit is not in the store, or whose ref names another. */
function unpinned(repo: Repo, records: { lines: Line[] }[]): number {
  const sealed = records.flatMap(({ lines }) => lines.filter(({ type }) => type === 'sealed'))
  if (sealed.length === 0) return 0
  const refs = execFileSync(
    'git',
    ['--git-dir', repo.path('.assay', '.git'), 'for-each-ref', '--format=%(objectname)', 'refs/assay'],
    { env: repo.env, encoding: 'utf8' },
  ).split('\n')
  return sealed.filter(({ commit }) => !refs.includes(String(commit))).length
}
