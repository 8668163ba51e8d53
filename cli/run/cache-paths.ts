/** The paths of `worktree.cache`: outputs of builds, never sources. */
import { ignoredAmong } from '../git/observe.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Spec } from '../spec/spec.ts'

/** From the root of the repository, without a slash at the end. */
export const cachePaths = ({ worktree }: Pick<Spec, 'worktree'>, prefix: string): string[] =>
  (worktree.cache ?? []).map((path) =>
    [prefix, path.replace(/^(?:\.\/)+|\/+$/g, '')].filter(Boolean).join('/'),
  )

/**
 * Problem `cache_not_ignored` for a path that git has, or would add: sources of a candidate would then come from the
 * baseline's build. `tracked`: every file of the base.
 */
export async function refuseSources(
  top: string,
  spec: Spec,
  prefix: string,
  tracked: readonly string[],
): Promise<Result<void>> {
  const paths = cachePaths(spec, prefix)
  if (paths.length === 0) return ok(undefined)
  // A rule like `out/` is about folders, and the folder may not be there yet.
  const ignored = await ignoredAmong(top, [...paths, ...paths.map((path) => `${path}/`)])
  if (!ignored.ok) return ignored
  for (const path of paths) {
    const source = tracked.find((one) => one === path || one.startsWith(`${path}/`))
    if (source === undefined && (ignored.value.has(path) || ignored.value.has(`${path}/`))) continue
    return fail({
      kind: 'usage',
      code: 'cache_not_ignored',
      message: `worktree.cache names ${path}, which git ${source === undefined ? 'does not ignore' : `has a file of: ${source}`}`,
      hint:
        source === undefined
          ? `add ${path} to .gitignore and commit that`
          : 'name the folder of the outputs alone, and let git ignore it',
      data: { path },
    })
  }
  return ok(undefined)
}
