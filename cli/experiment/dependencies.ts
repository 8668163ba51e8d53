/** Which packages a candidate adds to the baseline without an approval. */
import { changesBetween, listTree, readBlobs, type TreeEntry } from '../git/trees.ts'
import { approvedPackages } from '../ledger/backlog.ts'
import type { Seal } from '../measure/seal.ts'
import { type AddedPackage, addedPackages, namesPackages } from '../packages/added.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

/** None if the spec does not have `dependencies`. */
export async function unapprovedPackages(run: OpenRun, { tree }: Seal): Promise<Result<AddedPackage[]>> {
  const approved = approvedPackages(run.ledger.state)
  if (approved === null) return ok([])
  const { base } = run.started
  const changes = await changesBetween(run.site, base.tree, tree)
  if (!changes.ok) return changes
  const changed = changes.value
    .filter(({ path, status }) => status !== 'D' && namesPackages(path))
    .map(({ path, newMode, newOid }) => ({ path, mode: newMode, oid: newOid }))
  if (changed.length === 0) return ok([])
  const all = await listTree(run.site, base.tree)
  if (!all.ok) return all
  const before = await textsOf(
    run,
    all.value.filter(({ path }) => namesPackages(path)),
  )
  if (!before.ok) return before
  const after = await textsOf(run, changed)
  if (!after.ok) return after
  return ok(addedPackages(before.value, after.value, approved))
}

/** A candidate that adds a link is out of scope anyway. */
const isFile = (mode: string): boolean => mode.startsWith('100')

async function textsOf(
  run: OpenRun,
  entries: readonly Pick<TreeEntry, 'path' | 'mode' | 'oid'>[],
): Promise<Result<Map<string, string>>> {
  const files = entries.filter(({ mode }) => isFile(mode))
  const blobs = await readBlobs(run.site, [...new Set(files.map(({ oid }) => oid))])
  if (!blobs.ok) return blobs
  return ok(new Map(files.map(({ path, oid }) => [path, blobs.value.get(oid)?.toString('utf8') ?? ''])))
}
