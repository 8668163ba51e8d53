/** Metrics that Assay knows of a candidate without running it; computed only when the spec names them. */
import { changesBetween, listTree } from '../git/trees.ts'
import type { Site } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import type { RunRecord } from '../run/open.ts'
import type { FixedSpec } from '../spec/spec.ts'
import { scopeOfRun } from './scope.ts'
import { diffStat } from './seal.ts'

/** `source_bytes`: size of the mutable files. `diff_lines`: lines added and removed against the baseline. */
export async function staticMetrics(
  run: Pick<RunRecord, 'spec' | 'started' | 'paths'>,
  site: Site,
  tree: string,
): Promise<Result<Record<string, number>>> {
  const named = metricsNamed(run.spec)
  const known: Record<string, number> = {}
  if (named.has('source_bytes')) {
    const files = await listTree(site, tree)
    if (!files.ok) return files
    const scope = scopeOfRun(run)
    known.source_bytes = files.value.reduce(
      (sum, { path, size }) => (scope(path) === 'mutable' ? sum + (size ?? 0) : sum),
      0,
    )
  }
  if (named.has('diff_lines')) {
    const changes = await changesBetween(site, run.started.base.tree, tree, { asText: true })
    if (!changes.ok) return changes
    const { added, removed } = diffStat(changes.value)
    known.diff_lines = added + removed
  }
  return ok(known)
}

const metricsNamed = (spec: FixedSpec): Set<string> =>
  new Set([
    spec.metric.name,
    ...spec.constraints.map(({ metric }) => metric),
    ...spec.protected.map(({ metric }) => metric),
    ...spec.tie_breakers.map(({ metric }) => metric),
  ])
