/** Removes everything that a program left, even folders without rights, trees deeper than the longest path, and names that are not UTF-8. */
import { chmodSync, lstatSync, type PathLike, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'

/** Why a tree could not be removed whole: the first thing that stayed. */
export interface Obstacle {
  path: string
  /** As the system names it: `EACCES`, `EPERM`, … */
  code: string
}

/** Bytes. A system takes paths of 4,096, or 1,024; what lies deeper is moved up first. */
const LONGEST = 900
const RIGHTS = 0o700
const SEPARATOR = Buffer.from('/')

/**
 * Removes a file, a link or a whole folder. Follows no link. Folders get their rights back first, as far as they are
 * ours. Nothing there is no failure. Never throws: answers the first obstacle, or null; what can be removed is removed
 * even so. For trees in which no process works any more.
 */
export function removeTree(path: string | Buffer): Obstacle | null {
  const root = Buffer.isBuffer(path) ? path : Buffer.from(path)
  let obstacle: Obstacle | null = null
  const attempt = (at: Buffer, act: () => void): boolean => {
    try {
      act()
      return true
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (code === undefined) throw error
      if (code === 'ENOENT') return true
      obstacle ??= { path: at.toString(), code }
      return false
    }
  }
  if (!isFolder(root)) {
    attempt(root, () => unlinkSync(root))
    return obstacle
  }
  /** Folders whose entries are still to be removed, or that are empty by now. */
  const open: { at: Buffer; emptied: boolean }[] = [{ at: root, emptied: false }]
  let moved = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at } = next
    if (next.emptied) {
      attempt(at, () => rmdirSync(at))
      continue
    }
    open.push({ at, emptied: true })
    giveRights(at)
    for (const { name, folder } of entriesOf(at, attempt)) {
      const here = Buffer.concat([at, SEPARATOR, name])
      if (!folder) {
        attempt(here, () => unlinkSync(here))
        continue
      }
      let reachable = here
      if (here.length > LONGEST) {
        // A folder changes its place only with its rights.
        giveRights(here)
        const upper = Buffer.concat([root, Buffer.from(`/.assay-removed-${process.pid}-${moved++}`)])
        if (attempt(here, () => renameSync(here, upper))) reachable = upper
      }
      open.push({ at: reachable, emptied: false })
    }
  }
  return obstacle
}

/** Owner's rights on a folder, when they are missing and we may give them. `path` must be no link. */
export function giveRights(path: PathLike): void {
  try {
    const { mode } = lstatSync(path)
    if ((mode & RIGHTS) !== RIGHTS) chmodSync(path, (mode & 0o7777) | RIGHTS)
  } catch {
    // What follows tells what is in the way.
  }
}

function isFolder(path: PathLike): boolean {
  try {
    return lstatSync(path).isDirectory()
  } catch {
    return false
  }
}

function entriesOf(
  folder: Buffer,
  attempt: (at: Buffer, act: () => void) => boolean,
): { name: Buffer; folder: boolean }[] {
  const found: { name: Buffer; folder: boolean }[] = []
  attempt(folder, () => {
    for (const one of readdirSync(folder, { encoding: 'buffer', withFileTypes: true }))
      found.push({ name: one.name, folder: one.isDirectory() })
  })
  return found
}
