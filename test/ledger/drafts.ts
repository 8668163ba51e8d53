/** Events as short as a test can say them: everything that the test does not name has a fixed value. */
import type { Draft, Event, Judged as JudgedEvent, JudgedStatus, Knobs } from '../../cli/ledger/events.ts'

const AT = '2026-01-02T03:04:05.000Z'
export const OWNER = { pid: 41, started: '1000', host: 'rig' }

type Of<T extends Event['type']> = Extract<Draft, { type: T }>

/** The first event of a run that minimizes `ms`, with no cap unless `knobs` names one. */
export const runStarted = (knobs: Partial<Knobs> = {}): Of<'run_started'> => ({
  type: 'run_started',
  run: 'run_0001',
  name: 'rig',
  spec_hash: 's',
  frozen_hash: 'f',
  base: { commit: 'c0', tree: 't0' },
  checkout: '/nowhere',
  prefix: '',
  metric: { name: 'ms', direction: 'minimize', target: null },
  seed: 1,
  knobs: {
    max_attempts: 3,
    policy: 'argmax',
    k: 1,
    width: 2,
    depth: 1,
    stall: 5,
    revise: 3,
    ideate_stall: 3,
    ideate_keeps: 5,
    scan_batch: 6,
    scan_max: 24,
    experiments: null,
    hours: null,
    failures: null,
    tokens: null,
    usd: null,
    unknown: 'refuse',
    ...knobs,
  },
  warnings: [],
})

export const created = (
  experiment: string,
  parent: string | null,
  place: { round: number; lane: number; depth: number } | null = null,
): Of<'created'> => ({
  type: 'created',
  experiment,
  parent,
  hypothesis: `idea of ${experiment}`,
  round: place?.round ?? null,
  lane: place?.lane ?? null,
  depth: place?.depth ?? null,
})

export const sealed = (experiment: string, attempt = 1, tree = `${experiment}/${attempt}`): Of<'sealed'> => ({
  type: 'sealed',
  experiment,
  attempt,
  commit: `commit of ${tree}`,
  tree,
  diff: { files: 1, added: 1, removed: 0 },
  left_out: [],
  secrets: [],
})

export const started = (experiment: string, attempt = 1, takesOver?: string): Of<'started'> => ({
  type: 'started',
  experiment,
  attempt,
  owner: OWNER,
  ...(takesOver === undefined ? {} : { takes_over: takesOver }),
})

const REASON = { kept: 'improved', rejected: 'not_better', failed: 'crash' } as const

export const judged = (
  experiment: string,
  status: JudgedStatus,
  more: Partial<Omit<JudgedEvent, 'type'>> = {},
): Of<'judged'> => ({
  type: 'judged',
  experiment,
  attempt: 1,
  status,
  reason: REASON[status],
  failure_class: status === 'failed' ? 'eval' : null,
  value: status === 'kept' ? 10 : null,
  parent_value: 10,
  improvement: null,
  improvement_abs: null,
  interval: null,
  samples: 2,
  against: null,
  confirmed: status === 'kept',
  gates: [],
  metrics: {},
  tasks: null,
  message: '',
  signature: null,
  wall_ms: 5,
  steps: { sha256: 'x', lines: 1 },
  ...more,
})

export const confirmed = (experiment: string, passed: boolean): Of<'confirmed'> => ({
  type: 'confirmed',
  experiment,
  attempt: 1,
  against: 'exp_0000',
  passed,
  value: null,
  comparison: {
    outcome: passed ? 'improved' : 'not_better',
    against: 'exp_0000',
    improvement: null,
    improvement_abs: 0,
    interval: null,
    inputs: {},
  },
})

export const audited = (experiment: string, outcome: 'passed' | 'flagged' | 'revoked'): Of<'audited'> => ({
  type: 'audited',
  experiment,
  attempt: 1,
  outcome,
  findings: outcome === 'passed' ? [] : [{ code: 'opinion', message: 'it looks odd' }],
})

export const discarded = (experiment: string): Of<'discarded'> => ({
  type: 'discarded',
  experiment,
  failure_class: 'hypothesis',
  why: 'no use',
})
export const pruned = (experiment: string): Of<'pruned'> => ({ type: 'pruned', experiment, why: 'too wide' })
export const restored = (experiment: string): Of<'restored'> => ({
  type: 'restored',
  experiment,
  why: 'again',
})
export const noted = (text: string): Of<'noted'> => ({ type: 'noted', kind: 'note', experiment: null, text })

/** What makes `experiment`, child of `parent`, a kept node of that value. */
export const keptNode = (
  experiment: string,
  parent: string | null,
  value: number,
  place: { round: number; lane: number; depth: number } | null = null,
): Draft[] => [
  created(experiment, parent, place),
  sealed(experiment),
  started(experiment),
  judged(experiment, 'kept', { value }),
]

/** A draft as it stands in the file. */
export const stamped = (draft: Draft, id: string): Event => ({ v: '1.0', id, at: AT, ...draft }) as Event
