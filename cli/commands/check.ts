import { checkSeal } from '../experiment/check.ts'
import { nodeFor, seal, snapshot, storedSeal } from '../experiment/seal.ts'
import { lastAttempt } from '../ledger/state.ts'
import { ok, type Result } from '../result.ts'
import type { Answer, Context, Parsed } from './command.ts'
import { idOf, theRun } from './verb.ts'

/** Looks at the unjudged seal, with what the worktree says of secrets; without a seal it makes one. */
export async function run(context: Context, args: Parsed): Promise<Result<Answer>> {
  const opened = theRun(context, args)
  if (!opened.ok) return opened
  const node = nodeFor(opened.value, idOf(args))
  if (!node.ok) return node
  const taken = await snapshot(opened.value, node.value)
  if (!taken.ok) return taken
  const last = lastAttempt(node.value)
  const sealed =
    last && !last.judged
      ? await storedSeal(opened.value, node.value, last)
      : await seal(opened.value, node.value, taken.value, null)
  if (!sealed.ok) return sealed
  const findings = checkSeal(opened.value, {
    ...sealed.value,
    secrets: taken.value.secrets,
    ignored: taken.value.ignored,
  })
  return ok({
    data: {
      experiment: sealed.value.experiment,
      attempt: sealed.value.attempt,
      passed: findings.length === 0,
      findings,
    },
    text: () =>
      findings.length === 0
        ? `${sealed.value.experiment}: nothing speaks against measuring it`
        : findings.map(({ code, message }) => `${code}: ${message}`),
  })
}
