/** `pin` and `unpin`: a person says which experiments the next rounds offer as parents, whatever the policy would pick. */
import { mayBeParent } from '../ledger/decide.ts'
import { answered } from '../ledger/ledger.ts'
import { type Experiment, isPinned, type State, tainted } from '../ledger/state.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import { candidatesOf, pinnedOf } from './frontier.ts'

export interface PinAnswer {
  experiment: string
  /** Those that may be parents now, the best first. */
  pinned: string[]
  /** How many parents a round has. */
  k: number
  /** False when there was nothing to do. */
  changed: boolean
  repeated?: true
}

const REASON = 1000

/** Refuses an experiment that no round could offer. If it is pinned already, only the reason changes. */
export function pin(
  run: OpenRun,
  experiment: string,
  { why, key }: { why: string; key: string | null },
): Result<PinAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const { state } = run.ledger
  const isNew = run.ledger.answeredBefore(['pinned'], key) === null
  if (isNew && mayBeParent(state, experiment) === null && !mayBeOffered(state, experiment))
    return fail(neverOffered(state, node.value))
  return record(run, { type: 'pinned', experiment, why }, key)
}

/** If the experiment is not pinned, nothing is recorded, and that is no failure. */
export function unpin(
  run: OpenRun,
  experiment: string,
  { why, key }: { why: string; key: string | null },
): Result<PinAnswer> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  if (!isPinned(run.ledger.state, experiment) && run.ledger.answeredBefore(['unpinned'], key) === null)
    return ok(answer(run, experiment, false))
  return record(run, { type: 'unpinned', experiment, why }, key)
}

function record(
  run: OpenRun,
  { type, experiment, why }: { type: 'pinned' | 'unpinned'; experiment: string; why: string },
  key: string | null,
): Result<PinAnswer> {
  const event = { type, experiment, why: why.slice(0, REASON) }
  const recorded = run.ledger.record<'pinned' | 'unpinned'>(event, run.clock(), key)
  return answered(recorded, () => answer(run, experiment, true))
}

const mayBeOffered = (state: State, experiment: string): boolean =>
  candidatesOf(state).some(({ id }) => id === experiment)

/** Why no round offers this experiment, although `assay new --parent` may start from it. */
function neverOffered(state: State, { id, created }: Experiment): Problem {
  const [because, hint] =
    created.arm !== undefined
      ? ['it was tried from the baseline, for comparison', next`see the parents: ${call('frontier')}`]
      : tainted(state).has(id)
        ? ['an experiment that it is built on is revoked', next`see the parents: ${call('frontier')}`]
        : ['its gain is not confirmed', next`measure it again: ${call('confirm', id)}`]
  return {
    kind: 'refused',
    code: 'bad_parent',
    message: `${id} cannot be the parent of a round: ${because}`,
    hint,
  }
}

function answer({ ledger: { state } }: OpenRun, experiment: string, changed: boolean): PinAnswer {
  return {
    experiment,
    pinned: pinnedOf(state, candidatesOf(state)).map(({ id }) => id),
    k: state.knobs?.k ?? 1,
    changed,
  }
}
