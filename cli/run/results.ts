/** `report.jsonl` of the spec: the verdicts of a run as a file in the user's checkout. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { JudgedStatus } from '../ledger/events.ts'
import { type State, severalParents } from '../ledger/state.ts'
import { liveSpec, type OpenRun } from './open.ts'

/** As an artifact loop calls the outcome. */
const DECISION: Record<JudgedStatus, 'keep' | 'discard' | 'crash'> = {
  kept: 'keep',
  rejected: 'discard',
  failed: 'crash',
}

/**
 * Writes the whole file again, or nothing: readers never see half of it. If a second process recorded a verdict in
 * the meantime, the file is written once more, so the last writer knows all verdicts. If the file cannot be written, the user gets a
 * warning, and no verdict is lost.
 */
export function writeResults(run: OpenRun): void {
  const jsonl = liveSpec(run).report?.jsonl
  if (jsonl === undefined) return
  const path = join(run.started.checkout, run.started.prefix, jsonl)
  const next = `${path}.${process.pid}.new`
  try {
    mkdirSync(dirname(path), { recursive: true })
    for (let known = -1; known !== verdictsIn(run.ledger.state).length; run.ledger.refresh()) {
      const verdicts = verdictsIn(run.ledger.state)
      known = verdicts.length
      writeFileSync(next, verdicts.map((one) => `${JSON.stringify(one)}\n`).join(''))
      renameSync(next, path)
    }
  } catch (error) {
    discard(next)
    const message = `${jsonl} (report.jsonl) was not written: ${(error as Error).message}`
    run.tell({ type: 'warning', message })
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // What prevents the removal also prevented the write, and the warning names it.
  }
}

/** In the order of their times. */
function verdictsIn({ experiments, run }: State) {
  return [...experiments.values()]
    .flatMap((node) =>
      node.attempts.flatMap(({ attempt, sealed, judged }) =>
        judged
          ? {
              experiment: node.id,
              attempt,
              parent: node.parent,
              ...severalParents(node),
              at: judged.at,
              hypothesis: node.hypothesis,
              decision: DECISION[judged.status],
              status: judged.status,
              reason: judged.reason,
              metric: run?.metric.name ?? null,
              value: judged.value,
              parent_value: judged.parent_value,
              metrics: judged.metrics,
              gates: judged.gates,
              diff: sealed.diff,
              message: judged.message,
            }
          : [],
      ),
    )
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}
