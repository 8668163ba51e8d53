/** What became of a measurement checkout after something ran in it. */
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { withPrivateIndex } from './judge.ts'
import { observe } from './observe.ts'

/** Tracked files of `tree` that are no longer as the tree has them. */
export function changedFiles(site: Site, checkout: string, tree: string): Promise<Result<string[]>> {
  return withPrivateIndex(site, async (index) => {
    const found = await observe(site, checkout, tree, index)
    return found.ok ? ok(found.value.changed) : found
  })
}
