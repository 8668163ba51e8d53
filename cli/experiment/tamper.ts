/**
 * Files that a candidate's own run changed although they decide what is measured: sealed files, its own among them,
 * what setup and build made, and data.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { besidePaths } from '../git/observe.ts'
import { changedFiles } from '../git/slots.ts'
import { BASELINE } from '../ledger/state.ts'
import { habitsFile, slotPath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { Bench, Place, Placed } from './bench.ts'
import { changedData, dataPaths, removePlanted } from './data.ts'
import { drifted, sweep } from './manifest.ts'
import { scopeOfRun } from './scope.ts'

interface Where {
  run: OpenRun
  bench: Bench
  place: Place
  tree: string
  placed: Placed
}

/** Removes what the run before left, so that a sample does not find the work of an earlier one. */
export async function sweepLeftovers({ run, bench, place, tree, placed }: Where): Promise<Result<void>> {
  const checkout = slotPath(run.site, bench.slot, place)
  const beside = await besidePaths(run.site, checkout, tree)
  if (!beside.ok) return beside
  sweep(checkout, placed.before, beside.value)
  return ok(undefined)
}

/**
 * What the baseline's own run rewrites (a log, a cache that setup made) is the benchmark's habit, and allowed to
 * candidates too; files that the spec names immutable never are.
 */
export async function tamperedFiles({
  run,
  bench,
  place,
  tree,
  placed,
  judged,
}: Where & { judged: string }): Promise<Result<string[]>> {
  const checkout = slotPath(run.site, bench.slot, place)
  const sealed = await changedFiles(run.site, checkout, tree)
  if (!sealed.ok) return sealed
  const data = await changedData(run, checkout, placed.data)
  if (!data.ok) return data
  const removed = await removePlanted(run, checkout, placed.beside)
  if (!removed.ok) return removed
  const given = dataPaths(run)
  const drift = drifted(checkout, placed.before).filter((path) => !given.has(path))
  const rewritten = [
    ...new Set([...drift, ...sealed.value.filter((path) => !Object.hasOwn(placed.before.files, path))]),
  ]
  const scope = scopeOfRun(run)
  if (judged === BASELINE && place === 'b')
    writeHabits(
      run,
      rewritten.filter((path) => scope(path) !== 'immutable'),
    )
  const habits = new Set(readHabits(run))
  return ok([...data.value, ...rewritten.filter((path) => !habits.has(path))])
}

function writeHabits(run: OpenRun, paths: string[]): void {
  writeFileSync(habitsFile(run.paths), JSON.stringify(paths))
}

function readHabits(run: OpenRun): string[] {
  try {
    return JSON.parse(readFileSync(habitsFile(run.paths), 'utf8')) as string[]
  } catch {
    return []
  }
}
