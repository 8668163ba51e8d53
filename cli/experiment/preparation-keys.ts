/** When a setup or a build may be relied on again: equal keys, equal work. */
import { createHash } from 'node:crypto'
import { listTree } from '../git/files.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { matchGlobs } from '../spec/rules.ts'

/**
 * Setup depends on its command, its environment and the content of its inputs; without inputs, on the others alone. A
 * build depends on all that and on the whole tree.
 */
export async function preparationKeys(
  run: OpenRun,
  environment: Record<string, string>,
  tree: string,
): Promise<Result<{ setup: string; build: string }>> {
  const { setup, build } = run.spec.worktree
  const hash = createHash('sha256').update(
    JSON.stringify([setup?.command ?? null, run.started.prefix, environment]),
  )
  if (setup && setup.inputs.length > 0) {
    const files = await listTree(run.site, tree)
    if (!files.ok) return files
    const oids = new Map(files.value.map(({ path, oid }) => [path, oid]))
    for (const { matched } of matchGlobs(setup.inputs, run.started.prefix, [...oids.keys()])) {
      for (const path of matched) hash.update(`${path}\0${oids.get(path)}\0`)
    }
  }
  const key = hash.digest('hex')
  return ok({
    setup: key,
    build: createHash('sha256')
      .update(JSON.stringify([key, tree, build?.command ?? null]))
      .digest('hex'),
  })
}
