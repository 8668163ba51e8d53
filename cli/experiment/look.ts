/** After each sample and gate: what it changed in a checkout, also what it put back; what else it left is removed. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { putBack } from '../disk/inventory.ts'
import { slotPath } from '../paths.ts'
import { stampIn } from '../run/data.ts'
import type { OpenRun } from '../run/open.ts'
import type { Bench, Place, Placed } from './bench.ts'
import { asideOf, madeAt } from './clear.ts'
import { readFacts, writeFacts } from './slot-facts.ts'

export interface Looked {
  /** Files that are not as they were at the last look. */
  touched: string[]
  /** The checkout cannot be used any more: it was replaced, or holds what cannot be removed. A text that says so. */
  spoilt: string | null
}

/** The checkout holds the same files as before it, in the same folders: the next sample finds no trace of this one. */
export function lookAt(run: OpenRun, bench: Bench, place: Place, placed: Placed): Looked {
  const path = slotPath(run.site, bench.slot, place)
  const seen = putBack(placed.inventory, asideOf(path))
  if (seen.lost)
    return { touched: ['the checkout itself'], spoilt: `${path} was replaced while it was measured` }
  for (const file of seen.changed) placed.touched.add(file)
  const moved = [...seen.moved].filter(([file]) => !placed.touched.has(file))
  restamp(placed, path, moved)
  if (moved.length > 0 || seen.remade) {
    const facts = readFacts(run, bench, place)
    for (const before of [facts.afterSetup, facts.afterBuild])
      restamp({ before, data: facts.data }, path, moved)
    writeFacts(run, bench, place, { ...facts, made: madeAt(path) })
  }
  const { obstacle } = seen
  return {
    touched: seen.changed,
    spoilt: obstacle && `${obstacle.path} could not be put back: ${obstacle.code}`,
  }
}

/** We moved these files ourselves: what is known of them holds as before. */
function restamp(
  { before, data }: Pick<Placed, 'before' | 'data'>,
  top: string,
  moved: [path: string, stamp: string][],
): void {
  for (const [path, stamp] of moved) {
    if (Object.hasOwn(before.files, path)) before.files[path] = stamp
    const [sha256] = data[path]?.split(' ') ?? []
    if (sha256 !== undefined) data[path] = `${sha256} ${stampIn(lstatSync(join(top, path)))}`
  }
}
