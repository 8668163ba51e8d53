/** What lies in a folder of artifacts, by content. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'

export interface ArtifactFile {
  sha256: string
  bytes: number
  /** A symbolic link (its content is its target's name), or another thing that is not hashed. */
  link: boolean
}

/** Path relative to the folder, with `/`; sorted. Empty folders do not count. */
export type Listing = ReadonlyMap<string, ArtifactFile>

/** Every file below `place`, hashed; a place that does not exist is empty; a single file has the path `''`. */
export async function listArtifacts(place: string): Promise<Listing> {
  const found = new Map<string, ArtifactFile>()
  for (const path of await pathsIn(place)) found.set(path, await hashed(join(place, path)))
  return found
}

/** The same without reading any file. */
export async function listSizes(folder: string): Promise<{ path: string; bytes: number }[]> {
  const paths = await pathsIn(folder)
  return Promise.all(
    paths.map(async (path) => ({ path, bytes: Number((await lstat(join(folder, path))).size) })),
  )
}

async function pathsIn(folder: string): Promise<string[]> {
  const found: string[] = []
  const top = await lstat(folder).catch(() => null)
  if (top !== null && !top.isDirectory()) return ['']
  const open = ['']
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of await entriesOf(join(folder, at))) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) open.push(path)
      else found.push(path)
    }
  }
  return found.sort()
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EACCES') return []
    throw error
  }
}

/** A checkpoint may have gigabytes and is asked for several times in one command. */
const known = new Map<string, { stamp: string; sha256: string }>()
/** A file that changed so lately may change again without a new time stamp. */
const RACY_MS = 100

async function hashed(file: string): Promise<ArtifactFile> {
  try {
    return await contentOf(file)
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
    // Gone in the meantime, or not readable for us: it is no artifact, but it is no bug either.
    return { sha256: sha256('unreadable'), bytes: 0, link: true }
  }
}

async function contentOf(file: string): Promise<ArtifactFile> {
  const stat = await lstat(file, { bigint: true })
  const bytes = Number(stat.size)
  if (stat.isSymbolicLink()) return { sha256: sha256(`link ${await readlink(file)}`), bytes: 0, link: true }
  // A pipe would be waited for without end.
  if (!stat.isFile()) return { sha256: sha256('not a file'), bytes: 0, link: true }
  const stamp = [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ')
  const before = known.get(file)
  if (before?.stamp === stamp) return { sha256: before.sha256, bytes, link: false }
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  const digest = hash.digest('hex')
  if (Date.now() - Number(stat.ctimeMs) > RACY_MS) known.set(file, { stamp, sha256: digest })
  return { sha256: digest, bytes, link: false }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * A file's own hash, or that of a folder's listing; `''` is the whole. null when there is nothing at the path, or when
 * a link is part of it: what a link points to is not hashed.
 */
export function artifactAt(listing: Listing, path: string): { sha256: string; bytes: number } | null {
  const file = listing.get(path)
  if (file) return file.link ? null : { sha256: file.sha256, bytes: file.bytes }
  const prefix = path === '' ? '' : `${path}/`
  const hash = createHash('sha256')
  let bytes = 0
  let files = 0
  for (const [name, one] of listing) {
    if (!name.startsWith(prefix)) continue
    if (one.link) return null
    hash.update(`${name.slice(prefix.length)}\0${one.sha256}\n`)
    bytes += one.bytes
    files++
  }
  return files === 0 ? null : { sha256: hash.digest('hex'), bytes }
}

/** Paths that were added, changed or removed. */
export function changedArtifacts(before: Listing, after: Listing): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths].filter((path) => before.get(path)?.sha256 !== after.get(path)?.sha256).sort()
}
