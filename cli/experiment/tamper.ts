/**
 * Files that a candidate's own run changed although they decide what is measured: sealed files, its own among them,
 * what setup and build made, and data.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { changedFiles } from '../git/slots.ts'
import { BASELINE } from '../ledger/state.ts'
import { habitsFile, slotPath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { matchGlobs } from '../spec/rules.ts'
import type { Bench, Place, Placed } from './bench.ts'
import { changedData, dataPaths, removePlanted } from './data.ts'
import { drifted } from './manifest.ts'
import { scopeOfRun } from './scope.ts'

interface Where {
  run: OpenRun
  bench: Bench
  place: Place
  tree: string
  placed: Placed
}

/** What the baseline's own run does to files that are not its own. */
interface Habits {
  /** Left with another content; files that the spec names immutable are never among them. */
  rewritten: string[]
  /** Written to, whatever they held afterwards; null = it was measured before anybody looked. */
  touched: string[] | null
  /** Files that the spec names immutable and that setup or build rewrote; null = as with `touched`. */
  prepared: string[] | null
}

/**
 * What the baseline's own run rewrites (a log, a cache that setup made) is the benchmark's habit, and allowed to
 * candidates too. Samples and gates may never rewrite files that the spec names immutable; setup and build may rewrite
 * those that they rewrite for the baseline, too. `touched`: files that a sample of the candidate was
 * seen to change, also when it put them back. Those that the baseline's samples touch, too, count by their content only.
 */
export async function tamperedFiles({
  run,
  bench,
  place,
  tree,
  placed,
  judged,
  touched,
}: Where & { judged: string; touched: readonly string[] }): Promise<Result<string[]>> {
  const changed = await contentChanged({ run, bench, place, tree, placed })
  if (!changed.ok) return changed
  const { data } = changed.value
  const mayWrite = declaredWritten(run, [...changed.value.rewritten, ...touched])
  const rewritten = changed.value.rewritten.filter((path) => !mayWrite.has(path))
  const scope = scopeOfRun(run)
  const prepared = placed.rewritten.filter((path) => scope(path) === 'immutable')
  if (judged === BASELINE && place === 'b') {
    writeHabits(run, {
      rewritten: rewritten.filter((path) => scope(path) !== 'immutable'),
      touched: [...touched],
      prepared,
    })
  }
  const habits = readHabits(run)
  const known = new Set([...mayWrite, ...habits.rewritten, ...(habits.touched ?? touched)])
  const seen = touched.filter((path) => !known.has(path))
  const left = rewritten.filter((path) => !habits.rewritten.includes(path))
  const built = prepared.filter((path) => !(habits.prepared ?? prepared).includes(path))
  return ok([...new Set([...data, ...left, ...seen, ...built])])
}

/** What `measure.write` names: the spec says that a run may write there. */
function declaredWritten(run: OpenRun, paths: readonly string[]): ReadonlySet<string> {
  const globs = run.spec.measure.isolation?.write ?? []
  return new Set(matchGlobs(globs, run.started.prefix, paths).flatMap(({ matched }) => matched))
}

/** By what they hold: the data, and all other files that are not as they were placed. */
async function contentChanged({
  run,
  bench,
  place,
  tree,
  placed,
}: Where): Promise<Result<{ data: string[]; rewritten: string[] }>> {
  const checkout = slotPath(run.site, bench.slot, place)
  const sealed = await changedFiles(run.site, checkout, tree)
  if (!sealed.ok) return sealed
  const data = await changedData(run, checkout, placed.data)
  if (!data.ok) return data
  const removed = await removePlanted(run, checkout, placed.beside)
  if (!removed.ok) return removed
  const given = dataPaths(run)
  const drift = drifted(checkout, placed.before).filter((path) => !given.has(path))
  const strange = sealed.value.filter((path) => !Object.hasOwn(placed.before.files, path))
  return ok({ data: data.value, rewritten: [...new Set([...drift, ...strange])] })
}

function writeHabits(run: OpenRun, habits: Habits): void {
  writeFileSync(habitsFile(run.paths), JSON.stringify(habits))
}

/** A list is what runs kept before touches were looked at. */
function readHabits(run: OpenRun): Habits {
  try {
    const found = JSON.parse(readFileSync(habitsFile(run.paths), 'utf8')) as string[] | Habits
    const older = { touched: null, prepared: null }
    return Array.isArray(found) ? { ...older, rewritten: found } : { ...older, ...found }
  } catch {
    return { rewritten: [], touched: null, prepared: null }
  }
}
