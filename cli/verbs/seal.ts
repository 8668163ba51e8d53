/** `seal`: records what the worktree of an experiment holds as its next attempt, without judging it. */
import { counted } from '../evaluate/figure.ts'
import { attemptOf, type Experiment } from '../ledger/state.ts'
import { differs, diffStat, type Seal, seal, snapshot, storedSeal } from '../measure/seal.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import type { Parsed } from '../terminal/command.ts'
import { printable } from '../terminal/output.ts'
import { onExperiment } from './verb.ts'

export const run = onExperiment(async (opened, node, args) => {
  const sealed = await sealOnce(opened, node, args)
  if (!sealed.ok) return sealed
  if (sealed.value === null) {
    return ok({
      data: { experiment: node.id, attempt: null, changed: false },
      text: () => `${node.id}: nothing changed, so nothing was sealed`,
    })
  }
  const { experiment, attempt, commit, tree, changes, leftOut, ignored, secrets } = sealed.value
  const { files, added, removed } = diffStat(changes)
  return ok({
    data: {
      experiment,
      attempt,
      commit,
      tree,
      files,
      lines: added + removed,
      left_out: leftOut,
      ignored,
      secrets,
      changed: differs(sealed.value, judgedBefore(node, attempt)),
      ...(sealed.value.repeated ? { repeated: true } : {}),
    },
    text: () =>
      [
        `${experiment} sealed as attempt ${attempt}: ${counted(files, 'file')}, ${counted(added + removed, 'line')} (${commit.slice(0, 10)})`,
        ...leftOut.map((path) => `Left out, outside scope.mutable: ${path}`),
        ...ignored.map(({ path, rule }) => `Not part of the candidate, ignored by ${rule}: ${path}`),
        ...secrets.map(({ path, reason }) => `Not sealed, it looks like a secret (${reason}): ${path}`),
      ].map(printable),
  })
})

/** Null: `--if-changed` was given, and nothing changed. The same key, or the same content as a seal without a verdict, gives the first answer. */
async function sealOnce(
  run: OpenRun,
  node: Experiment,
  args: Parsed,
): Promise<Result<(Seal & { repeated: boolean }) | null>> {
  const first = run.ledger.answeredBefore(['sealed'], args.key, node.id)
  if (first && !first.ok) return first
  const attempt = first && attemptOf(node, first.value.attempt)
  if (attempt) {
    const stored = await storedSeal(run, node, attempt)
    return stored.ok ? ok({ ...stored.value, repeated: true }) : stored
  }
  const before = node.attempts.length
  const taken = await snapshot(run, node)
  if (!taken.ok) return taken
  const judged = judgedBefore(node, Number.POSITIVE_INFINITY)
  if (args.on('if-changed') && !differs(taken.value, judged)) return ok(null)
  const sealed = await seal(run, node, taken.value, args.text('message'), args.key)
  return sealed.ok ? ok({ ...sealed.value, repeated: node.attempts.length === before }) : sealed
}

const judgedBefore = (node: Experiment, attempt: number) =>
  node.attempts.findLast((one) => one.attempt < attempt && one.judged !== null) ?? null
