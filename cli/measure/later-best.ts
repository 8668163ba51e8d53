/** A best that is found while a job measures: the submitting machine puts it into the folder of the job, and the node takes it from there. */
import { cpSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder, writeWhole } from '../executor/job-folder.ts'
import { fileJson } from '../files.ts'
import { type PackedStore, packTrees, unpackTrees } from '../git/bundle.ts'
import { bestOf, knowBest } from '../ledger/best.ts'
import { type Experiment, lineageOf, type State } from '../ledger/state.ts'
import { artifactsFolder } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { RunRecord } from '../run/open.ts'
import { type Home, sendArtifacts, withoutWords } from './parcel.ts'

interface LaterBest {
  v: 1
  best: string | null
  /** Absent: the parcel has it. */
  sent?: {
    /** The best, and what it is built on. */
    experiments: Experiment[]
    git: PackedStore
    /** Experiments of which artifacts are sent. */
    artifacts: string[]
  }
}

const fileIn = (folder: string): string => join(folder, 'best.json')
const bundleIn = (folder: string, best: string): string => join(folder, `best-${best}.bundle`)
const artifactsIn = (folder: string, best: string): string => join(folder, `best-${best}`)
const packedFor = (key: string): string => `${key}/best`

function read(folder: string): LaterBest | null {
  syncFolder(folder)
  return fileJson<LaterBest>(fileIn(folder))
}

/** The best that the parcel knows. */
export function noteBest(folder: string, state: State): void {
  const note: LaterBest = { v: 1, best: bestOf(state)?.id ?? null }
  writeWhole(fileIn(folder), JSON.stringify(note))
}

/** Tells the node when another experiment is the best now; answers which, or null when there is nothing to tell. */
export async function tellBest(
  run: Home,
  { folder, key }: { folder: string; key: string },
): Promise<Result<string | null>> {
  const { state } = run.ledger
  const best = bestOf(state)
  const known = read(folder)
  if (best === null || known === null || known.best === best.id) return ok(null)
  const experiments = lineageOf(state, best.id).map((one) => withoutWords(one, false))
  const trees = experiments.flatMap(({ id, attempts }) =>
    id === best.id ? attempts.map(({ sealed }) => sealed.tree) : [],
  )
  const file = bundleIn(folder, best.id)
  const git = await packTrees(run.site, trees, { key: packedFor(key), file })
  if (!git.ok) return git
  const { commits } = git.value
  const artifacts = artifactsIn(folder, best.id)
  rmSync(artifacts, { recursive: true, force: true })
  const later: LaterBest = {
    v: 1,
    best: best.id,
    sent: {
      experiments: experiments.map((one) => ({
        ...one,
        attempts: one.attempts.map(({ sealed, ...attempt }) => ({
          ...attempt,
          sealed: { ...sealed, commit: commits[sealed.tree] ?? sealed.commit },
        })),
      })),
      git: git.value,
      artifacts: sendArtifacts(run, [best.id], artifacts),
    },
  }
  writeWhole(fileIn(folder), JSON.stringify(later))
  return ok(best.id)
}

/** On the node: makes it known to the state, which nobody else changes. What the parcel brought stays as it was. */
export async function learnBest(
  { site, paths, ledger }: Pick<RunRecord, 'site' | 'paths' | 'ledger'>,
  { folder, key }: { folder: string; key: string },
): Promise<Result<void>> {
  const later = read(folder)
  if (later === null || later.best === null || later.sent === undefined) return ok(undefined)
  const { best, sent } = later
  if (bestOf(ledger.state)?.id === best) return ok(undefined)
  const brought = await unpackTrees(site, sent.git, { key: packedFor(key), file: bundleIn(folder, best) })
  if (!brought.ok) return brought
  for (const id of sent.artifacts) {
    const to = artifactsFolder(paths, id)
    if (existsSync(to)) continue
    cpSync(join(artifactsIn(folder, best), id), to, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    })
  }
  for (const one of sent.experiments)
    if (!ledger.state.experiments.has(one.id)) ledger.state.experiments.set(one.id, one)
  knowBest(ledger.state, best)
  return ok(undefined)
}
