/** The parts of a diff, and a tree that has only some of them. No agent, no worktree and no filter takes part. */
import { hunksOf, withHunks } from '../attribute/hunks.ts'
import type { Composed, Entry, FileChange } from '../attribute/units.ts'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { git, gitFields, gitText } from './git.ts'
import { judgeOptions, withPrivateIndex } from './judge-folder.ts'
import { changesBetween, readBlobs, type TreeChange } from './trees.ts'

export interface Parts {
  changes: FileChange[]
  /** Old and new path, where git finds that a file moved. */
  renames: [string, string][]
}

const FLAGS = ['--no-textconv', '--no-ext-diff', '--no-color']

/** What differs from tree (or commit) `a` to `b`, hunk by hunk where both have a text file. */
export async function partsBetween(site: Site, a: string, b: string): Promise<Result<Parts>> {
  const found = await changesBetween(site, a, b)
  if (!found.ok) return found
  const renames = await renamesBetween(site, a, b)
  if (!renames.ok) return renames
  const changes: FileChange[] = []
  for (const change of found.value) {
    const before = entryOf(change.oldMode, change.oldOid)
    const after = entryOf(change.newMode, change.newOid)
    if (!hasHunks(change)) {
      changes.push({ path: change.path, before, after, hunks: null })
      continue
    }
    const patch = await git(
      ['--literal-pathspecs', 'diff-tree', '-r', '-p', '--no-renames', ...FLAGS, a, b, '--', change.path],
      judgeOptions(site),
    )
    if (!patch.ok) return patch
    changes.push({ path: change.path, before, after, hunks: hunksOf(patch.value.toString('latin1')) })
  }
  return ok({ changes, renames: renames.value })
}

const entryOf = (mode: string, oid: string): Entry | null => (mode === '000000' ? null : { mode, oid })

const isFile = (mode: string): boolean => mode.startsWith('100')

const hasHunks = ({ status, oldMode, newMode, added }: TreeChange): boolean =>
  status === 'M' && isFile(oldMode) && isFile(newMode) && added !== null

async function renamesBetween(site: Site, a: string, b: string): Promise<Result<[string, string][]>> {
  const out = await gitFields(
    ['diff-tree', '-r', '-z', '-M', '--diff-filter=R', '--name-status', ...FLAGS, a, b],
    judgeOptions(site),
  )
  if (!out.ok) return out
  const renames: [string, string][] = []
  for (let at = 0; at + 2 < out.value.length; at += 3) {
    renames.push([out.value[at + 1] ?? '', out.value[at + 2] ?? ''])
  }
  return ok(renames)
}

/** The tree of `parent` with these paths changed; answers its hash. It is in the store, and no ref names it. */
export async function composeTree(
  site: Site,
  parent: string,
  paths: ReadonlyMap<string, Composed>,
): Promise<Result<string>> {
  const entries: [string, Entry | null][] = []
  for (const [path, part] of paths) {
    const entry = 'hunks' in part ? await written(site, part) : ok(part.entry)
    if (!entry.ok) return entry
    entries.push([path, entry.value])
  }
  return withPrivateIndex(site, async (index) => {
    const options = { ...judgeOptions(site), index }
    const read = await git(['read-tree', parent], options)
    if (!read.ok) return read
    // What goes comes first: a file may be in the way of a folder.
    const lines = entries
      .sort(([, one], [, other]) => Number(one !== null) - Number(other !== null))
      .map(([path, entry]) => `${entry ? `${entry.mode} ${entry.oid}` : GONE}\t${path}\0`)
    const updated = await git(['update-index', '-z', '--index-info'], { ...options, input: lines.join('') })
    return updated.ok ? gitText(['write-tree'], options) : updated
  })
}

/** A mode of 0 takes the path out of the index; the hash is not looked at. */
const GONE = `0 ${'0'.repeat(40)}`

async function written(
  site: Site,
  { mode, base, hunks }: Extract<Composed, { hunks: unknown }>,
): Promise<Result<Entry>> {
  if (hunks.length === 0) return ok({ mode, oid: base.oid })
  const blobs = await readBlobs(site, [base.oid])
  if (!blobs.ok) return blobs
  const text = withHunks(blobs.value.get(base.oid)?.toString('latin1') ?? '', hunks)
  const oid = await gitText(['hash-object', '-w', '--stdin'], {
    ...judgeOptions(site),
    input: Buffer.from(text, 'latin1'),
  })
  return oid.ok ? ok({ mode, oid: oid.value }) : oid
}
