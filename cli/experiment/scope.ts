import type { OpenRun } from '../run/open.ts'
import { type Area, scopeOf } from '../spec/rules.ts'
import { dataPaths } from './data.ts'

const known = new WeakMap<OpenRun, (path: string) => Area>()

/** What the frozen spec says of a path; compiled once for a run. The baseline's scope is everything. */
export function scopeOfRun(run: OpenRun): (path: string) => Area {
  const cached = known.get(run)
  if (cached) return cached
  const scope = scopeOf(run.spec.scope, run.started.prefix)
  const data = dataPaths(run)
  const area = data.size === 0 ? scope : (path: string) => (data.has(path) ? 'immutable' : scope(path))
  known.set(run, area)
  return area
}
