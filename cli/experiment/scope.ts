import type { OpenRun } from '../run/open.ts'
import { type Area, scopeOf } from '../spec/rules.ts'

const known = new WeakMap<OpenRun, (path: string) => Area>()

/** What the frozen spec says of a path; compiled once for a run. The baseline's scope is everything. */
export function scopeOfRun(run: OpenRun): (path: string) => Area {
  const scope = known.get(run) ?? scopeOf(run.spec.scope, run.started.prefix)
  known.set(run, scope)
  return scope
}
