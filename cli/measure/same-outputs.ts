/** Whether two candidates in the checkouts of a slot were built to the same, so that no measurement can tell them apart. */
import { lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { slotPath } from '../paths.ts'
import type { RunRecord } from '../run/open.ts'
import type { Seat } from './session.ts'
import type { LeasedSlot } from './slot.ts'

/** Sources that only a compiler reads. Any other file may be read by the benchmark itself. */
const COMPILED =
  /\.(?:c|cc|cpp|cxx|h|hh|hpp|hxx|inl|m|mm|rs|go|java|kt|scala|swift|zig|d|hs|ml|mli|f|f90|adb|ads|cu|s)$/i

/** Larger outputs are not compared: that would take longer than the measurement. */
const MOST_BYTES = 256 * 2 ** 20

/**
 * True when only sources for a compiler differ, and what setup and build left is the same, byte by byte. `paths`: the
 * files that differ. False when that is not certain.
 */
export function sameOutputs(
  { spec }: Pick<RunRecord, 'spec'>,
  { site, slot }: Pick<LeasedSlot, 'site' | 'slot'>,
  [one, other]: readonly [Seat, Seat],
  paths: readonly string[],
): boolean {
  if (spec.worktree.build === null || !paths.every((path) => COMPILED.test(path))) return false
  const [mine, theirs] = [one, other].map(({ place, placed }) => ({
    top: slotPath(site, slot, place),
    files: Object.keys(placed.before.files).sort(),
  }))
  if (!mine || !theirs || mine.files.length === 0 || mine.files.join('\0') !== theirs.files.join('\0'))
    return false
  let bytes = 0
  return mine.files.every((path) => {
    const [a, b] = [join(mine.top, path), join(theirs.top, path)]
    const [first, second] = [lstatSync(a), lstatSync(b)]
    if (first.mode !== second.mode || first.size !== second.size) return false
    if (first.isSymbolicLink()) return readlinkSync(a) === readlinkSync(b)
    bytes += first.size
    return first.isFile() && bytes <= MOST_BYTES && readFileSync(a).equals(readFileSync(b))
  })
}
