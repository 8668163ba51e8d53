import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { git } from './git.ts'
import { inStore } from './judge.ts'

/** Names a commit of the store, so that it is kept for ever. */
export async function pinRef(site: Site, ref: string, commit: string): Promise<Result<void>> {
  const pinned = await git(['update-ref', ref, commit], inStore(site))
  return pinned.ok ? ok(undefined) : pinned
}
