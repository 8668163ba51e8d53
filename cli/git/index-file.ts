/**
 * Git's index, read in this process: whether a worktree still holds what an index says, by stat data. Starting git costs more
 * than that for a small worktree.
 */
import { createHash } from 'node:crypto'
import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import type { Site } from '../paths.ts'
import { registeredFolder, treeIndex } from './worktrees.ts'

interface Entry {
  /** Seconds and nanoseconds of the change and of the modification, inode, user, group and size, as git stores them. */
  stat: readonly number[]
  mode: number
  oid: string
}

/** Files. To look at more of them takes longer here than in a git that must first be started. */
export const SMALL = 1000

/**
 * Whether the worktree holds exactly the files of one of these trees. Further files count only if `mayBeThere` refuses them. The
 * answer is false also where this function cannot know: a tree that was neither checked out nor sealed there, filters,
 * submodules, an index of an unknown form, more than `most` files.
 */
export async function holdsOneOf(
  site: Site,
  worktree: string,
  trees: Iterable<string>,
  mayBeThere: (path: string) => boolean,
  most = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const folder = await registeredFolder(site, worktree)
  if (folder === null) return false
  for (const tree of trees) if (holdsIndex(worktree, treeIndex(folder, tree), mayBeThere, most)) return true
  return false
}

/** The same of an index that lies anywhere. */
export function holdsIndex(
  worktree: string,
  index: string,
  mayBeThere: (path: string) => boolean,
  most = SMALL,
): boolean {
  try {
    const read = readIndex(index, most)
    return read !== null && holds(worktree, read, mayBeThere)
  } catch {
    // Something is not there, or may not be read: git says what.
    return false
  }
}

function holds(
  worktree: string,
  { entries, written }: { entries: Map<string, Entry>; written: bigint },
  mayBeThere: (path: string) => boolean,
): boolean {
  let found = 0
  const open = ['']
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const one of readdirSync(`${worktree}/${folder}`, { withFileTypes: true })) {
      const path = `${folder}${one.name}`
      // At the top it is the file that leads to the store; further down it is a repository of its own.
      if (path === '.git') continue
      if (one.name === '.git') return false
      if (one.isDirectory()) {
        open.push(`${path}/`)
        continue
      }
      const entry = entries.get(path)
      if (entry === undefined) {
        if (!mayBeThere(path)) return false
        continue
      }
      found++
      if (!isSame(`${worktree}/${path}`, entry, written)) return false
    }
  }
  return found === entries.size
}

const KIND = 0o170000
const LINK = 0o120000
const FILE = 0o100000

function isSame(path: string, entry: Entry, written: bigint): boolean {
  const now = lstatSync(path, { bigint: true })
  const kind = Number(now.mode) & KIND
  if (kind !== (entry.mode & KIND)) return false
  if (kind === FILE && (now.mode & 0o100n) !== BigInt(entry.mode & 0o100)) return false
  // A file that is as young as its index may have been changed after git looked at it.
  if (now.mtimeNs < written && statOf(now).every((part, at) => part === entry.stat[at])) return true
  const content = kind === LINK ? readlinkSync(path, { encoding: 'buffer' }) : readFileSync(path)
  return blobName(content, entry.oid.length) === entry.oid
}

const NANO = 1_000_000_000n
const cut = (value: bigint): number => Number(value & 0xffffffffn)
const statOf = ({ ctimeNs, mtimeNs, ino, uid, gid, size }: BigIntStats): number[] => [
  cut(ctimeNs / NANO),
  cut(ctimeNs % NANO),
  cut(mtimeNs / NANO),
  cut(mtimeNs % NANO),
  cut(ino),
  cut(uid),
  cut(gid),
  cut(size),
]

const blobName = (content: Buffer, digits: number): string =>
  createHash(digits === 40 ? 'sha1' : 'sha256')
    .update(`blob ${content.length}\0`)
    .update(content)
    .digest('hex')

// ----------------------------------------------------------------
// The format, as `gitformat-index` describes it, in versions 2 and 3.

const HEAD_BYTES = 12
const STAT_BYTES = 40
/** Where `stat` of an entry lies: 24 is its mode, 16 the device, which git does not compare. */
const STAT_AT = [0, 4, 8, 12, 20, 28, 32, 36]
const ASSUMED = 0x8000
const EXTENDED = 0x4000
const STAGE = 0x3000

/** Null when it is of another version, or not only of files and links that git compares as usual. */
function readIndex(file: string, most: number): { entries: Map<string, Entry>; written: bigint } | null {
  const bytes = readFileSync(file)
  if (bytes.readUInt32BE(8) > most) return null
  const written = statSync(file, { bigint: true }).mtimeNs
  const version = bytes.readUInt32BE(4)
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3)) return null
  const oidBytes = oidBytesOf(bytes)
  if (oidBytes === null) return null
  const entries = new Map<string, Entry>()
  let at = HEAD_BYTES
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const name = at + STAT_BYTES + oidBytes + 2
    const flags = bytes.readUInt16BE(name - 2)
    const mode = bytes.readUInt32BE(at + 24)
    const isPlain = (mode & KIND) === FILE || (mode & KIND) === LINK
    if (!isPlain || (flags & (ASSUMED | EXTENDED | STAGE)) !== 0) return null
    const end = bytes.indexOf(0, name)
    entries.set(bytes.toString('utf8', name, end), {
      stat: STAT_AT.map((offset) => bytes.readUInt32BE(at + offset)),
      mode,
      oid: bytes.toString('hex', at + STAT_BYTES, name - 2),
    })
    at += (end - at + 8) & ~7
  }
  // An extension with a small letter changes what the entries mean.
  for (; at < bytes.length - oidBytes; at += 8 + bytes.readUInt32BE(at + 4))
    if ((bytes[at] ?? 0) >= 0x61) return null
  return { entries, written }
}

/** The index ends with a checksum of the kind of its object names. */
function oidBytesOf(bytes: Buffer): number | null {
  for (const [algorithm, length] of [
    ['sha1', 20],
    ['sha256', 32],
  ] as const) {
    const end = bytes.length - length
    if (createHash(algorithm).update(bytes.subarray(0, end)).digest().equals(bytes.subarray(end)))
      return length
  }
  return null
}
