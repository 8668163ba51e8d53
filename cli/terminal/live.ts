import { duration, gainOf, gainText, shown } from '../evaluate/figure.ts'
import type { Direction, Status, StopReason } from '../ledger/events.ts'
import { padEnd, plain, widthOf } from '../text.ts'
import type { BudgetUsed } from '../view/chart.ts'
import { BLANK, type Cell, cell, clip, GLYPHS, type Line, lineWidth } from './lines.ts'
import { STOPPED, spent } from './summary.ts'

export interface LiveLane {
  lane: number
  experiment: string | null
  /** What it does now: a step of the pipeline, or the agent's work. */
  step: string
  since_ms: number
  note: string
}

export interface LiveModel {
  run: string
  round: number | null
  phase: string
  elapsed_ms: number
  metric: { name: string; direction: Direction; unit?: string; target: number | null }
  baseline: number | null
  best: { experiment: string; value: number | null } | null
  budget: { experiments: BudgetUsed; hours: BudgetUsed; failures: BudgetUsed }
  stall: { now: number; limit: number | null }
  lanes: readonly LiveLane[]
  /** The last results, latest first. */
  recent: readonly { status: Status; text: string }[]
  stop: StopReason | null
}

/**
 * What `assay loop` shows while it runs: at most `height` lines of at most `width` columns. When there is less room,
 * old results go first, then lanes.
 */
export function liveFrame(model: LiveModel, width: number, height: number): Line[] {
  const head = [headOf(model, width), scoreOf(model), ...budgetOf(model)]
  if (model.stop !== null)
    head.push([
      cell('stopped: ', 'title'),
      cell(STOPPED[model.stop], model.stop === 'target' ? 'good' : 'warn'),
    ])
  const lanes = model.lanes.length > 0 ? [BLANK, ...lanesOf(model.lanes)] : []
  const recent =
    model.recent.length > 0
      ? [
          BLANK,
          ...model.recent.map(({ status, text }) => [
            cell(`  ${GLYPHS.status[status]} `, status),
            cell(plain(text, width)),
          ]),
        ]
      : []
  const lines: Line[] = head.slice(0, Math.max(0, height))
  for (const part of [lanes, recent]) {
    const room = height - lines.length
    // A blank line alone would be a gap over nothing.
    if (room >= 2) lines.push(...part.slice(0, room))
  }
  return lines.map((line) => clip(line, width))
}

function headOf(model: LiveModel, width: number): Line {
  const left = [
    cell(plain(model.run, 30), 'title'),
    ...(model.round === null ? [] : [cell(` · round ${model.round}`)]),
    ...(model.phase === '' ? [] : [cell(' · '), cell(plain(model.phase, 40), 'running')]),
  ]
  const clock = duration(model.elapsed_ms)
  const used = lineWidth(left)
  const gap = width - used - clock.length
  return gap < 2 ? left : [...left, cell(' '.repeat(Math.min(gap, 60))), cell(clock, 'dim')]
}

function scoreOf({ metric, baseline, best }: LiveModel): Line {
  const unit = plain(metric.unit ?? '', 12)
  const cells = [cell(plain(metric.name, 30), 'title'), cell('  ')]
  if (best === null || best.value === null)
    return [...cells, cell(baseline === null ? 'no score yet' : shown(baseline, unit)), ...goal()]
  const gain = gainOf(baseline, best.value, metric.direction)
  return [
    ...cells,
    cell(`${shown(baseline)} ${GLYPHS.arrow} `),
    cell(shown(best.value, unit), 'best'),
    cell(
      gain === null ? '' : `  ${gainText(gain, baseline, best.value)}`,
      gain !== null && gain < 0 ? 'bad' : 'good',
    ),
    cell(`  ${plain(best.experiment, 24)}`, 'dim'),
    ...goal(),
  ]

  function goal(): Cell[] {
    return metric.target === null ? [] : [cell(`  target ${shown(metric.target, unit)}`, 'target')]
  }
}

const BAR = 16

function budgetOf({ budget, stall }: LiveModel): Line[] {
  const { used, limit } = budget.experiments
  const share = limit === null || limit <= 0 ? null : Math.min(1, Math.max(0, used / limit))
  const full = Math.round((share ?? 0) * BAR)
  const bar =
    share === null
      ? []
      : [
          cell(GLYPHS.bar.repeat(full), share >= 0.9 ? 'warn' : 'good'),
          cell(`${GLYPHS.barRest.repeat(BAR - full)}  `, 'dim'),
        ]
  const rest = [spent(budget.experiments, 'experiments'), spent(budget.hours, 'hours')]
  if (budget.failures.used > 0) rest.push(spent(budget.failures, 'failures'))
  const stalled = `stall ${stall.now}${stall.limit === null ? '' : ` of ${stall.limit}`}`
  return [
    [
      ...bar,
      cell(rest.join(', ')),
      ...(stall.now > 0
        ? [cell(`, ${stalled}`, stall.limit !== null && stall.now + 1 >= stall.limit ? 'warn' : 'plain')]
        : []),
    ],
  ]
}

function lanesOf(lanes: readonly LiveLane[]): Line[] {
  const texts = lanes.map(({ lane, experiment, step, since_ms, note }) => ({
    lane: String(lane),
    experiment: plain(experiment ?? '', 24),
    step: plain(step, 24),
    since: duration(since_ms),
    note: plain(note, 240),
  }))
  const longest = (key: 'lane' | 'experiment' | 'step' | 'since') =>
    texts.reduce((most, text) => Math.max(most, widthOf(text[key])), 0)
  const widths = {
    lane: longest('lane'),
    experiment: longest('experiment'),
    step: longest('step'),
    since: longest('since'),
  }
  return texts.map((text) => [
    cell(`  ${GLYPHS.status.running} `, 'running'),
    cell(`${padEnd(text.lane, widths.lane)}  `, 'dim'),
    cell(padEnd(text.experiment, widths.experiment)),
    cell(`  ${padEnd(text.step, widths.step)}`, 'running'),
    cell(`  ${text.since.padStart(widths.since)}`, 'dim'),
    cell(`  ${text.note}`, 'dim'),
  ])
}
