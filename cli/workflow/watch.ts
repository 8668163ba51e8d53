/** Whether an agent left alone what was not its to edit: looked at after its call, whichever program it was. */
import { undoEdits } from '../experiment/undo-edits.ts'
import { changedSince, type Fingerprint, fingerprintCheckout, HEAD_KEY } from '../git/fingerprint.ts'
import { readCard, type TaskCard } from '../hosts/card.ts'
import { mayEdit } from '../hosts/rights.ts'
import type { OpenRun } from '../run/open.ts'
import { recordAlert } from '../run/steer.ts'
import type { AgentCall, AgentReply } from './call.ts'

export type Ask = (call: AgentCall) => Promise<AgentReply>

/**
 * Asks, then looks. A worktree that a reading role edited is brought back to its seal. The checkout of the user belongs to
 * no agent, but the user may work there meanwhile: what changed is told, once for each path, and left as it is. Calls
 * without a task card are of scripts of the user's own, which know what they do.
 */
export function watch(run: OpenRun, ask: Ask): Ask {
  const told = new Set<string>()
  return async (call) => {
    const card = readCard(call.prompt)
    if (card === null) return ask(call)
    const before = await look(run)
    const reply = await ask(call)
    await tellCheckout(run, card, before, told)
    await undoInWorktree(run, card)
    return reply
  }
}

async function look(run: OpenRun): Promise<Fingerprint | null> {
  const seen = await fingerprintCheckout(run.started.checkout, () => true)
  return seen.ok ? seen.value : null
}

async function tellCheckout(
  run: OpenRun,
  { role, experiment }: TaskCard,
  before: Fingerprint | null,
  told: Set<string>,
): Promise<void> {
  const after = before === null ? null : await look(run)
  if (before === null || after === null) return
  const paths = changedSince(before, after).filter((path) => !told.has(path))
  if (paths.length === 0) return
  for (const path of paths) told.add(path)
  const names = paths.map((path) => (path === HEAD_KEY ? 'the commit that is checked out' : path))
  const text = `while the agent for ${role} worked, ${list(names)} changed in ${run.started.checkout}: if that was not you, look at it with git diff`
  recordAlert(run, { role, experiment, paths, text })
}

async function undoInWorktree(run: OpenRun, { role, experiment }: TaskCard): Promise<void> {
  if (experiment === null || mayEdit(role) || !run.ledger.refresh().ok) return
  const undone = await undoEdits(run, experiment)
  const begin = `the agent for ${role} may only read, and edited the worktree of ${experiment}`
  if (!undone.ok)
    recordAlert(run, { role, experiment, paths: [], text: `${begin}, perhaps: ${undone.problem.message}` })
  else if (undone.value !== null) {
    const { paths, kept } = undone.value
    recordAlert(run, {
      role,
      experiment,
      paths,
      text: `${begin}: ${list(paths)}; undone, and kept in ${kept}`,
    })
  }
}

const list = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`
