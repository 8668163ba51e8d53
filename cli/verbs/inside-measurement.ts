/** Refuses verbs that write when a measurement (sample, gate, setup, build) calls them on its own repository. */

import { call, next } from '../next.ts'
import { findSite } from '../paths.ts'
import { measuredHere } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Context, Parsed } from '../terminal/command.ts'
import { fullName } from './table.ts'

/**
 * Problem `measured` (exit 3) for a verb that would write the state of the repository for which this process is measured:
 * otherwise a candidate could command its own judge. Other repositories are allowed, so a test suite that calls Assay works.
 */
export function refuseInsideMeasurement({ cwd }: Context, args: Parsed): Result<void> {
  const measured = measuredHere()
  const state = measured.length === 0 ? null : (findSite(cwd)?.site.state ?? null)
  if (state === null || !measured.includes(state)) return ok(undefined)
  return fail({
    kind: 'refused',
    code: 'measured',
    message: `assay ${fullName(args)} was called from inside a measurement (a sample, gate, setup or build) in this repository`,
    hint: next`a measurement may only read a run (${call('status')}, ${call('show', 'ID')}, ${call('tree')}); call the command from outside of the measurement`,
    at: state,
  })
}
