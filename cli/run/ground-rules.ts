/** The rules of git that a run is begun with, and what of the repository they do not bring into checkouts. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Checkout } from '../git/checkout.ts'
import type { TreeEntry } from '../git/files.ts'
import { tryFilters } from '../git/filtered.ts'
import { annexedPaths } from '../git/hollow.ts'
import { freezeRules } from '../git/rules.ts'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'

export const OUT_OF_ANNEX =
  'take it out with `git annex unannex`, commit that, let .gitignore name it, and name it under worktree.data'

const counted = (paths: readonly string[]): string =>
  paths.length > 3 ? `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(', ')

/** Frozen before a run exists, and tried: a filter that does not work in our checkouts must not leave half a run. */
export async function rulesFor(
  site: Site,
  checkout: Checkout,
  { tree, files }: { tree: string; files: TreeEntry[] },
): Promise<Result<{ rules: string; warnings: string[] }>> {
  const rules = await freezeRules(site, checkout, files)
  if (!rules.ok) return rules
  const tried = await tryFilters({ ...site, rules: rules.value }, checkout, { tree }, files)
  if (!tried.ok) return tried
  const warnings = tried.value.map(
    ({ path, filter }) =>
      `${path} is another file in Assay's checkouts than in yours: git's filter "${filter}" does not make the same of it there`,
  )
  const annexed = existsSync(join(checkout.commonDir, 'annex'))
    ? await annexedPaths(site, tree, files)
    : ok([])
  if (!annexed.ok) return annexed
  if (annexed.value.length > 0)
    warnings.push(
      `the content of ${counted(annexed.value)} is in git-annex, and in no checkout of Assay's; if the benchmark reads it: ${OUT_OF_ANNEX}`,
    )
  return ok({ rules: rules.value, warnings })
}
