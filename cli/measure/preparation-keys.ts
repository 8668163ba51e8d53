/** When an earlier setup or build can be reused: when the keys are equal. */
import { createHash } from 'node:crypto'
import { listTree } from '../git/trees.ts'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { RunRecord } from '../run/open.ts'
import { matchGlobs } from '../spec/rules.ts'

/**
 * Setup depends on its command, its environment and the content of its inputs; without inputs, on the others alone. A
 * build depends on all that and on the whole tree. `inputs`: how many files of the tree are inputs of setup.
 */
export async function preparationKeys(
  run: Pick<RunRecord, 'spec' | 'started'>,
  { site, environment }: { site: Site; environment: Record<string, string> },
  tree: string,
): Promise<Result<{ setup: string; build: string; inputs: number }>> {
  const { setup, build } = run.spec.worktree
  const hash = createHash('sha256').update(
    JSON.stringify([setup?.command ?? null, run.started.prefix, environment]),
  )
  let inputs = 0
  if (setup && setup.inputs.length > 0) {
    const files = await listTree(site, tree)
    if (!files.ok) return files
    const oids = new Map(files.value.map(({ path, oid }) => [path, oid]))
    for (const { matched } of matchGlobs(setup.inputs, run.started.prefix, [...oids.keys()])) {
      inputs += matched.length
      for (const path of matched) hash.update(`${path}\0${oids.get(path)}\0`)
    }
  }
  const key = hash.digest('hex')
  return ok({
    setup: key,
    build: createHash('sha256')
      .update(JSON.stringify([key, tree, build?.command ?? null]))
      .digest('hex'),
    inputs,
  })
}
