/** Waits for an event of a different process: the file system wakes it, and it also looks at intervals in case it does not. */

import { dirname } from 'node:path'
import type { Experiment } from '../ledger/state.ts'
import { Waker } from '../lock.ts'
import { call, next } from '../next.ts'
import { isAlive, isElsewhere, nameOfProcess } from '../process.ts'
import { ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

/** File systems without notification are looked at this often; also how soon a dead owner is noticed. */
const LOOK_MS = 200

/** Calls `look` at each change of the ledger until it answers something, or `deadline` (of `performance.now`) passes: then null. */
export async function whenLedger<T>(
  run: OpenRun,
  deadline: number,
  look: () => T | null,
): Promise<Result<T | null>> {
  const waker = new Waker(dirname(run.ledger.file))
  try {
    for (;;) {
      const read = run.ledger.refresh()
      if (!read.ok) return read
      const found = look()
      if (found !== null) return ok(found)
      const left = deadline - performance.now()
      if (left <= 0 || run.signal.aborted) return ok(null)
      await waker.next(Math.min(LOOK_MS, left), run.signal)
    }
  } finally {
    waker.close()
  }
}

export type Settled = 'judged' | 'lost'

/** Whether the last seal has its verdict, or the process that was to give it is gone; null while neither is so. */
export function settled(node: Experiment): Settled | null {
  const last = node.attempts.at(-1)
  if (last?.judged) return 'judged'
  return node.status === 'running' && last?.claim && !isAlive(last.claim.owner) ? 'lost' : null
}

/** Problem for an experiment without a verdict that no process judges: a wait for it would never end. */
export function unattended(node: Experiment): Problem | null {
  if (node.status === 'running' || settled(node) !== null) return null
  const { id, status } = node
  if (status === 'open')
    return {
      kind: 'refused',
      code: 'not_judged',
      message: `no process judges ${id}: ${node.attempts.length === 0 ? 'it is not sealed' : 'its last seal was not run'}`,
      hint: next`measure it: ${call('run', id)}`,
    }
  return {
    kind: 'refused',
    code: `is_${status}`,
    message: `${id} is ${status} and has no verdict to wait for`,
    hint: next`look at it: ${call('show', id)}`,
  }
}

export function untilSettled(run: OpenRun, experiment: string): Promise<Result<Settled | null>> {
  return whenLedger(run, Number.POSITIVE_INFINITY, () => {
    const node = run.ledger.state.experiments.get(experiment)
    return node ? settled(node) : 'lost'
  })
}

/** A problem instead of endless waiting: the container that judges may be gone, and nothing can prove that from here. */
export function judgedElsewhere({ id, status, attempts }: Experiment): Problem | null {
  const owner = attempts.at(-1)?.claim?.owner
  if (status !== 'running' || !owner || !isElsewhere(owner)) return null
  return {
    kind: 'refused',
    code: 'claim_elsewhere',
    message: `${id} is being judged by ${nameOfProcess(owner)}, which cannot be proved dead from here`,
    hint: next`wait longer, or look there; if that machine is gone: ${call('abort', id, '--reason', 'TEXT')}`,
  }
}

/** Problem if no living process is known to judge a running experiment: it would stay `running` for ever. */
export function stuck(node: Experiment): Problem | null {
  if (node.status !== 'running') return null
  if (settled(node) !== 'lost') return judgedElsewhere(node)
  return {
    kind: 'refused',
    code: 'claim_dead',
    message: `the process that judged ${node.id} is gone`,
    hint: next`continue it: ${call('run', node.id)}`,
  }
}
