import { duration, gainOf, gainText, shown } from '../evaluate/figure.ts'
import type { StopReason } from '../ledger/events.ts'
import { padEnd, plain, widthOf } from '../text.ts'
import type { Arms, BudgetUsed, PathStep, SummaryInput } from '../view/chart.ts'
import type { PredictionRow } from '../view/predictions.ts'
import { type Cell, cell, clip, GLYPHS, type Line, READING_ORDER } from './lines.ts'

const MOST_STEPS = 8
const MOST_PREDICTIONS = 3
const CAUSE = 200

/** The numbers under the chart, at most 20 lines of at most `width` columns. */
export function summary(input: SummaryInput, width: number): Line[] {
  const { counts, budget, stop } = input
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const shares = READING_ORDER.filter((status) => (counts[status] ?? 0) > 0).flatMap((status) => [
    cell('  '),
    cell(`${GLYPHS.status[status]} ${counts[status]} ${status}`, status),
  ])
  const lines: Line[] = [
    row(plain(input.metric.name, NAME), result(input)),
    row('experiments', [cell(String(total)), ...shares]),
    row('budget', [cell(budgetText(budget))]),
  ]
  lines.push(...effort(input))
  if (stop !== null) {
    const cause = input.stop_cause ? [cell(`: ${plain(input.stop_cause, CAUSE)}`)] : []
    lines.push(row('stopped', [cell(STOPPED[stop], stop === 'target' ? 'good' : 'warn'), ...cause]))
  }
  return [...lines, ...improvements(input)].map((line) => clip(line, width))
}

/** What it took, what it cost, what is left; nothing of what is not known or not there. */
function effort({
  duration: took,
  spend,
  arms,
  predictions = [],
  objections = 0,
  parts = null,
  jobs = null,
  left,
}: SummaryInput): Line[] {
  const lines: Line[] = []
  if (arms) lines.push(row('baseline arm', [cell(armsText(arms))]))
  if (took)
    lines.push(row('duration', [cell(`${duration(took.ms)}, ${duration(took.active_ms)} of it at work`)]))
  if (jobs !== null) lines.push(row('jobs', [cell(jobs)]))
  if (spend && spend.calls > 0) {
    const least = spend.at_least ? 'at least ' : ''
    const calls = `${spend.calls} agent ${spend.calls === 1 ? 'call' : 'calls'}`
    const tokens = spend.tokens_in + spend.tokens_out
    const told = [
      [`${least}${shown(tokens)} tokens`, tokens],
      [`${least}${shown(Number(spend.usd.toFixed(2)))} usd`, spend.usd],
    ] as const
    // Of a program that tells nothing, "at least 0" would be a strange way to say so.
    const known = told.filter(([, amount]) => amount > 0 || !spend.at_least).map(([text]) => text)
    lines.push(
      row('spend', [cell([calls, ...(known.length > 0 ? known : ['their cost is not known'])].join(', '))]),
    )
  }
  const rest = left
    ? [
        [left.repairable, 'repairable'],
        [left.retests, 'to retest'],
        [left.prune ?? 0, 'to prune'],
        [left.ideas, left.ideas === 1 ? 'idea not tried' : 'ideas not tried'],
        [left.parked ?? 0, `waiting for approval (assay backlog)`],
      ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]))
    : []
  if (parts !== null) lines.push(row('parts', [cell(parts)]))
  if (rest.length > 0) lines.push(row('left', [cell(rest.join(', '))]))
  for (const [i, one] of predictions.slice(0, MOST_PREDICTIONS).entries())
    lines.push(row(i === 0 ? 'predicted' : '', [cell(predictionText(one))]))
  if (objections > 0)
    lines.push(row('objections', [cell(`${objections}, to be read by a person: assay status`, 'warn')]))
  return lines
}

/** `30 % better; measured 4 % better, 9 of 12 gained: edits by codex, kind edit` */
function predictionText({
  role,
  agent,
  kind,
  predicted,
  measured,
  better,
  experiments,
}: PredictionRow): string {
  const who = role === 'ideate' ? 'ideas' : agent === null ? 'edits' : `edits by ${plain(agent, 40)}`
  const what = kind === null ? '' : `, kind ${plain(kind, 30)}`
  return `${gainText(predicted)}; measured ${gainText(measured)}, ${better} of ${experiments} gained: ${who}${what}`
}

function armsText({ baseline, search }: Arms): string {
  const best = (value: number | null) => (value === null ? 'nothing better' : `best ${shown(value)}`)
  return `${best(baseline.best)} after ${baseline.experiments}; the search: ${best(search.best_at_same)} after as many, ${best(search.best)} after ${search.experiments}`
}

const NAME = 14

const row = (name: string, cells: readonly Cell[]): Line => [
  cell(padEnd(name, NAME), 'title'),
  cell(' '),
  ...cells,
]

function result({ metric, path }: SummaryInput): Cell[] {
  const first = path[0]
  const last = path.at(-1)
  if (first === undefined || last === undefined) return [cell('no baseline yet', 'dim')]
  const unit = plain(metric.unit ?? '', 12)
  const goal = metric.target === null ? [] : [cell(`  target ${shown(metric.target, unit)}`, 'dim')]
  if (path.length === 1)
    return [cell(shown(first.value, unit)), cell('  the baseline; nothing better yet', 'dim'), ...goal]
  const gain = gainOf(first.value, last.value, metric.direction)
  return [
    cell(`${shown(first.value)} ${GLYPHS.arrow} `),
    cell(shown(last.value, unit), 'best'),
    cell(
      gain === null
        ? ''
        : `  ${gainText(gain, first.value, last.value)}${path.length === 2 ? between(last.interval) : ''}`,
      'good',
    ),
    cell(`  ${plain(first.experiment, 20)} ${GLYPHS.arrow} ${plain(last.experiment, 20)}`, 'dim'),
    ...goal,
  ]
}

/** `18 of 30 experiments`; one digit, two below one: minutes are hours, too. */
export function spent({ used, limit, at_least }: BudgetUsed, what: string): string {
  const number = `${at_least ? 'at least ' : ''}${shown(Number(used.toFixed(used < 1 ? 2 : 1)))}`
  const noun = used === 1 && limit === null ? what.replace(/s$/, '') : what
  return limit === null ? `${number} ${noun}` : `${number} of ${shown(limit)} ${noun}`
}

/** Without a limit, `0 experiments` would read like a budget of none. */
export function budgetText(budget: SummaryInput['budget']): string {
  const caps = ['experiments', 'hours', 'failures'] as const
  const told = caps.map((cap) => spent(budget[cap], cap)).join(', ')
  return caps.every((cap) => budget[cap].limit === null) ? `none is set; used: ${told}` : told
}

export const STOPPED: Readonly<Record<StopReason, string>> = {
  target: 'the target is reached',
  stall: 'no new best for too many rounds',
  budget: 'the budget is used up',
  frontier_empty: 'no experiment is left that may become a parent',
  no_hypothesis: 'no agent had a further hypothesis',
  no_idea: 'no idea of the backlog is left that may be tried',
  failures: 'too many experiments could not be judged',
  user: 'a person stopped it',
}

/** `, by 4 to 6`: between what the gain lies, in metric units. */
const between = (interval: PathStep['interval']): string =>
  interval ? `, by ${shown(interval[0])} to ${shown(interval[1])}` : ''

/** The largest steps of the best path, in its order. */
function improvements({ metric, path: whole }: SummaryInput): Line[] {
  // A step whose score belongs to another epoch is no step here: the next one counts from the last that is known.
  const path = whole.filter(({ value }, index) => value !== null || index === 0)
  const steps = path.slice(1).map((step, index) => {
    const before = path[index]?.value ?? null
    const gain = gainOf(before, step.value, metric.direction)
    const change = before === null || step.value === null ? 0 : Math.abs(step.value - before)
    return { step, before, gain, change: Number.isNaN(change) ? 0 : change }
  })
  if (steps.length === 0) return []
  const largest = new Set([...steps].sort((a, b) => b.change - a.change).slice(0, MOST_STEPS))
  const visible = steps.filter((step) => largest.has(step))
  const texts = visible.map(({ step, before, gain }) => ({
    experiment: plain(step.experiment, 20),
    values: `${shown(before)} ${GLYPHS.arrow} ${shown(step.value)}`,
    gain: `${gain === null ? '' : gainText(gain, before, step.value)}${between(step.interval)}`,
    hypothesis: plain(step.hypothesis, 200),
  }))
  const longest = (key: 'experiment' | 'values' | 'gain') =>
    texts.reduce((most, text) => Math.max(most, widthOf(text[key])), 0)
  const widths = { experiment: longest('experiment'), values: longest('values'), gain: longest('gain') }
  const lines = texts.map((text) => [
    cell('  '),
    cell(padEnd(text.experiment, widths.experiment), 'dim'),
    cell(`  ${text.values.padEnd(widths.values)}`),
    cell(`  ${text.gain.padStart(widths.gain)}`, text.gain.includes('worse') ? 'bad' : 'good'),
    cell(`  ${text.hypothesis}`),
  ])
  const rest = steps.length - visible.length
  return [
    [cell('key improvements', 'title')],
    ...lines,
    ...(rest > 0 ? [[cell(`  and ${rest} smaller`, 'dim')]] : []),
  ]
}
