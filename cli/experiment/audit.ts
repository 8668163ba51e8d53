/** `audit`: findings about a judged experiment. Evidence that the CLI can check revokes; an opinion only flags. */

import { changesBetween } from '../git/trees.ts'
import { bestOf } from '../ledger/best.ts'
import type { Audited, Finding, Status } from '../ledger/events.ts'
import { BASELINE, type Experiment, lastJudged, nodeValue } from '../ledger/state.ts'
import { scopeOfRun } from '../measure/data.ts'
import { baseOf, judgedCommit } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'

export interface AuditAnswer {
  experiment: string
  status: Status
  /** An opinion stands against it. */
  flagged: boolean
  outcome: Audited['outcome']
  /** What the CLI found true of the findings. */
  confirmed: Finding[]
  best: { experiment: string; value: number | null } | null
  repeated?: true
}

const CHECKED: readonly string[] = ['hash', 'task_set', 'path'] satisfies Finding['code'][]

/** The code of what an auditor found. The CLI can check only the listed codes: any other word of the auditor is an opinion. */
export const findingCode = (said: string | null | undefined): Finding['code'] =>
  said && CHECKED.includes(said) ? (said as Finding['code']) : 'opinion'

export async function audit(
  run: OpenRun,
  experiment: string,
  findings: readonly Finding[],
  key: string | null,
): Promise<Result<AuditAnswer>> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const attempt = node.value.attempts.findLast((one) => one.judged)
  if (!attempt) {
    return fail({
      kind: 'refused',
      code: 'not_judged',
      message: `${experiment} has no verdict to audit`,
      hint: next`run it first: ${call('run', experiment)}`,
    })
  }
  const confirmed = await checked(run, node.value, findings)
  if (!confirmed.ok) return confirmed
  const outcome = confirmed.value.length > 0 ? 'revoked' : findings.length > 0 ? 'flagged' : 'passed'
  const recorded = run.ledger.record<'audited'>(
    { type: 'audited', experiment, attempt: attempt.attempt, outcome, findings: bounded(findings) },
    run.clock(),
    key,
  )
  if (!recorded.ok) return recorded
  const best = bestOf(run.ledger.state)
  return ok({
    experiment,
    status: node.value.status,
    flagged: node.value.flagged !== null,
    outcome: recorded.value.event.outcome,
    confirmed: confirmed.value,
    best: best && { experiment: best.id, value: nodeValue(best) },
    ...(recorded.value.repeated ? { repeated: true as const } : {}),
  })
}

/** The findings that the record itself proves, whatever the auditor thinks of them. */
async function checked(
  run: OpenRun,
  node: Experiment,
  findings: readonly Finding[],
): Promise<Result<Finding[]>> {
  const kept = judgedCommit(run, node.id)
  if (!kept || node.id === BASELINE || findings.every(({ code }) => code === 'opinion')) return ok([])
  const changes = await changesBetween(run.site, baseOf(run, node.id).tree, kept.tree)
  if (!changes.ok) return changes
  const scope = scopeOfRun(run)
  const trespass = new Set(
    changes.value.filter(({ path }) => scope(path) !== 'mutable').map(({ path }) => path),
  )
  return ok(
    findings.filter((finding) => {
      if (finding.code === 'task_set') return !sameTasks(run, node)
      if (finding.code === 'opinion') return false
      return finding.path === undefined ? trespass.size > 0 : trespass.has(finding.path)
    }),
  )
}

function sameTasks(run: OpenRun, node: Experiment): boolean {
  const baseline = run.ledger.state.experiments.get(BASELINE)
  const names = (judged: Experiment | undefined) =>
    Object.keys((judged && lastJudged(judged)?.tasks) ?? {})
      .sort()
      .join('\n')
  return names(baseline) === names(node)
}

/** Cut, so that they fit into a line of the ledger. */
const bounded = (findings: readonly Finding[]): Finding[] =>
  findings.slice(0, 10).map(({ path, ...finding }) => ({
    ...finding,
    message: finding.message.slice(0, 1000),
    ...(path === undefined ? {} : { path: path.slice(0, 1000) }),
  }))
