/** Trees of the store: what is in one, and what differs between two; and the hashes that files on disk would have there. */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { git, gitFields } from './git.ts'
import { judgeFolder, judgeOptions } from './judge-folder.ts'

export interface TreeEntry {
  path: string
  /** `100644`, `100755` (executable), `120000` (symbolic link), `160000` (submodule). */
  mode: string
  oid: string
  /** Bytes; null for a submodule. */
  size: number | null
}

/** Every file of a tree or commit, in path order. */
export async function listTree(site: Site, treeish: string): Promise<Result<TreeEntry[]>> {
  return lsTree(site, ['-r', treeish])
}

export interface TreePaths {
  /** Links included. */
  files: readonly string[]
  links: ReadonlySet<string>
  /** Their folders. */
  submodules: readonly string[]
  /** Mode and hash of each path, submodules included. */
  entries: ReadonlyMap<string, { mode: string; oid: string }>
}

/** The trees that were asked for last: each is asked for several times while a candidate is sealed, checked and placed. */
const known = new Map<string, TreePaths>()
const MOST_KNOWN = 4

/** Paths of a tree, which its hash names. Cheaper than `listTree`. */
export async function treePaths(site: Site, tree: string): Promise<Result<TreePaths>> {
  const name = `${site.store} ${tree}`
  const before = known.get(name)
  if (before) return ok(before)
  const out = await gitFields(['ls-tree', '-r', '-z', '--full-tree', tree], judgeOptions(site))
  if (!out.ok) return out
  const files: string[] = []
  const links = new Set<string>()
  const submodules: string[] = []
  const entries = new Map<string, { mode: string; oid: string }>()
  for (const line of out.value) {
    const tab = line.indexOf('\t')
    const path = line.slice(tab + 1)
    entries.set(path, { mode: line.slice(0, 6), oid: line.slice(line.lastIndexOf(' ', tab) + 1, tab) })
    if (line.startsWith('160000 ')) submodules.push(path)
    else files.push(path)
    if (line.startsWith('120000 ')) links.add(path)
  }
  const paths = { files, links, submodules, entries }
  for (const oldest of known.keys()) if (known.size >= MOST_KNOWN) known.delete(oldest)
  known.set(name, paths)
  return ok(paths)
}

/** The bytes of one file of a tree or commit; null when there is none at that path. */
export async function readBlob(site: Site, treeish: string, path: string): Promise<Result<Buffer | null>> {
  const entries = await treeEntries(site, treeish, [path])
  if (!entries.ok) return entries
  const entry = entries.value.find((one) => one.path === path && one.mode !== '160000')
  if (!entry || entry.mode === '040000') return ok(null)
  return git(['cat-file', 'blob', entry.oid], judgeOptions(site))
}

/** The bytes of these blobs; each must be there. */
export async function readBlobs(site: Site, oids: readonly string[]): Promise<Result<Map<string, Buffer>>> {
  const found = new Map<string, Buffer>()
  if (oids.length === 0) return ok(found)
  const out = await git(['cat-file', '--batch'], { ...judgeOptions(site), input: `${oids.join('\n')}\n` })
  if (!out.ok) return out
  for (let at = 0; at < out.value.length; ) {
    const end = out.value.indexOf(10, at)
    const head = out.value.toString('latin1', at, end)
    const [, oid = '', size = ''] = /^([0-9a-f]+) blob (\d+)$/.exec(head) ?? []
    if (oid === '') throw new Error(`unexpected line of git cat-file: ${head}`)
    const start = end + 1
    at = start + Number(size) + 1
    found.set(oid, out.value.subarray(start, at - 1))
  }
  return ok(found)
}

/** The entries at these paths, literally; a path that the tree does not have is absent. */
export async function treeEntries(
  site: Site,
  treeish: string,
  paths: readonly string[],
): Promise<Result<TreeEntry[]>> {
  const entries: TreeEntry[] = []
  for (let at = 0; at < paths.length; at += PATHS_AT_ONCE) {
    const some = await lsTree(site, [treeish, '--', ...paths.slice(at, at + PATHS_AT_ONCE)])
    if (!some.ok) return some
    entries.push(...some.value)
  }
  return ok(entries)
}

/** Of a command line: the system limits its length. */
const PATHS_AT_ONCE = 500

async function lsTree(site: Site, args: string[]): Promise<Result<TreeEntry[]>> {
  const out = await gitFields(
    ['--literal-pathspecs', 'ls-tree', '-l', '-z', '--full-tree', ...args],
    judgeOptions(site),
  )
  if (!out.ok) return out
  const entries: TreeEntry[] = []
  for (const line of out.value) {
    const match = /^(\d{6}) \w+ ([0-9a-f]+) +(-|\d+)\t(.*)$/s.exec(line)
    if (!match) throw new Error(`unexpected line of git ls-tree: ${line}`)
    const [, mode = '', oid = '', size, path = ''] = match
    entries.push({ path, mode, oid, size: size === '-' ? null : Number(size) })
  }
  return ok(entries)
}

const STREAMED = 4 * 1024 * 1024
const AT_ONCE = 16

/**
 * Hashes files as they lie on disk, relative to `dir`: git's SHA-1 of a blob, without filters; of a symbolic link
 * its target. null = nothing there; a folder and other things have their type's name in place of a hash.
 * Starts no process. Problem `unreadable_file`.
 */
export async function hashFiles(
  dir: string,
  paths: readonly string[],
): Promise<Result<Map<string, string | null>>> {
  const hashes = new Map<string, string | null>()
  for (const path of paths) hashes.set(path, null)
  const queue = [...hashes.keys()]
  let next = 0
  const worker = async () => {
    for (let path = queue[next++]; path !== undefined; path = queue[next++]) {
      hashes.set(path, await hashFile(join(dir, path)))
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return fail({
      kind: 'failed',
      code: 'unreadable_file',
      message: `a file could not be read: ${message}`,
      hint: 'check its permissions',
      at: dir,
    })
  }
  return ok(hashes)
}

async function hashFile(path: string): Promise<string | null> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })
  if (!found) return null
  if (found.isSymbolicLink()) return blobHash(await readlink(path, { encoding: 'buffer' }))
  if (found.isDirectory()) return 'folder'
  if (!found.isFile()) return 'special'
  if (found.size < STREAMED) return blobHash(await readFile(path))
  const hash = createHash('sha1').update(`blob ${found.size}\0`)
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

const blobHash = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')

// ---------------------------------------------------------------- which files of a tree contain a text

const MOST = 2000

/** Of these paths (the first 2,000 of them), the text files whose committed content has `text`, word for word. */
export async function filesWith(
  site: Site,
  tree: string,
  text: string,
  paths: readonly string[],
): Promise<Result<string[]>> {
  if (paths.length === 0) return ok([])
  const found = await gitFields(
    ['--literal-pathspecs', 'grep', '-l', '-I', '-F', '-z', '-e', text, tree, '--', ...paths.slice(0, MOST)],
    { ...judgeOptions(site), okCodes: [0, 1] },
  )
  return found.ok ? ok(found.value.map((line) => line.slice(tree.length + 1))) : found
}

// ---------------------------------------------------------------- What differs between two trees. Renames are a deletion and an addition: scope rules are about paths

export interface TreeChange {
  /** Relative to the top of the tree, `/` between parts, never quoted. */
  path: string
  /** Added, modified (content or mode), deleted, or of another type (file, symbolic link, submodule). */
  status: 'A' | 'M' | 'D' | 'T'
  /** Six octal digits; `000000` when there is none. */
  oldMode: string
  newMode: string
  oldOid: string
  newOid: string
  /** Lines; null for a binary file. */
  added: number | null
  removed: number | null
}

/**
 * The changes from tree (or commit) `a` to `b`, in path order. `asText`: the lines of binary files are counted, too; one
 * NUL makes a file binary to git, and must not hide its lines from a limit.
 */
export async function changesBetween(
  site: Site,
  a: string,
  b: string,
  { asText = false }: { asText?: boolean } = {},
): Promise<Result<TreeChange[]>> {
  const before = asText ? ['-c', `core.attributesFile=${await textForAll(site)}`] : []
  const flags = ['--no-renames', '--no-abbrev', '--no-textconv', '--no-ext-diff']
  const out = await gitFields(
    [...before, 'diff-tree', '-r', '-z', '--raw', '--numstat', ...flags, a, b, '--'],
    judgeOptions(site),
  )
  return out.ok ? ok(parseChanges(out.value)) : out
}

/** A file of attributes by which every file is text for a diff. */
async function textForAll(site: Site): Promise<string> {
  const file = join(judgeFolder(site.store), 'text-for-all')
  if ((await readFile(file, 'utf8').catch(() => '')) !== TEXT_FOR_ALL) await writeFile(file, TEXT_FOR_ALL)
  return file
}

const TEXT_FOR_ALL = '* diff\n'

/** Reads the output of `--raw --numstat -z`: first every raw entry (two fields), then every count (one field). */
function parseChanges(output: readonly string[]): TreeChange[] {
  const changes = new Map<string, TreeChange>()
  let at = 0
  for (; output[at]?.startsWith(':'); at += 2) {
    const [oldMode, newMode, oldOid, newOid, letter] = (output[at] ?? '').slice(1).split(' ')
    const path = output[at + 1]
    const status = statusOf(letter)
    if (!oldMode || !newMode || !oldOid || !newOid || path === undefined || !status) {
      throw new Error(`unexpected line of git diff-tree: ${output[at]}`)
    }
    changes.set(path, { path, status, oldMode, newMode, oldOid, newOid, added: null, removed: null })
  }
  for (; at < output.length; at++) {
    const count = /^(-|\d+)\t(-|\d+)\t(.*)$/s.exec(output[at] ?? '')
    const change = changes.get(count?.[3] ?? '')
    if (!count || !change) throw new Error(`unexpected line of git diff-tree: ${output[at]}`)
    change.added = count[1] === '-' ? null : Number(count[1])
    change.removed = count[2] === '-' ? null : Number(count[2])
  }
  return [...changes.values()]
}

function statusOf(letter: string | undefined): TreeChange['status'] | null {
  return letter === 'A' || letter === 'M' || letter === 'D' || letter === 'T' ? letter : null
}

export interface PatchOptions {
  /** Only these paths, literally. */
  paths?: readonly string[]
  /** Lines of context, 3 by default. */
  context?: number
}

/**
 * A patch from `a` to `b` that `git apply` takes (binary files included). Bytes that are not UTF-8 are replaced.
 * Problem `git_output_too_large` beyond 64 MiB.
 */
export async function patchBetween(
  site: Site,
  a: string,
  b: string,
  { paths = [], context = 3 }: PatchOptions = {},
): Promise<Result<string>> {
  const flags = ['--no-renames', '--full-index', '--binary', '--no-color', '--no-textconv', '--no-ext-diff']
  const out = await git(
    ['--literal-pathspecs', 'diff-tree', '-r', '-p', `-U${context}`, ...flags, a, b, '--', ...paths],
    judgeOptions(site),
  )
  return out.ok ? ok(out.value.toString('utf8')) : out
}
