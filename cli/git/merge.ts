/** Two candidates put together as text: a three-way merge in the store, without a worktree. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { fields, git, gitFields, gitText } from './git.ts'
import { judgeFolder, judgeOptions, withPrivateIndex } from './judge-folder.ts'
import { readBlobs } from './trees.ts'

/** `conflicts`: the paths that git cannot merge by itself. */
export type Merged = { tree: string } | { conflicts: string[] }

/** What git answers to an option that it does not know. */
const USAGE = 129

/**
 * Merges two commits that have one ancestor in common at least. Neither is changed, and no ref names the tree. git
 * before 2.38 has no `merge-tree --write-tree`: there files are merged one by one, so that a file that one side moved and the
 * other side changed is a conflict.
 */
export async function mergeCommits(site: Site, ours: string, theirs: string): Promise<Result<Merged>> {
  const out = await git(['merge-tree', '--write-tree', '--name-only', '-z', ours, theirs], {
    ...judgeOptions(site),
    okCodes: [0, 1, USAGE],
  })
  if (!out.ok) return out
  const [tree = '', ...rest] = fields(out.value)
  if (tree === '') return mergeFiles(site, ours, theirs)
  if (rest.length === 0) return ok({ tree })
  // Paths, an empty field, messages.
  const end = rest.indexOf('')
  return ok({ conflicts: [...new Set(end < 0 ? rest : rest.slice(0, end))] })
}

/** The same for git before 2.38. */
async function mergeFiles(site: Site, ours: string, theirs: string): Promise<Result<Merged>> {
  const base = await gitText(['merge-base', ours, theirs], judgeOptions(site))
  if (!base.ok) return base
  return withPrivateIndex(site, async (index) => {
    const options = { ...judgeOptions(site), index }
    const read = await git(['read-tree', '-i', '-m', '--aggressive', base.value, ours, theirs], options)
    if (!read.ok) return read
    const unmerged = await gitFields(['ls-files', '-u', '-z'], options)
    if (!unmerged.ok) return unmerged
    const conflicts: string[] = []
    const lines: string[] = []
    for (const [path, sides] of byPath(unmerged.value)) {
      const merged = await mergeFile(site, sides)
      if (!merged.ok) return merged
      if (merged.value === null) conflicts.push(path)
      // The first line takes the three sides out, the second puts the one result in.
      else
        lines.push(`0 ${merged.value.oid}\t${path}\0`, `${merged.value.mode} ${merged.value.oid}\t${path}\0`)
    }
    if (conflicts.length > 0) return ok({ conflicts })
    const updated = await git(['update-index', '-z', '--index-info'], { ...options, input: lines.join('') })
    if (!updated.ok) return updated
    const tree = await gitText(['write-tree'], options)
    return tree.ok ? ok({ tree: tree.value }) : tree
  })
}

interface Version {
  mode: string
  oid: string
}
/** By the number that git gives it: 1 the ancestor, 2 ours, 3 theirs. */
type Sides = Partial<Record<1 | 2 | 3, Version>>

function byPath(lines: readonly string[]): Map<string, Sides> {
  const paths = new Map<string, Sides>()
  for (const line of lines) {
    const [, mode = '', oid = '', stage, path = ''] = /^(\d{6}) ([0-9a-f]+) ([123])\t(.*)$/s.exec(line) ?? []
    if (path === '') throw new Error(`unexpected line of git ls-files: ${line}`)
    const sides = paths.get(path) ?? {}
    sides[Number(stage) as 1 | 2 | 3] = { mode, oid }
    paths.set(path, sides)
  }
  return paths
}

/** null: it conflicts, or is not a file on each side. */
async function mergeFile(
  site: Site,
  { 1: base, 2: ours, 3: theirs }: Sides,
): Promise<Result<Version | null>> {
  if (!base || !ours || !theirs) return ok(null)
  const sides = [ours, base, theirs]
  if (!sides.every(({ mode }) => mode.startsWith('100'))) return ok(null)
  const blobs = await readBlobs(site, [...new Set(sides.map(({ oid }) => oid))])
  if (!blobs.ok) return blobs
  const folder = await mkdtemp(join(judgeFolder(site.store), 'merge-'))
  try {
    const files = sides.map((_, i) => join(folder, String(i)))
    for (const [i, { oid }] of sides.entries()) await writeFile(files[i] ?? '', blobs.value.get(oid) ?? '')
    // It exits with the number of conflicts, and with 255 for what is no text.
    const clean = await git(['merge-file', '-p', '-q', ...files], judgeOptions(site))
    if (!clean.ok) return clean.problem.code === 'git_failed' ? ok(null) : clean
    const oid = await gitText(['hash-object', '-w', '--stdin'], { ...judgeOptions(site), input: clean.value })
    return oid.ok ? ok({ mode: ours.mode === base.mode ? theirs.mode : ours.mode, oid: oid.value }) : oid
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
