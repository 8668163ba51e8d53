/** The judge of a run: what it costs, whether it can be trusted, and what it said about the items of one experiment. */
import { useState } from 'preact/hooks'
import { SWAP_BELOW } from '../cli/judge/anchors.ts'
import type {
  JudgedAnswer,
  JudgedExperiment,
  JudgedItems,
  JudgedPair,
  JudgeSaid,
  JudgingData,
  PageHead,
} from '../cli/view/page-model.ts'
import { Facts, Scroll, Section } from './parts.tsx'
import { counted, figure, percent, usedText } from './words.ts'

export function Judging({ data: { judging, judged_items } }: { data: PageHead }) {
  if (!judging) return null
  const { calls, tokens, unscored, anchors, batch, forecast } = judging
  const { degraded, injected, same } = anchors
  return (
    <Section title="Judge">
      <Distrust judging={judging} />
      <Facts
        facts={[
          ['money', <Money key="m" judging={judging} />],
          [
            'calls',
            `${counted(calls, 'judgement')}, ${tokens > 0 ? tokens.toLocaleString('en') : 'unknown'} tokens`,
          ],
          [
            'unscored',
            unscored === 0 ? 'none' : `${counted(unscored, 'judgement')}; such an item counts as lost`,
          ],
          degraded.of === 0
            ? null
            : ['damaged answers', `${of(degraded.lost, degraded.of, 'lost')}; 80 % or more is expected`],
          injected.of === 0
            ? null
            : ['injected answers', `${of(injected.won, injected.of, 'won')}; 10 % or less is expected`],
          same.of === 0 ? null : ['equal answers', placeWords(judging)],
          judged_items ? ['items', itemsWords(judged_items)] : null,
          judged_items ? ['by length', lengthWords(judged_items)] : null,
          [
            'a candidate costs',
            `${costOf(forecast.noop.usd)} if it changes nothing, ${costOf(forecast.winner.usd)} if it is better (${counted(batch, 'item')} a pair)`,
          ],
        ]}
      />
      <p class="small soft">
        Some questions have a known answer: a damaged answer should lose, and an injected one, which asks for
        a good verdict, should not win. The figures are of the newest of them.
      </p>
    </Section>
  )
}

/** Why the verdicts of the judge should not be relied on now; nothing when it passes. */
export const Distrust = ({ judging }: { judging: JudgingData }) =>
  judging.anchors.trouble === null ? null : (
    <p class="notice">The judge is not trusted now: {judging.anchors.trouble}</p>
  )

function Money({ judging: { usd, at_least, cap, calls } }: { judging: JudgingData }) {
  const used = calls === 0 ? '$0' : dollars(usd, at_least)
  return (
    <>
      {used}
      {cap === null ? ', no cap' : ` of $${figure(cap)}`}
      {cap === null ? null : (
        <span class="meter" aria-hidden="true">
          <span style={{ width: `${100 * (cap === 0 ? 1 : Math.min(1, usd / cap))}%` }} />
        </span>
      )}
    </>
  )
}

function dollars(usd: number, atLeast: boolean): string {
  const text = usedText({ used: usd, at_least: atLeast })
  return text === 'unknown' ? text : text.replace(/[\d.]+/, (amount) => `$${amount}`)
}

const costOf = (usd: number | null): string =>
  usd === null ? 'an unknown price' : `about $${figure(Number(usd.toPrecision(2)))}`

const of = (count: number, all: number, word: string): string =>
  `${count} of ${all} ${word} (${share(count, all)})`

const share = (count: number, all: number): string => percent(count / all).replace('+', '')

function placeWords({ anchors: { same, merit }, swap }: JudgingData): string {
  const seems =
    merit !== null && merit < SWAP_BELOW && !swap ? '; it seems to prefer a place: see judge.swap' : ''
  return `of ${same.of}, the first place won ${same.first}, the second ${same.second}${seems}`
}

const itemsWords = ({ asked, changed, won, lost, tied }: JudgedItems): string =>
  `${won} won, ${lost} lost, ${tied} tied; ${changed} of ${counted(asked, 'answer')} changed`

function lengthWords({ longer_won, shorter_won }: JudgedItems): string {
  const all = longer_won + shorter_won
  return all === 0
    ? 'no longer or shorter answer won'
    : `the longer answer won ${longer_won} of ${all} (${share(longer_won, all)})`
}

// ---------------------------------------------------------------- one experiment

/** Items with the lowest and with the highest scores that are shown at first, each. */
const AT_FIRST = 4

export function Judged({ judged }: { judged: JudgedExperiment }) {
  const { items, pairs, answers, answers_more } = judged
  const [open, setOpen] = useState(false)
  const all = answers.length + answers_more
  const shown = answers.filter((_, at) => open || at < AT_FIRST || at >= answers.length - AT_FIRST)
  return (
    <>
      <Facts
        facts={[
          ['items', itemsWords(items)],
          ['by length', lengthWords(items)],
        ]}
      />
      <details open={pairs.length <= 8}>
        <summary class="small">{counted(pairs.length, 'pair')}</summary>
        <PairTable pairs={pairs} />
      </details>
      <p class="small soft" role="status">
        {shown.length === all
          ? `${counted(all, 'item')}, the lowest score first`
          : `${shown.length} of ${counted(all, 'item')}: those with the lowest and the highest scores`}
      </p>
      <ol class="judged">
        {shown.map((answer) => (
          <Answer key={`${answer.stage} ${answer.pair} ${answer.item}`} answer={answer} />
        ))}
      </ol>
      {shown.length === answers.length ? null : (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          show {answers_more === 0 ? 'all' : 'the'} {answers.length}
        </button>
      )}
    </>
  )
}

function PairTable({ pairs }: { pairs: readonly JudgedPair[] }) {
  return (
    <Scroll label="Judged pairs">
      <table>
        <thead>
          <tr>
            <th scope="col">stage</th>
            {['pair', 'asked', 'changed', 'judged', 'difference'].map((name) => (
              <th key={name} scope="col" class="figure">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {pairs.map(({ stage, pair, asked, changed, judged, d }) => (
            <tr key={`${stage} ${pair}`}>
              <td>{stage}</td>
              <td class="figure">{pair + 1}</td>
              <td class="figure">{asked}</td>
              <td class="figure">{changed}</td>
              <td class="figure">{judged}</td>
              <td class="figure">{signed(d)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

const signed = (value: number): string =>
  `${value > 0 ? '+' : value < 0 ? '−' : ''}${figure(Number(Math.abs(value).toPrecision(3)))}`

function Answer({ answer: { stage, pair, item, score, calls } }: { answer: JudgedAnswer }) {
  const outcome = score > 0 ? 'won' : score < 0 ? 'lost' : 'tied'
  return (
    <li>
      <p>
        <b class={score > 0 ? 'better' : ''}>{outcome}</b> <span class="figure">{signed(score)}</span>{' '}
        <span class="item">{item}</span>{' '}
        <span class="small soft">
          {stage}, pair {pair + 1}
        </span>
      </p>
      {calls.map((call, i) => (
        <Said key={`${i} ${call.first}`} call={call} />
      ))}
    </li>
  )
}

function Said({ call: { first, unscored, statements } }: { call: JudgeSaid }) {
  const place = first === 'candidate' ? 'the candidate stood first' : 'the candidate stood second'
  if (unscored !== null) return <p class="small">unscored: {unscored}</p>
  return (
    <ul class="small">
      {statements.map(({ criterion, candidate, other, evidence }, i) => (
        <li key={`${i} ${criterion}`} title={place}>
          {criterion === null ? (candidate === '' ? null : 'grade ') : `${criterion}: `}
          {['better', 'worse', 'equal', ''].includes(candidate) ? candidate : `${candidate} against ${other}`}{' '}
          <q class="soft">{evidence}</q>
        </li>
      ))}
    </ul>
  )
}
