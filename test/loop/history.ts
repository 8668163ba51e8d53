import type { Draft, FailureClass, NewDirection, Reason } from '../../cli/ledger/events.ts'
import { fold } from '../../cli/ledger/fold.ts'
import { emptyState, type State } from '../../cli/ledger/state.ts'

const KNOBS = {
  max_attempts: 3,
  policy: 'argmax',
  k: 1,
  width: 3,
  depth: 2,
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
  unknown: 'refuse' as const,
}

/** A ledger in memory, minimizing from a baseline of 100; every event must be accepted. */
export class History {
  readonly state: State = emptyState()
  #events = 0

  constructor(settings: { knobs?: object; target?: number | null } = {}) {
    this.add({
      type: 'run_started',
      run: 'run_0001',
      name: 'demo',
      spec_hash: 's',
      frozen_hash: 'f',
      base: { commit: 'c', tree: 't' },
      checkout: '/repository',
      prefix: '',
      metric: { name: 'ms', direction: 'minimize', target: settings.target ?? null },
      seed: 1,
      knobs: { ...KNOBS, ...settings.knobs },
      warnings: [],
    })
    this.experiment('exp_0000', { parent: null, value: 100 })
  }

  add(draft: Draft, at = '2026-01-01T00:00:00.000Z'): this {
    const id = String(this.#events++)
    const outcome = fold(this.state, { v: '1.0', id, at, ...draft })
    if (!outcome.accepted) throw new Error(`${draft.type}: ${outcome.because.message}`)
    return this
  }

  created(
    experiment: string,
    { parent = 'exp_0000' as string | null, hypothesis = experiment, round = 0, lane = 0 } = {},
  ): this {
    const place = round > 0 ? { round, lane, depth: 1 } : { round: null, lane: null, depth: null }
    return this.add({ type: 'created', experiment, parent, hypothesis, ...place })
  }

  /** An experiment with its verdict; without a value it failed with the signature. */
  experiment(
    experiment: string,
    options: {
      parent?: string | null
      value: number | null
      status?: 'kept' | 'rejected' | 'failed'
      hypothesis?: string
      signature?: string
      failureClass?: FailureClass
      reason?: Reason
      metrics?: Record<string, number | boolean>
      round?: number
      lane?: number
    },
  ): this {
    if (!this.state.experiments.has(experiment)) this.created(experiment, options)
    const status = options.status ?? (options.value === null ? 'failed' : 'kept')
    const reason = { kept: 'improved', rejected: 'not_better', failed: 'crash' } as const
    this.add({
      type: 'sealed',
      experiment,
      attempt: 1,
      commit: experiment,
      tree: `tree of ${experiment}`,
      diff: { files: 1, added: 1, removed: 1 },
      left_out: [],
      secrets: [],
    })
    this.add({ type: 'started', experiment, attempt: 1, owner: { pid: 1, started: '1', host: 'here' } })
    return this.add({
      type: 'judged',
      experiment,
      attempt: 1,
      status,
      reason: options.parent === null ? null : (options.reason ?? reason[status]),
      failure_class:
        status === 'kept' ? null : (options.failureClass ?? (status === 'failed' ? 'eval' : 'hypothesis')),
      value: options.value,
      parent_value: 100,
      improvement: null,
      improvement_abs: null,
      interval: null,
      samples: 1,
      against: null,
      confirmed: true,
      gates: [],
      metrics: options.metrics ?? {},
      tasks: null,
      message: '',
      signature: options.signature ?? (status === 'failed' ? 'crash 1' : null),
      wall_ms: 1000,
      steps: { sha256: '', lines: 0 },
    })
  }

  open(width = 3, direction: NewDirection | null = null): this {
    const round = this.state.rounds.length + 1
    return this.add({
      type: 'round_opened',
      round,
      token: `token ${round}`,
      width,
      depth: 2,
      parents: [{ experiment: 'exp_0000', value: 100, rank: 1, why: '' }],
      policy: 'argmax',
      seed: 1,
      ideate: null,
      direction,
    })
  }

  briefed(...kinds: string[]): this {
    const round = this.state.rounds.length
    const lanes = kinds.map((kind, index) => ({
      lane: index + 1,
      brief: { parent: 'exp_0000', kind, objective: kind, boundaries: [], pointers: [], hard: false },
      parent: 'exp_0000',
      experiment: `exp_9${round}${index}`,
    }))
    return this.add({ type: 'round_briefed', round, token: `token ${round}`, lanes, refused: [] })
  }

  closed(stall: number): this {
    const round = this.state.rounds.length
    return this.add({
      type: 'round_closed',
      round,
      token: `token ${round}`,
      improved: stall === 0,
      best: 'exp_0000',
      stall,
      learnings: [],
      suggestions: [],
      prune: [],
    })
  }

  get round() {
    const round = this.state.rounds.at(-1)
    if (!round) throw new Error('no round was opened')
    return round
  }
}
