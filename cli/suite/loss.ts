/**
 * What a run of a task costs, from what it left: signals → parts → the loss of the task → their mean. Pure, and always
 * defined: no model is asked, nothing is drawn.
 */

export const PARTS = ['eval', 'critique', 'gate_rejections', 'budget', 'status'] as const
export type LossPart = (typeof PARTS)[number]

/** How much each part counts, from 0 on; only their proportions matter. */
export type Weights = Record<LossPart, number>
export const WEIGHTS: Weights = { eval: 0.4, critique: 0.3, gate_rejections: 0.15, budget: 0.05, status: 0.1 }

export const RUN_STATUSES = ['complete', 'partial', 'failed', 'aborted'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/** What one run of a task left. null = it is missing. */
export interface Signals {
  /** 0 to 1; more is better. */
  eval: number | null
  /** 0 to 1; more is better. */
  critique: number | null
  /** How often a gate turned the result down. */
  gate_rejections: number | null
  /** After so many the program gives up; null = 2. */
  max_rejections: number | null
  /** 0 to 100: what is left of the budget of the task. */
  budget_remaining_pct: number | null
  status: RunStatus | null
}

export const NO_SIGNALS: Signals = {
  eval: null,
  critique: null,
  gate_rejections: null,
  max_rejections: null,
  budget_remaining_pct: null,
  status: null,
}

export interface TaskLoss {
  /** 0 to 1; less is better. */
  loss: number
  /** 0 to 1 each, before its weight; null = the signal is missing, and counts as `missing`. */
  parts: Record<LossPart, number | null>
  /** What each missing part counts as. */
  missing: number
  /** The weights, normalised. */
  weights: Weights
  /** The process failed, or the run says that it failed. */
  crashed: boolean
}

const NEUTRAL = 0.5
const WORST = 1
const PENALTIES: Record<RunStatus, number> = { complete: 0, partial: 0.5, failed: 1, aborted: 1 }
const REJECTIONS = 2

/**
 * The loss of one run. A missing part counts as 0.5. If the run crashed, each missing part counts as 1, and its status is
 * `failed`: so a crash is never better than a run that says with the same signals that it is partial.
 */
export function taskLoss(signals: Signals, weights: Weights, ended: { crashed: boolean }): TaskLoss {
  const crashed = ended.crashed || signals.status === 'failed' || signals.status === 'aborted'
  const missing = crashed ? WORST : NEUTRAL
  const parts = partsOf(crashed ? { ...signals, status: 'failed' } : signals)
  const shares = normalised(weights)
  const loss = PARTS.reduce((sum, part) => sum + shares[part] * (parts[part] ?? missing), 0)
  return { loss: clamp(loss), parts, missing, weights: shares, crashed }
}

/** Of at least one loss. */
export const meanLoss = (losses: readonly number[]): number =>
  losses.reduce((sum, loss) => sum + loss, 0) / losses.length

/** They sum to 1. If all are 0, the weights are those of `WEIGHTS`. */
export function normalised(weights: Weights): Weights {
  const sum = PARTS.reduce((total, part) => total + weights[part], 0)
  if (!(sum > 0)) return WEIGHTS
  return mapParts((part) => weights[part] / sum)
}

function partsOf(signals: Signals): Record<LossPart, number | null> {
  const rejections = finite(signals.gate_rejections)
  const most = finite(signals.max_rejections)
  const left = finite(signals.budget_remaining_pct)
  return {
    eval: lack(finite(signals.eval)),
    critique: lack(finite(signals.critique)),
    gate_rejections:
      rejections === null ? null : clamp(rejections / (most !== null && most > 0 ? most : REJECTIONS)),
    budget: lack(left === null ? null : left / 100),
    status: signals.status === null ? null : PENALTIES[signals.status],
  }
}

/** How much of a share is not reached. */
const lack = (share: number | null): number | null => (share === null ? null : 1 - clamp(share))

/** NaN and infinity are no numbers that a run could leave: the signal is missing. */
const finite = (value: number | null): number | null =>
  value !== null && Number.isFinite(value) ? value : null

const clamp = (value: number): number => Math.max(0, Math.min(1, value))

export const mapParts = <T>(make: (part: LossPart) => T): Record<LossPart, T> =>
  Object.fromEntries(PARTS.map((part) => [part, make(part)])) as Record<LossPart, T>
