/**
 * Whether the objects of the store are what their names say. git reads an object without comparing it with its name, so one
 * that was rewritten in the store would be checked out, and measured, as if it were the user's file.
 */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileStamp } from '../disk/inventory.ts'
import { call, next } from '../next.ts'
import type { Site } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { Checkout } from './checkout.ts'
import { type GitOptions, git, gitFields, gitText, trusting } from './git.ts'
import { judgeOptions } from './judge-folder.ts'

export interface StoredObject {
  oid: string
  /** Where it stands in the first of the trees; a commit or a root tree has none. */
  path: string | null
}

/** The objects of these commits: themselves, and their trees and files. History and submodules are not among them. */
async function objectsOf(site: Site, commits: readonly string[]): Promise<Result<StoredObject[]>> {
  const told = await gitText(['rev-list', '--objects', '--no-walk', '--missing=print', '--stdin'], {
    ...judgeOptions(site),
    input: `${commits.join('\n')}\n`,
  })
  if (!told.ok) return told
  const found = told.value.split('\n').flatMap((line) => {
    const [, oid, path = ''] = /^\??([0-9a-f]+)(?: (.*))?$/.exec(line) ?? []
    return oid === undefined ? [] : [{ oid, path: path === '' ? null : path }]
  })
  return ok(found)
}

/** What a checkout of `from` gets when it is brought to `commit`. */
async function objectsBetween(site: Site, from: string, commit: string): Promise<Result<StoredObject[]>> {
  const told = await gitFields(
    ['diff-tree', '-r', '-t', '--raw', '-z', '--no-renames', from, commit],
    judgeOptions(site),
  )
  if (!told.ok) return told
  const found: StoredObject[] = [{ oid: commit, path: null }]
  for (let at = 0; at + 1 < told.value.length; at += 2) {
    const [, mode, , oid = ''] = (told.value[at] ?? '').split(' ')
    if (mode === '160000' || /^0+$/.test(oid)) continue
    found.push({ oid, path: told.value[at + 1] ?? null })
  }
  return ok(found)
}

/** Those of the objects of these commits that are gone, cannot be read, or are not what their name says. */
export const damagedObjects = async (
  site: Site,
  commits: readonly string[],
): Promise<Result<StoredObject[]>> => damagedOf(site, await objectsOf(site, [...new Set(commits)]))

async function damagedOf(site: Site, listed: Result<StoredObject[]>): Promise<Result<StoredObject[]>> {
  // git walks no further than a commit or folder that it cannot unpack, and names it.
  const objects = listed.ok ? listed.value : oidsIn(listed.problem.message)
  const wrong = await notAsNamed(
    judgeOptions(site),
    objects.map(({ oid }) => oid),
  )
  if (!wrong.ok) return wrong
  const damaged = objects.filter(({ oid }) => wrong.value.has(oid))
  return listed.ok || damaged.length > 0 ? ok(damaged) : listed
}

/**
 * Problem `objects_damaged` when an object of the commit is. `from`: the commit that the checkout holds, whose files are
 * not written again; only what differs from it is looked at.
 */
export async function refuseDamaged(
  site: Site,
  commit: string,
  from: string | null = null,
): Promise<Result<void>> {
  const packs = packsOf(site)
  const known = from === null && whole?.packs === packs ? whole : null
  const base = from ?? known?.commit ?? null
  const listed = base === null ? await objectsOf(site, [commit]) : await objectsBetween(site, base, commit)
  if (known !== null && listed.ok) listed.value.push(...known.loose)
  const damaged = await damagedOf(site, listed)
  if (!damaged.ok) return damaged
  if (damaged.value.length > 0) return fail(damage(site, damaged.value))
  if (base === null && listed.ok)
    whole = { commit, packs, loose: listed.value.filter(({ oid }) => existsSync(looseFile(site, oid))) }
  return ok(undefined)
}

/**
 * The commit that this process found whole last, the packs as they were before, and the objects of the commit that lay
 * alone. A loop makes one worktree after another, and to read 20,000 files for each takes twice as long as to write them. It is
 * in no file, since an agent could write that.
 */
let whole: { commit: string; packs: string; loose: StoredObject[] } | null = null

/** All that decides what git reads from packs: no program can change a file without its stamp. */
function packsOf({ store }: Site): string {
  const objects = join(store, 'objects')
  const names = existsSync(join(objects, 'pack')) ? readdirSync(join(objects, 'pack')) : []
  const files = [...names.sort().map((name) => join('pack', name)), join('info', 'alternates')]
  return files.map((file) => `${join(objects, file)} ${stampAt(join(objects, file))}`).join('\n')
}

function stampAt(file: string): string {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found ? fileStamp(found) : ''
}

const looseFile = ({ store }: Site, oid: string): string =>
  join(store, 'objects', oid.slice(0, 2), oid.slice(2))

const oidsIn = (message: string): StoredObject[] =>
  [...new Set(message.match(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g))].map((oid) => ({ oid, path: null }))

const SHOWN = 5

/** Objects for a message: by path where they have one. */
export const shownObjects = (objects: readonly StoredObject[]): string => {
  const names = objects
    .slice(0, SHOWN)
    .map(({ oid, path }) => `${oid.slice(0, 12)}${path === null ? '' : ` (${path})`}`)
  const more = objects.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const damage = (site: Site, objects: readonly StoredObject[]): Problem => ({
  kind: 'failed',
  code: 'objects_damaged',
  message: `objects of the store are damaged or gone: ${shownObjects(objects)}; a checkout would not hold what was sealed`,
  hint: next`${call('doctor', '--fix')} fetches them from your repository; then repeat the command`,
  at: site.store,
})

// ---------------------------------------------------------------- compares contents with names

/** So few are read without asking for their sizes first. */
const FEW = 100
/** Objects are read in portions of this size. One that is larger than what a command may print is not looked at. */
const PORTION_BYTES = 16 * 1024 * 1024
const LARGEST_BYTES = 60 * 1024 * 1024

interface Sized {
  oid: string
  size: number
}

/** Those that are missing are among them. */
async function notAsNamed(options: GitOptions, oids: readonly string[]): Promise<Result<Set<string>>> {
  const wrong = new Set<string>()
  if (oids.length === 0) return ok(wrong)
  const few = oids.length <= FEW ? await readObjects(options, oids) : null
  if (few !== null) {
    addWrong(few, wrong)
    return ok(wrong)
  }
  const told = await sizes(options, oids, wrong)
  if (!told.ok) return told
  let portion: Sized[] = []
  let bytes = 0
  for (const one of told.value) {
    if (one.size > LARGEST_BYTES) continue
    if (portion.length > 0 && bytes + one.size > PORTION_BYTES) {
      await compare(options, portion, wrong)
      portion = []
      bytes = 0
    }
    portion.push(one)
    bytes += one.size
  }
  await compare(options, portion, wrong)
  return ok(wrong)
}

/** The size that the header of each object says. An object whose header cannot be read is missing, for git. */
async function sizes(
  options: GitOptions,
  oids: readonly string[],
  missing: Set<string>,
): Promise<Result<Sized[]>> {
  const told = await gitText(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    ...options,
    input: `${oids.join('\n')}\n`,
  })
  if (!told.ok) return told
  return ok(
    told.value.split('\n').flatMap((line) => {
      const [oid = '', size = ''] = line.split(' ')
      if (size !== 'missing') return [{ oid, size: Number(size) }]
      missing.add(oid)
      return []
    }),
  )
}

/** git ends at an object that it cannot unpack: then each half is read by itself. */
async function compare(options: GitOptions, portion: readonly Sized[], wrong: Set<string>): Promise<void> {
  if (portion.length === 0) return
  const read = await readObjects(
    options,
    portion.map(({ oid }) => oid),
  )
  if (read !== null) {
    addWrong(read, wrong)
    return
  }
  const [only] = portion
  if (portion.length === 1 && only) {
    wrong.add(only.oid)
    return
  }
  const half = Math.ceil(portion.length / 2)
  await compare(options, portion.slice(0, half), wrong)
  await compare(options, portion.slice(half), wrong)
}

interface ReadObject {
  oid: string
  type: string
  content: Buffer
}

function addWrong(read: readonly ReadObject[], wrong: Set<string>): void {
  for (const { oid, type, content } of read) if (nameOf(type, content, oid.length) !== oid) wrong.add(oid)
}

/** null when git cannot give each of them, or when they are too large to be read at once. */
async function readObjects(options: GitOptions, oids: readonly string[]): Promise<ReadObject[] | null> {
  const out = await git(['cat-file', '--batch', '--buffer'], { ...options, input: `${oids.join('\n')}\n` })
  if (!out.ok) return null
  const read: ReadObject[] = []
  for (let at = 0; at < out.value.length; ) {
    const end = out.value.indexOf(10, at)
    const [, oid, type, size] =
      /^([0-9a-f]+) ([a-z]+) (\d+)$/.exec(out.value.toString('latin1', at, end)) ?? []
    if (oid === undefined || type === undefined) return null
    const content = out.value.subarray(end + 1, end + 1 + Number(size))
    read.push({ oid, type, content })
    at = end + 2 + Number(size)
  }
  return read.length === oids.length ? read : null
}

const nameOf = (type: string, content: Buffer, digits: number): string =>
  createHash(digits === 64 ? 'sha256' : 'sha1')
    .update(`${type} ${content.length}\0`)
    .update(content)
    .digest('hex')

// ---------------------------------------------------------------- fetches damaged objects again

/**
 * Writes these objects of the user's repository into the store, in place of what is there. Answers those that stay
 * damaged: the user's repository has them not or damaged as well, or they lie in a pack.
 */
export async function fetchObjects(
  site: Site,
  checkout: Checkout,
  oids: readonly string[],
): Promise<Result<string[]>> {
  const { before } = trusting(checkout.commonDir)
  for (const oid of oids) {
    const theirs: GitOptions = { gitDir: checkout.commonDir, config: 'user' }
    const type = await gitText([...before, 'cat-file', '-t', oid], theirs)
    if (!type.ok) continue
    const content = await git([...before, 'cat-file', type.value, oid], theirs)
    if (!content.ok) continue
    if (nameOf(type.value, content.value, oid.length) !== oid) continue
    // git writes no object whose file is there.
    rmSync(looseFile(site, oid), { force: true })
    const written = await git(['hash-object', '-w', '--stdin', '-t', type.value], {
      ...judgeOptions(site),
      input: content.value,
    })
    if (!written.ok) return written
  }
  const wrong = await notAsNamed(judgeOptions(site), oids)
  return wrong.ok ? ok([...wrong.value]) : wrong
}
