/** What the judge of a run costs, and whether it can be trusted: data and lines for people. */

import { counted, shown } from '../evaluate/figure.ts'
import { type AnchorReport, readAnchors, SWAP_BELOW } from '../judge/anchors.ts'
import { forecast, type JudgeForecast } from '../judge/money.ts'
import { readSteps } from '../ledger/steps.ts'
import { decisionsIn } from '../measure/decisions.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import { judgeSpent } from '../run/budget.ts'
import type { OpenRun } from '../run/open.ts'

export interface JudgingData {
  /** Of the judge, known answers included. */
  calls: number
  tokens: number
  usd: number
  /** Some calls did not tell what they cost. */
  at_least: boolean
  cap: number | null
  unscored: number
  anchors: AnchorReport
  /** Of a candidate that changes nothing, and of a winner. */
  forecast: JudgeForecast
  /** Items of one pair. */
  batch: number
  swap: boolean
}

/** null when no judge scores. */
export function judgingOf({ ledger: { state }, spec }: Pick<OpenRun, 'ledger' | 'spec'>): JudgingData | null {
  const { judge } = state.run ?? {}
  if (judge === undefined) return null
  const spent = judgeSpent(state)
  const { calls, tokens, unscored, anchors } = state.judge
  return {
    calls,
    tokens,
    usd: Number(spent.usd.toFixed(6)),
    at_least: spent.unpriced > 0,
    cap: state.knobs?.judge_usd ?? null,
    unscored,
    anchors: readAnchors(anchors),
    forecast: forecast(judge.batch, judge.calls, spent),
    batch: judge.batch,
    swap: spec.judge?.swap ?? false,
  }
}

/** Of all attempts that were judged. */
export interface JudgedItems {
  /** Items whose answers both sides gave, and those that were not equal. */
  asked: number
  changed: number
  /** Of the judged ones, by the candidate's score. */
  won: number
  lost: number
  tied: number
  /** How often the longer and the shorter of two answers won, ties left out. */
  longer_won: number
  shorter_won: number
}

export function judgedItems(run: Pick<OpenRun, 'ledger' | 'paths'>): JudgedItems {
  const sum: JudgedItems = { asked: 0, changed: 0, won: 0, lost: 0, tied: 0, longer_won: 0, shorter_won: 0 }
  for (const node of run.ledger.state.experiments.values())
    for (const { attempt, judged } of node.attempts) {
      if (judged === null) continue
      const steps = readSteps(stepsFile(attemptFolder(run.paths, node.id, attempt)))
      for (const batch of decisionsIn(steps)) {
        if (batch.is !== 'batch') continue
        sum.asked += batch.asked.length
        sum.changed += batch.changed
        for (const { score, chars } of batch.judged) {
          sum[score > 0 ? 'won' : score < 0 ? 'lost' : 'tied']++
          const longer = score * (chars[0] - chars[1])
          if (longer > 0) sum.longer_won++
          if (longer < 0) sum.shorter_won++
        }
      }
    }
  return sum
}

const usd = (amount: number): string => `$${shown(Number(amount.toFixed(4)))}`

/** `judge: $0.42 of $5, 132 judgements; 11 of 12 damaged answers lost, 0 of 6 injected ones won` */
export function judgingLine({
  calls,
  usd: paid,
  at_least,
  cap,
  unscored,
  anchors,
  swap,
}: JudgingData): string {
  const { degraded, injected, merit, trouble } = anchors
  const money = `${at_least ? 'at least ' : ''}${usd(paid)}${cap === null ? '' : ` of ${usd(cap)}`}`
  const known =
    degraded.of === 0
      ? ''
      : `; of known answers, ${degraded.lost} of ${degraded.of} damaged ones lost, ${injected.won} of ${injected.of} injected ones won`
  const place =
    merit !== null && merit < SWAP_BELOW && !swap ? '; it seems to prefer a place: see judge.swap' : ''
  return `judge: ${money}, ${counted(calls, 'judgement')}${unscored === 0 ? '' : ` (${unscored} unscored)`}${known}${place}${trouble === null ? '' : `; not trusted now: ${trouble}`}`
}

/** What one candidate costs: `a no-op costs 40 judgements and 80 answers, about $0.08; a winner four times that` */
export function forecastLine({ forecast: { noop } }: JudgingData): string {
  const price = noop.usd === null ? 'at a price that is not known yet' : `about ${usd(noop.usd)}`
  return `Judge: a no-op costs ${noop.judgements} judgements and ${noop.answers} answers, ${price}; a winner four times that`
}

/** Two lines, each short enough for a terminal. */
export const itemsLines = ({
  asked,
  changed,
  won,
  lost,
  tied,
  longer_won,
  shorter_won,
}: JudgedItems): string[] => [
  `items: ${changed} of ${asked} answers changed; ${won} won, ${lost} lost, ${tied} tied`,
  `by length: the longer answer won ${longer_won} times, the shorter one ${shorter_won}`,
]
