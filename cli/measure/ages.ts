/**
 * How old the files of a checkout are. Before two candidates are compared, their checkouts get the same ages: the parent may have been in
 * its checkout for days, while git has just written the candidate, and a program must not know its side from that.
 */
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { renew, type Young, youngIn } from '../disk/inventory.ts'
import { recognizeFiles } from '../git/restore.ts'
import { type TreePaths, treePaths } from '../git/trees.ts'
import { slotFacts, slotPath } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { asideOf, type LeasedSlot } from './slot.ts'
import { type Occupied, recordMoved } from './tamper.ts'

/** Now, by the clock of the disk that holds the checkouts, in milliseconds: it may differ from ours. */
export function timeOfDisk({ site, slot }: Pick<LeasedSlot, 'site' | 'slot'>): number {
  const file = `${slotFacts(site, slot, 'a')}.now`
  mkdirSync(dirname(file), { recursive: true })
  rmSync(file, { force: true })
  writeFileSync(file, '')
  const { ctimeMs } = lstatSync(file)
  rmSync(file)
  return ctimeMs
}

type Compared = Occupied & { commit: string; tree: string }

/**
 * Writes anew in both checkouts the files in which the two trees differ, and those of the trees that were written in one of the checkouts since
 * `since`. What is older was there before a coin drew which side lies where, so it tells nothing. What setup made keeps its
 * times, because tools compare them. One checkout follows the other by name, not by side.
 */
export async function levelAges(
  leased: LeasedSlot,
  sides: readonly [Compared, Compared],
  since: number,
): Promise<Result<void>> {
  const trees: TreePaths[] = []
  for (const { tree } of sides) {
    const found = await treePaths(leased.site, tree)
    if (!found.ok) return found
    trees.push(found.value)
  }
  const wanted = toRenew(
    trees,
    sides.map(({ placed }) => youngIn(placed.inventory, since)),
  )
  for (const side of [...sides].sort((one, other) => (one.place < other.place ? -1 : 1))) {
    const { place, placed } = side
    const path = slotPath(leased.site, leased.slot, place)
    const { moved, obstacle } = renew(placed.inventory, wanted, asideOf(path))
    recordMoved(leased, side, moved)
    if (obstacle) return fail(notLevelled(obstacle.path, obstacle.code))
    const seen = await recognizeFiles(leased.site, path, side)
    if (!seen.ok) return seen
  }
  return ok(undefined)
}

function toRenew(trees: readonly TreePaths[], young: readonly Young[]) {
  const tracked = new Set(['.git', ...trees.flatMap(({ files }) => files)])
  const folders = new Set([...tracked].flatMap(foldersAbove))
  const differs = (path: string) => {
    const [one, other] = trees.map(({ entries }) => entries.get(path))
    return one?.oid !== other?.oid || one?.mode !== other?.mode
  }
  return {
    files: new Set([
      ...young.flatMap(({ files }) => files.filter((path) => tracked.has(path))),
      ...[...tracked].filter(differs),
    ]),
    folders: new Set(young.flatMap((one) => one.folders.filter((path) => folders.has(path)))),
    changed: folders,
  }
}

/** Each with a `/` at the end; the top is empty. */
const foldersAbove = (path: string): string[] => [
  '',
  ...[...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)),
]

const notLevelled = (at: string, code: string): Problem => ({
  kind: 'failed',
  code: 'checkout_not_made',
  message: `a file of a measurement checkout could not be written anew: ${code}`,
  hint: 'look at the free space and the rights there, then run the same command again',
  at,
})
