/** The life cycle of an experiment: which verb is allowed in which status, and what status follows. Pure. */
import { call, type Next, next } from '../next.ts'
import type { Status } from './events.ts'
import { type Experiment, isOutdatedBaseline, type State } from './state.ts'

/** Verbs that change an experiment. */
export const LIFECYCLE_VERBS = [
  'seal',
  'run',
  'judge',
  'confirm',
  'audit',
  'abort',
  'discard',
  'prune',
  'restore',
  'new',
] as const
export type LifecycleVerb = (typeof LIFECYCLE_VERBS)[number]

/** What a verb makes of a status: the new status, `same`, or why it is refused. `judge` and `audit` decide by their findings. */
export type Transition = { to: Status | 'same' | 'decided' } | { refused: string; hint: Next }

/** The next step of a refusal, for this experiment. */
export const hintFor = ({ hint }: { hint: Next }, experiment: string): Next => hint.fill('ID', experiment)

const refuse = (refused: string, hint: Next): Transition => ({ refused, hint })
const running = refuse('it is being judged', next`wait for it: ${call('wait', '--for', 'ID')}`)
const settledKept = refuse(
  'it is kept; a kept experiment is never edited',
  next`make a child: ${call('new', '--parent', 'ID', '-m', 'TEXT')}`,
)
const gone = (status: Status): Transition =>
  refuse(`it is ${status}`, next`bring it back first: ${call('restore', 'ID')}`)
const unjudged = refuse('it has not been judged', next`run it first: ${call('run', 'ID')}`)
const same: Transition = { to: 'same' }

/** The one table of the life cycle, verb × status: `decide` refuses by it, and `evolve` moves by it. */
export const TRANSITIONS: Record<LifecycleVerb, Record<Status, Transition>> = {
  seal: row({ open: same, rejected: same, failed: same, running, kept: settledKept }),
  run: row({
    open: { to: 'running' },
    rejected: { to: 'running' },
    failed: { to: 'running' },
    running,
    kept: settledKept,
  }),
  judge: row({
    open: { to: 'decided' },
    rejected: { to: 'decided' },
    failed: { to: 'decided' },
    running: { to: 'decided' },
    kept: settledKept,
  }),
  // A pruned experiment may be the best, so it can be measured again.
  confirm: row({ open: unjudged, running, kept: same, rejected: unkept(), failed: unkept(), pruned: same }),
  audit: row({
    open: unjudged,
    running,
    kept: { to: 'decided' },
    rejected: same,
    failed: same,
    discarded: same,
    pruned: { to: 'decided' },
    revoked: same,
  }),
  abort: row({
    open: notRunning(),
    running: { to: 'failed' },
    kept: notRunning(),
    rejected: notRunning(),
    failed: notRunning(),
  }),
  discard: row({
    open: { to: 'discarded' },
    running,
    kept: refuse(
      'it is kept; kept work is pruned, never discarded',
      next`${call('prune', 'ID', '--reason', 'TEXT')}`,
    ),
    rejected: { to: 'discarded' },
    failed: { to: 'discarded' },
    discarded: same,
  }),
  prune: row({
    open: unkept(),
    running,
    kept: { to: 'pruned' },
    rejected: unkept(),
    failed: unkept(),
    pruned: same,
  }),
  restore: row({
    open: same,
    running: same,
    kept: same,
    rejected: same,
    failed: same,
    discarded: { to: 'decided' },
    pruned: { to: 'decided' },
    revoked: { to: 'decided' },
  }),
  new: row({
    open: refuse('it has no verdict yet', next`run it first, or take another parent: ${call('frontier')}`),
    running,
    kept: same,
    rejected: refuse(
      'it was rejected',
      next`repair it with ${call('run', 'ID')}, or take a kept parent: ${call('frontier')}`,
    ),
    failed: refuse(
      'it could not be judged',
      next`repair it with ${call('run', 'ID')}, or take a kept parent: ${call('frontier')}`,
    ),
  }),
}

/**
 * The status in which the table leaves an experiment after a verb; `decided` says it where the verb's findings do. The
 * baseline of a new epoch is run as if it were open.
 */
export function statusAfter(state: State, node: Experiment, verb: LifecycleVerb, decided: Status): Status {
  const from = verb === 'run' && isOutdatedBaseline(state, node) ? 'open' : node.status
  const rule = TRANSITIONS[verb][from]
  if ('refused' in rule) throw new Error(`${verb} of ${node.id} was applied although it is ${node.status}`)
  return rule.to === 'decided' ? decided : rule.to === 'same' ? node.status : rule.to
}

function unkept(): Transition {
  return refuse(
    'it is not kept',
    next`only a kept experiment can be confirmed or pruned; see ${call('status')}`,
  )
}
function notRunning(): Transition {
  return refuse('it is not running', next`see ${call('status')}`)
}
function row(cells: Partial<Record<Status, Transition>>): Record<Status, Transition> {
  return {
    open: gone('open'),
    running,
    kept: settledKept,
    rejected: gone('rejected'),
    failed: gone('failed'),
    discarded: gone('discarded'),
    pruned: gone('pruned'),
    revoked: gone('revoked'),
    ...cells,
  }
}
