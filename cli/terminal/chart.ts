import type { Status } from '../ledger/events.ts'
import { plain } from '../text.ts'
import type { ChartInput, ChartPoint } from '../view/chart.ts'
import { figure } from '../view/figures.ts'
import { Canvas } from './canvas.ts'
import { type Columns, columnsFor, marksFor, type Shown, shownOf } from './columns.ts'
import { type Glyphs, glyphsOf, READING_ORDER, WEIGHT } from './glyphs.ts'
import { asciiOnly, type Cell, cell, clip, type Line, type Role } from './lines.ts'
import { rangeOf } from './range.ts'
import { type Scale, scaleFor } from './ticks.ts'

export interface ChartSize {
  width: number
  height: number
  /** Only ASCII characters. */
  ascii?: boolean
}

export const LEAST_SIZE = { width: 40, height: 10 } as const

/** The least grid weights of each layer, from back to front. */
const LAYER = { baseline: 1, target: 2, stair: 3, point: 10, clipped: 20, best: 30 } as const

/**
 * The score of each experiment over the order of experiments, with the best-so-far line through it. At most
 * `height` lines of at most `width` columns. Wild values are clipped to the edge and marked, experiments without a
 * value stand in a row of their own.
 */
export function chart(input: ChartInput, size: ChartSize): Line[] {
  const { width, height } = size
  if (width < LEAST_SIZE.width || height < LEAST_SIZE.height)
    return height < 1 || width < 1
      ? []
      : [clip([cell(`the chart needs ${LEAST_SIZE.width} × ${LEAST_SIZE.height}`, 'dim')], width)]
  const glyphs = glyphsOf(size.ascii)
  const points = input.points.map((point) => ({ ...point, value: finite(point.value) }))
  const base = finite(input.baseline)
  const stair = stairOf(input.best, points)
  const range = rangeOf(
    points.flatMap(({ value }) => (value === null ? [] : [value])),
    [...stair.map(({ value }) => value), ...(base === null ? [] : [base])],
  )
  const bare = points.some(({ value }) => value === null)
  const room = height - 4 - (bare ? 1 : 0)
  const target = finite(input.metric.target)
  const scale = range === null ? null : scaleFor(...withTarget(range, target), room)
  const rows = scale?.rows ?? room
  const gutter = Math.max(bare ? 4 : 0, ...(scale?.ticks ?? []).map(({ label }) => label.length)) + 1
  const columns = columnsFor(points.length, width - gutter - 2)
  const lower = input.metric.direction === 'minimize'
  const shown = shownOf(points, columns, (a, b) => (lower ? a < b : a > b))

  const canvas = new Canvas(columns.used, rows)
  const rowOf = (value: number) =>
    scale === null ? 0 : Math.round(((scale.high - value) / (scale.high - scale.low)) * (rows - 1))
  if (scale !== null) {
    const dashes = (value: number | null, char: string, role: Role, layer: number) => {
      if (value === null || value < scale.low || value > scale.high) return
      for (let x = 0; x < columns.used; x++) canvas.put(x, rowOf(value), char, role, layer)
    }
    dashes(base, glyphs.baseline, 'dim', LAYER.baseline)
    dashes(target, glyphs.dash, 'target', LAYER.target)
    drawStair(canvas, stair, columns, rowOf, glyphs)
    drawPoints(canvas, shown, rowOf, glyphs)
  }
  const lines: Line[] = [titleOf(input, scale, glyphs)]
  for (let y = 0; y < rows; y++) {
    const tick = scale?.ticks.find(({ value }) => rowOf(value) === y)
    const empty = scale === null && y === rows >> 1 ? [cell(' no scores yet', 'dim')] : null
    lines.push([
      ...edge(tick?.label ?? '', gutter, tick ? glyphs.tick : glyphs.axis),
      ...(empty ?? canvas.row(y)),
    ])
  }
  if (bare) lines.push([...edge('none', gutter, glyphs.axis), ...bareRow(shown, columns, glyphs)])
  const present = new Set(points.map(({ status }) => status))
  const drawn = {
    stair: stair.length > 0,
    baseline: base !== null && scale !== null,
    off: clippedMarks(shown, rowOf, rows, glyphs),
    width,
  }
  lines.push(...floor(points, columns, gutter, width, glyphs), legend(present, drawn, glyphs))
  return lines.map((line) => (size.ascii ? asciiOnly(clip(line, width)) : clip(line, width)))
}

/** Beyond this, differences of two values would overflow. */
const LARGEST = 1e300

function finite(value: number | null): number | null {
  return value === null || !Number.isFinite(value) ? null : Math.max(-LARGEST, Math.min(LARGEST, value))
}

interface Step {
  index: number
  value: number
}

function stairOf(best: readonly string[], points: readonly ChartPoint[]): Step[] {
  const places = new Map(points.map(({ experiment }, index) => [experiment, index]))
  const steps = best.flatMap((experiment) => {
    const index = places.get(experiment)
    const value = index === undefined ? null : (points[index]?.value ?? null)
    return index === undefined || value === null ? [] : [{ index, value }]
  })
  // A line that ran back to the left would be unreadable.
  let reached = -1
  return steps.filter(({ index }) => {
    const ahead = index > reached
    if (ahead) reached = index
    return ahead
  })
}

/** A target nearby is worth some empty rows; one far away would flatten the points. */
function withTarget({ low, high }: { low: number; high: number }, target: number | null): [number, number] {
  const near = (high - low) / 2
  if (target === null || target < low - near || target > high + near) return [low, high]
  return [Math.min(low, target), Math.max(high, target)]
}

function drawStair(
  canvas: Canvas,
  stair: readonly Step[],
  columns: Columns,
  rowOf: (value: number) => number,
  glyphs: Glyphs,
): void {
  for (const [place, { index, value }] of stair.entries()) {
    const from = columns.of(index)
    const y = rowOf(value)
    const next = stair[place + 1]
    const to = next === undefined ? canvas.width : columns.of(next.index)
    for (let x = from + 1; x < to; x++) canvas.put(x, y, glyphs.across, 'best', LAYER.stair)
    canvas.put(from, y, glyphs.status.kept, 'best', LAYER.best)
    if (next === undefined) continue
    const end = rowOf(next.value)
    const way = Math.sign(end - y)
    if (way === 0) continue
    if (to > from) canvas.put(to, y, way > 0 ? glyphs.turnDown : glyphs.turnUp, 'best', LAYER.stair)
    for (let row = y + way; row !== end; row += way) canvas.put(to, row, glyphs.up, 'best', LAYER.stair)
  }
}

function drawPoints(
  canvas: Canvas,
  shown: readonly Shown[],
  rowOf: (value: number) => number,
  glyphs: Glyphs,
): void {
  for (const { point, column } of shown) {
    if (point.value === null) continue
    const y = rowOf(point.value)
    const weight = WEIGHT[point.status]
    if (y < 0) canvas.put(column, 0, glyphs.above, point.status, LAYER.clipped + weight)
    else if (y >= canvas.height)
      canvas.put(column, canvas.height - 1, glyphs.below, point.status, LAYER.clipped + weight)
    else canvas.put(column, y, glyphs.status[point.status], point.status, LAYER.point + weight)
  }
}

/** The marks of what lies beyond the edges, as far as they are drawn. */
function clippedMarks(
  shown: readonly Shown[],
  rowOf: (value: number) => number,
  rows: number,
  { above, below }: Glyphs,
): string {
  const at = shown.flatMap(({ point: { value } }) => (value === null ? [] : [rowOf(value)]))
  return `${at.some((y) => y < 0) ? above : ''}${at.some((y) => y >= rows) ? below : ''}`
}

function bareRow(shown: readonly Shown[], columns: Columns, glyphs: Glyphs): Line {
  const canvas = new Canvas(columns.used, 1)
  for (const { point, column } of shown)
    if (point.value === null)
      canvas.put(column, 0, glyphs.status[point.status], point.status, LAYER.point + WEIGHT[point.status])
  return canvas.row(0)
}

function edge(label: string, gutter: number, mark: string): Cell[] {
  return [cell(`${label.padStart(gutter - 1)} ${mark} `, 'axis')]
}

function floor(
  points: readonly ChartPoint[],
  columns: Columns,
  gutter: number,
  width: number,
  glyphs: Glyphs,
): Line[] {
  const line = Array.from({ length: columns.used + 1 }, () => glyphs.floor)
  const labels = Array.from({ length: width }, () => ' ')
  for (const { column, label } of marksFor(points, columns)) {
    line[column + 1] = glyphs.floorTick
    const start = Math.min(gutter + 2 + column - ((label.length - 1) >> 1), width - label.length)
    labels.splice(start, label.length, ...label)
  }
  return [
    [cell(`${' '.repeat(gutter)}${glyphs.corner}${line.join('')}`, 'axis')],
    [cell(labels.join('').trimEnd(), 'axis')],
  ]
}

function titleOf(input: ChartInput, scale: Scale | null, glyphs: Glyphs): Line {
  const earlier = input.earlier ?? 0
  const title = goalOf(input, scale, glyphs)
  return earlier > 0 ? [...title, cell(`; ${earlier} of earlier epochs not shown`, 'dim')] : title
}

function goalOf({ metric }: ChartInput, scale: Scale | null, glyphs: Glyphs): Line {
  const unit = metric.unit === undefined || metric.unit === '' ? '' : ` (${plain(metric.unit, 12)})`
  const sense = metric.direction === 'minimize' ? 'lower is better' : 'higher is better'
  const title = [cell(plain(metric.name, 40), 'title'), cell(`${unit}, ${sense}`, 'dim')]
  const target = finite(metric.target)
  if (target === null) return title
  const drawn = scale !== null && target >= scale.low && target <= scale.high
  return [
    ...title,
    cell(', target ', 'dim'),
    cell(`${drawn ? `${glyphs.dash} ` : ''}${figure(target)}`, 'target'),
    cell(drawn || scale === null ? '' : ' (off the scale)', 'dim'),
  ]
}

/** Only entries that fit whole: half a word explains nothing. */
function legend(
  present: ReadonlySet<Status>,
  { stair, baseline, off, width }: { stair: boolean; baseline: boolean; off: string; width: number },
  glyphs: Glyphs,
): Line {
  const entries: [string, Role, string][] = READING_ORDER.filter((status) => present.has(status)).map(
    (status) => [glyphs.status[status], status, status],
  )
  if (off !== '') entries.push([off, 'dim', 'off the scale'])
  if (stair) entries.push([glyphs.across, 'best', 'best so far'])
  if (baseline) entries.push([glyphs.baseline, 'dim', 'baseline'])
  const cells: Cell[] = []
  let used = 0
  for (const [mark, role, text] of entries) {
    const gap = used === 0 ? '' : '  '
    used += gap.length + mark.length + 1 + text.length
    if (used > width) break
    cells.push(cell(gap + mark, role), cell(` ${text}`, 'dim'))
  }
  return cells
}
