/** What a checkout of ours holds only the name of: submodules, and large files that git-lfs did not fetch. */
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { listTree, readBlobs, type TreeEntry } from './files.ts'
import { git, gitFields } from './git.ts'
import { asJudge } from './judge.ts'

export interface Hollow {
  submodules: string[]
  /** Pointer files, when no filter of git-lfs is configured that would bring their content. */
  pointers: string[]
  /** Files whose content is in an annex of git-annex: pointers, or links that lead nowhere. */
  annexed: string[]
}

const POINTER = 'version https://git-lfs.github.com/spec/v1'

export async function hollowPaths(site: Site, tree: string): Promise<Result<Hollow>> {
  const files = await listTree(site, tree)
  if (!files.ok) return files
  const submodules = files.value.filter(({ mode }) => mode === '160000').map(({ path }) => path)
  const pointers = await lfsPointers(site, tree)
  if (!pointers.ok) return pointers
  const annexed = await annexedPaths(site, tree, files.value)
  return annexed.ok ? ok({ submodules, pointers: pointers.value, annexed: annexed.value }) : annexed
}

/** `files` are all of the tree. */
export async function annexedPaths(
  site: Site,
  tree: string,
  files: readonly TreeEntry[],
): Promise<Result<string[]>> {
  const found = await gitFields(['grep', '-l', '-z', '-e', '^/annex/objects/', tree, '--', ':/'], {
    ...asJudge(site),
    okCodes: [0, 1],
  })
  if (!found.ok) return found
  const links = files.filter(({ mode }) => mode === '120000')
  const targets = await readBlobs(
    site,
    links.map(({ oid }) => oid),
  )
  if (!targets.ok) return targets
  const leading = links.filter(({ oid }) =>
    /(^|\/)\.git\/annex\/objects\//.test(targets.value.get(oid)?.toString() ?? ''),
  )
  return ok(
    [...found.value.map((one) => one.slice(tree.length + 1)), ...leading.map(({ path }) => path)].sort(),
  )
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
