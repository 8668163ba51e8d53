/** Repositories inside a worktree: git would record them as a submodule and lose what is in them. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const MOST = 10_000

/** Whether a nested repository (its path ends with `/`) holds files that `inScope` takes. Looks at 10,000 entries at most. */
export async function nestedInScope(
  top: string,
  path: string,
  inScope: (path: string) => boolean,
): Promise<boolean> {
  const folders = [path.replace(/\/$/, '')]
  let seen = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(join(top, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (entry.name === '.git') continue
      if (++seen > MOST) return true
      const here = `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(here)
      else if (inScope(here)) return true
    }
  }
  // An empty one: nothing is lost by leaving it out, unless its folder itself is meant.
  return seen === 0 && inScope(path.replace(/\/$/, ''))
}
