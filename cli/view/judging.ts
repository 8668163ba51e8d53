/** What the judge of a run costs, and whether it can be trusted: data and lines for people. */

import { counted, shown } from '../evaluate/figure.ts'
import { readAnchors, SWAP_BELOW } from '../judge/anchors.ts'
import { showingOf } from '../judge/batch.ts'
import { forecast } from '../judge/money.ts'
import { type Statement, statementsIn } from '../judge/prompt.ts'
import type { Judged } from '../ledger/events.ts'
import { type Experiment, lastJudged } from '../ledger/state.ts'
import { readSteps } from '../ledger/steps.ts'
import { type Decision, type DecisionOf, decisionsIn, type JudgeAnswer } from '../measure/decisions.ts'
import { choicesOfAttempt } from '../measure/random-choices.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import { judgeSpent } from '../run/budget.ts'
import type { OpenRun } from '../run/open.ts'
import { plain } from '../text.ts'
import type { JudgedExperiment, JudgedItems, JudgeSaid, JudgingData } from './page-model.ts'

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

const NONE: JudgedItems = { asked: 0, changed: 0, won: 0, lost: 0, tied: 0, longer_won: 0, shorter_won: 0 }

function countItems(batches: readonly DecisionOf<'batch'>[]): JudgedItems {
  const sum = { ...NONE }
  for (const { asked, changed, judged } of batches) {
    sum.asked += asked.length
    sum.changed += changed
    for (const { score, chars } of judged) {
      sum[score > 0 ? 'won' : score < 0 ? 'lost' : 'tied']++
      const longer = score * (chars[0] - chars[1])
      if (longer > 0) sum.longer_won++
      if (longer < 0) sum.shorter_won++
    }
  }
  return sum
}

/** Counts of attempts by their verdicts, which do not change: a page that follows a run reads each record once. */
const counts = new WeakMap<Judged, JudgedItems>()

/** Of all attempts that were judged. */
export function judgedItems(run: Pick<OpenRun, 'ledger' | 'paths'>): JudgedItems {
  const sum = { ...NONE }
  for (const node of run.ledger.state.experiments.values())
    for (const { attempt, judged } of node.attempts) {
      if (judged === null) continue
      const known = counts.get(judged) ?? countItems(decided(decisionsOf(run, node.id, attempt), 'batch'))
      counts.set(judged, known)
      for (const name of Object.keys(sum) as (keyof JudgedItems)[]) sum[name] += known[name]
    }
  return sum
}

const decisionsOf = ({ paths }: Pick<OpenRun, 'paths'>, id: string, attempt: number): Decision[] =>
  decisionsIn(readSteps(stepsFile(attemptFolder(paths, id, attempt))))

const decided = <N extends Decision['is']>(all: readonly Decision[], name: N): DecisionOf<N>[] =>
  all.filter((one): one is DecisionOf<N> => one.is === name)

/** More than a reader reads; `steps.jsonl` of the attempt has all. */
const MOST = { pairs: 100, answers: 40, statements: 8 }
/** Characters of evidence of one item, and the fewest of one statement. */
const EVIDENCE = 240
const FEWEST = 40
const NAME = 80

/** Of the last verdict of an experiment; null when no item of it was judged. */
export function judgedExperiment(run: OpenRun, node: Experiment): JudgedExperiment | null {
  const attempt = lastJudged(node)?.attempt
  const config = run.spec.judge
  if (attempt === undefined || config === undefined) return null
  const decisions = decisionsOf(run, node.id, attempt)
  const batches = decided(decisions, 'batch').filter(({ stage }) => stage !== 'holdout')
  if (batches.length === 0) return null
  const { draws } = choicesOfAttempt(run, node, attempt)
  const calls = new Map<string, JudgeAnswer[]>()
  for (const { judgement } of decided(decisions, 'judgement')) {
    if (judgement.anchor !== undefined) continue
    const place = placeOf(judgement.stage, judgement.pair, judgement.item)
    calls.set(place, [...(calls.get(place) ?? []), judgement])
  }
  const items = batches
    .flatMap(({ stage, pair, judged }) => judged.map(({ item, score }) => ({ stage, pair, item, score })))
    .sort((a, b) => a.score - b.score)
  const shown = extremes(items, MOST.answers)
  return {
    items: countItems(batches),
    pairs: batches.slice(0, MOST.pairs).map(({ stage, pair, asked, changed, judged, d }) => ({
      ...{ stage, pair, asked: asked.length, changed, judged: judged.length, d },
    })),
    answers: shown.map(({ stage, pair, item, score }) => {
      const own = calls.get(placeOf(stage, pair, item)) ?? []
      return {
        ...{ stage, pair, item: plain(item, NAME), score },
        calls: own.map((judgement) => {
          const { order } = showingOf(draws, config.scoring, stage, pair, item, judgement.draw)
          return saidIn(judgement, statementsIn(config.scoring, order, judgement.answer), own.length)
        }),
      }
    }),
    answers_more: items.length - shown.length,
  }
}

const placeOf = (stage: string, pair: number, item: string): string => `${stage} ${pair} ${item}`

/** At most so many: as many from the beginning as from the end. */
function extremes<T>(sorted: readonly T[], most: number): T[] {
  const half = most / 2
  return sorted.filter((_, at) => at < half || at >= sorted.length - half)
}

function saidIn(
  { first, of_first, why, answer }: JudgeAnswer,
  statements: readonly Statement[],
  calls: number,
): JudgeSaid {
  const texts = statements.reduce((sum, { evidence }) => sum + evidence.length, 0)
  const room = Math.max(FEWEST, Math.floor(EVIDENCE / Math.max(1, texts * calls)))
  const shown = statements.slice(0, MOST.statements).map((one) => ({
    criterion: one.criterion === null ? null : plain(one.criterion, NAME),
    candidate: first === 'candidate' ? one.first : one.second,
    other: first === 'candidate' ? one.second : one.first,
    evidence: one.evidence.map((text) => plain(text, room)).join(' / '),
  }))
  return {
    first,
    unscored: of_first === null ? plain(why ?? 'the answer does not hold', EVIDENCE) : null,
    statements: shown.length > 0 || answer === null ? shown : [cutOff(answer)],
  }
}

/** An answer that was too long for the record: what is left of it is no structure any more. */
const cutOff = (answer: unknown): JudgeSaid['statements'][number] => ({
  ...{ criterion: null, candidate: '', other: '' },
  evidence: plain(JSON.stringify(answer), EVIDENCE),
})

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
