/** What a checkout of ours holds only the name of: submodules, and large files that git-lfs did not fetch. */
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { listTree } from './files.ts'
import { git, gitFields } from './git.ts'
import { asJudge } from './judge.ts'

export interface Hollow {
  submodules: string[]
  /** Pointer files, when no filter of git-lfs is configured that would bring their content. */
  pointers: string[]
}

const POINTER = 'version https://git-lfs.github.com/spec/v1'

export async function hollowPaths(site: Site, tree: string): Promise<Result<Hollow>> {
  const files = await listTree(site, tree)
  if (!files.ok) return files
  const submodules = files.value.filter(({ mode }) => mode === '160000').map(({ path }) => path)
  const pointers = await lfsPointers(site, tree)
  return pointers.ok ? ok({ submodules, pointers: pointers.value }) : pointers
}

async function lfsPointers(site: Site, tree: string): Promise<Result<string[]>> {
  const filter = await git(['config', '--get', 'filter.lfs.smudge'], { ...asJudge(site), okCodes: [0, 1] })
  if (!filter.ok) return filter
  if (filter.value.length > 0) return ok([])
  const found = await gitFields(['grep', '-l', '-z', '--fixed-strings', '-e', POINTER, tree, '--', ':/'], {
    ...asJudge(site),
    okCodes: [0, 1],
  })
  // git prints `<tree>:<path>`.
  return found.ok ? ok(found.value.map((one) => one.slice(tree.length + 1))) : found
}
