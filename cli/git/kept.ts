/** Whether the store still has what the ledger says was sealed. */
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { git, gitText } from './git.ts'
import { asJudge, inStore } from './judge.ts'

/** Every ref of Assay's own → its object. */
export async function candidateRefs(site: Site): Promise<Result<Map<string, string>>> {
  const listed = await gitText(
    ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/assay/'],
    inStore(site),
  )
  if (!listed.ok) return listed
  const refs = new Map<string, string>()
  for (const line of listed.value.split('\n')) {
    const [oid, ref] = line.split(' ')
    if (oid && ref) refs.set(ref, oid)
  }
  return ok(refs)
}

/** Which of these are commits of the store. */
export async function existingCommits(site: Site, commits: readonly string[]): Promise<Result<Set<string>>> {
  if (commits.length === 0) return ok(new Set())
  const told = await gitText(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    ...asJudge(site),
    input: `${commits.join('\n')}\n`,
  })
  if (!told.ok) return told
  const found = told.value.split('\n').flatMap((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1] ?? [])
  return ok(new Set(found))
}

/** Trees and files of these commits that are gone. History is not walked: it is the user's, and kept by them. */
export async function missingObjects(site: Site, commits: readonly string[]): Promise<Result<string[]>> {
  if (commits.length === 0) return ok([])
  const told = await gitText(
    ['rev-list', '--objects', '--no-walk', '--quiet', '--missing=print', '--stdin'],
    {
      ...asJudge(site),
      input: `${commits.join('\n')}\n`,
    },
  )
  if (!told.ok) return told
  return ok(told.value.split('\n').flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : [])))
}

const NONE = '0'.repeat(40)

/** Names the commit again. Fails when the ref exists by now: refs are never moved. */
export async function recreateRef(site: Site, ref: string, commit: string): Promise<Result<void>> {
  const made = await git(['update-ref', ref, commit, NONE], inStore(site))
  return made.ok ? ok(undefined) : made
}

/** Whether git can work with the store at all, and what the store is. */
export async function storeState(site: Site): Promise<Result<{ bare: boolean; partial: boolean }>> {
  const told = await gitText(['rev-parse', '--is-bare-repository'], inStore(site))
  if (!told.ok) return told
  const listed = await gitText(['config', '--list', '--name-only'], inStore(site))
  if (!listed.ok) return listed
  return ok({
    bare: told.value === 'true',
    partial: /^(extensions\.partialclone|remote\..+\.promisor)$/m.test(listed.value),
  })
}

/** Names a commit of the store, so that it is kept for ever. */
export async function pinRef(site: Site, ref: string, commit: string): Promise<Result<void>> {
  const pinned = await git(['update-ref', ref, commit], inStore(site))
  return pinned.ok ? ok(undefined) : pinned
}
