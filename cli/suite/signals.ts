/** The signals in what a run of a task wrote. Pure. Whatever is not understood is missing. */
import { isRecord, parseJson } from '../json.ts'
import { NO_SIGNALS, RUN_STATUSES, type Signals } from './loss.ts'

export interface Left {
  signals: Signals
  /** What the run found wrong with its own result, in the words that it wrote. */
  defects: string[]
}

const MOST_DEFECTS = 5
const LONGEST_DEFECT = 300

/**
 * Of an object that a run wrote: `eval` and `critique` as numbers or as `{score}`, `gate_rejections`, `max_rejections`,
 * `budget_remaining_pct`, `status`, `defects`; the places of `run_completion.json` as well. `metrics`: the lines of
 * `metrics.jsonl`.
 */
export function signalsIn(object: unknown, metrics: readonly unknown[] = []): Left {
  const run = isRecord(object) ? object : {}
  const budget = isRecord(run.final_budget) ? run.final_budget : {}
  const config = isRecord(run.config_used) ? run.config_used : {}
  const of = (kind: string) => metrics.filter(isRecord).filter((line) => line.kind === `metric.${kind}`)
  const mean = (kind: string) => meanOf(of(kind).map((line) => numberIn(line.score)))
  const gates = of('gate')
  const status = RUN_STATUSES.find((one) => one === String(run.status ?? '').toLowerCase()) ?? null
  return {
    signals: {
      ...NO_SIGNALS,
      eval: scoreIn(run.eval) ?? mean('eval'),
      critique: scoreIn(run.critique) ?? numberIn(run.critique_score) ?? mean('critique'),
      gate_rejections:
        numberIn(run.gate_rejections) ?? (gates.length === 0 ? null : gates.filter(isRejection).length),
      max_rejections: numberIn(run.max_rejections) ?? numberIn(config.max_rejected_completions),
      budget_remaining_pct: numberIn(run.budget_remaining_pct) ?? numberIn(budget.budget_remaining_pct),
      status,
    },
    defects: defectsIn(run.defects),
  }
}

const REJECTING = ['reject', 'rejected', 'fail', 'failed']
const isRejection = ({ verdict }: Record<string, unknown>): boolean =>
  REJECTING.includes(String(verdict ?? '').toLowerCase())

const scoreIn = (value: unknown): number | null => (isRecord(value) ? numberIn(value.score) : numberIn(value))

const numberIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

function defectsIn(value: unknown): string[] {
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  return texts
    .map((text) => text.replace(/\s+/g, ' ').trim().slice(0, LONGEST_DEFECT))
    .filter((text) => text !== '')
    .slice(0, MOST_DEFECTS)
}

/** As JSON, in which Python's `NaN` and `Infinity` are missing values; undefined when it is none. */
export function parseLenient(text: string): unknown {
  const bare = text.replace(/^\ufeff/, '')
  const valid = bare.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (token) =>
    token.startsWith('"') ? token : 'null',
  )
  return parseJson(valid)
}
