/** Which paths of a run are mutable, immutable or neither: `scope` of the frozen spec, with `worktree.data`. */
import { type Fingerprint, fingerprintCheckout } from '../git/checkout.ts'
import { BASELINE } from '../ledger/state.ts'
import type { Result } from '../result.ts'
import { type RunRecord, specFileOf } from '../run/open.ts'
import { type Area, placesOfMutable, scopeOf } from '../spec/rules.ts'
import { dataPaths } from './data.ts'

type Framed = Pick<RunRecord, 'spec' | 'started' | 'paths'>

const known = new WeakMap<Framed['spec'], (path: string) => Area>()

/** The area of a path by the frozen spec; compiled once for each run. */
export function scopeOfRun(run: Framed): (path: string) => Area {
  const cached = known.get(run.spec)
  if (cached) return cached
  const scope = scopeOf(run.spec.scope, run.started.prefix, specFileOf(run))
  const data = dataPaths(run)
  const area = data.size === 0 ? scope : (path: string) => (data.has(path) ? 'immutable' : scope(path))
  known.set(run.spec, area)
  return area
}

/** Whether new files at a path are part of an experiment's candidate. The baseline is still being built: all are. */
export function mutableFor(run: Framed, experiment: string): (path: string) => boolean {
  if (experiment === BASELINE) return (path) => !dataPaths(run).has(path)
  const scope = scopeOfRun(run)
  return (path) => scope(path) === 'mutable'
}

/** The state of the user's checkout, as far as a candidate may change such files: some agents edit the wrong folder. */
export function fingerprintMutable(run: Framed): Promise<Result<Fingerprint>> {
  const scope = scopeOfRun(run)
  const places = placesOfMutable(run.spec.scope, run.started.prefix)
  return fingerprintCheckout(run.started.checkout, (path) => scope(path) === 'mutable', places)
}
