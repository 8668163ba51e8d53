/** What a measured process may do with the state of the repository that it is measured for: read it. */

import { call, next } from '../next.ts'
import { findSite } from '../paths.ts'
import { measuredHere } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Context, Parsed } from '../terminal/command.ts'
import { fullName } from './table.ts'

/**
 * Problem `measured` (exit 3) for a verb that would write the state of the repository that this process is measured for:
 * a candidate would command its own judge. Other repositories are free, so a test suite that calls Assay works.
 */
export function mayCommand({ cwd }: Context, args: Parsed): Result<void> {
  const measured = measuredHere()
  const state = measured.length === 0 ? null : (findSite(cwd)?.site.state ?? null)
  if (state === null || !measured.includes(state)) return ok(undefined)
  return fail({
    kind: 'refused',
    code: 'measured',
    message: `assay ${fullName(args)} was called by a process that is being measured, or prepared for that, in this repository`,
    hint: next`a sample, gate, setup or build may only read it (${call('status')}, ${call('show', 'ID')}, ${call('tree')}); call the command from outside of the measurement`,
    at: state,
  })
}
