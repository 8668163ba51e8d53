/** The chart of a run: axis and ticks, columns of experiments, marks, drawn on a canvas of cells. */
import { shown } from '../evaluate/figure.ts'
import { STATUSES, type Status } from '../ledger/events.ts'
import { plain } from '../text.ts'
import type { ChartColumns, ChartInput } from '../view/chart.ts'
import {
  type Cell,
  cell,
  clip,
  GLYPHS,
  type Line,
  merged,
  READING_ORDER,
  type TextRole,
  WEIGHT,
} from './lines.ts'

/**
 * The y range that shows what matters: the values in `must` (best path, baseline) always, and of the others all
 * that lie within three times the interquartile range of the middle half (Tukey's outer fences). What lies outside
 * is clipped by the chart, so that one wild value does not flatten the rest. Null when there is nothing to show. `sorted`: the lowest first.
 */
function rangeOf(sorted: Float64Array, must: readonly number[]): { low: number; high: number } | null {
  if (sorted.length === 0 && must.length === 0) return null
  const quarter = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  let low = must.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
  let high = must.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
  if (sorted.length > 0) {
    low = Math.min(low, quarter(0.25))
    high = Math.max(high, quarter(0.75))
    // Where the middle half is one value, the path tells the scale; where that is flat too, all is shown.
    const reach = 3 * (quarter(0.75) - quarter(0.25)) || high - low || Number.POSITIVE_INFINITY
    const fence = { low: Math.min(low, quarter(0.25) - reach), high: Math.max(high, quarter(0.75) + reach) }
    let [first, last] = [0, sorted.length - 1]
    while (first < last && (sorted[first] as number) < fence.low) first++
    while (first < last && (sorted[last] as number) > fence.high) last--
    low = Math.min(low, sorted[first] ?? low)
    high = Math.max(high, sorted[last] ?? high)
  }
  return { low, high }
}

/** An axis that begins and ends on round numbers. */
export interface AxisScale {
  low: number
  high: number
  /** Rows to draw, so that ticks stand evenly. */
  rows: number
  ticks: { value: number; label: string }[]
}

const STEPS = [1, 2, 2.5, 5]

/**
 * Four to six evenly spaced round ticks (with fewer than six rows, three may do) that cover `low … high`, with the
 * least space lost: to values that do not occur, and to rows that do not divide evenly. Equal ends are spread first.
 */
function scaleFor(low: number, high: number, rows: number): AxisScale {
  const [from, to] = spread(low, high)
  const least = rows < 6 ? 2 : 3
  let best: { first: number; last: number; step: number; digits: number; rows: number; lost: number } | null =
    null
  const power = Math.floor(Math.log10(to - from))
  for (let exponent = power - 2; exponent <= power + 1; exponent++)
    for (const factor of STEPS) {
      const step = factor * 10 ** exponent
      const first = Math.floor(from / step + 1e-9)
      const last = Math.ceil(to / step - 1e-9)
      const gaps = last - first
      if (!(gaps >= least && gaps <= Math.min(5, rows - 1))) continue
      const used = gaps * Math.floor((rows - 1) / gaps)
      const lost = (gaps * step) / (to - from) - 1 + (rows - 1 - used) / (rows - 1)
      if (best !== null && lost >= best.lost - 1e-9) continue
      best = { first, last, step, digits: factor === 2.5 ? 1 - exponent : -exponent, rows: used + 1, lost }
    }
  if (best === null)
    return { low: from, high: to, rows, ticks: [from, to].map((value) => ({ value, label: short(value) })) }
  const { first, last, step, digits } = best
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => {
    const value = (first + index) * step
    return { value, label: label(value, step, digits) }
  })
  return { low: first * step, high: last * step, rows: best.rows, ticks }
}

/** Ends that are equal, or that differ by less than numbers can show, get room around them. */
function spread(low: number, high: number): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high))
  if (high - low > Math.max(size * 1e-9, 1e-290)) return [low, high]
  const room = size > 1e-280 ? size * 0.05 : 1
  return [low - room, high + room]
}

function label(value: number, step: number, digits: number): string {
  const size = Math.abs(value)
  if (size < step / 2) return '0'
  const fixed = digits > 0 ? value.toFixed(Math.min(digits, 100)) : String(Math.round(value))
  if (fixed.length <= 9 && size < 1e9) return minus(fixed)
  const significant = Math.max(0, Math.ceil(Math.log10(size / step) + (digits > 0 ? 1 : 0)))
  return minus(
    value
      .toExponential(Math.min(significant, 12))
      .replace(/\.?0+e/, 'e')
      .replace('e+', 'e'),
  )
}

const short = (value: number): string => minus(String(Number(value.toPrecision(4))))
const minus = (text: string): string => text.replace(/^-/, '−')

/** A grid of one-column marks; of two marks on one spot the heavier stays, of equals the later. */
class Canvas {
  readonly width: number
  readonly height: number
  readonly #chars: string[]
  readonly #roles: TextRole[]
  readonly #weights: Float64Array

  constructor(width: number, height: number) {
    this.width = width
    this.height = height
    this.#chars = Array.from({ length: width * height }, () => ' ')
    this.#roles = Array.from({ length: width * height }, (): TextRole => 'plain')
    this.#weights = new Float64Array(width * height)
  }

  /** Marks outside the grid are ignored. */
  put(x: number, y: number, char: string, role: TextRole, weight: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return
    const at = y * this.width + x
    if (weight < (this.#weights[at] ?? 0)) return
    this.#chars[at] = char
    this.#roles[at] = role
    this.#weights[at] = weight
  }

  row(y: number): Line {
    const from = y * this.width
    return merged(
      this.#chars
        .slice(from, from + this.width)
        .map((text, x) => ({ text, role: this.#roles[from + x] ?? 'plain' })),
    )
  }
}

/** Where the points of a chart stand from left to right. */
export interface Columns {
  /** Columns in use. */
  used: number
  of(index: number): number
}

const WIDEST_STEP = 8
const LEAST_USED = 24

/** Few points stand apart, evenly; more points than columns share them. */
function columnsFor(points: number, width: number): Columns {
  if (points > width) return { used: width, of: (index) => Math.floor((index * width) / points) }
  const step = points > 1 ? Math.min(WIDEST_STEP, (width - 1) / (points - 1)) : 0
  const last = Math.round(step * Math.max(0, points - 1))
  return { used: Math.min(width, Math.max(last + 1, LEAST_USED)), of: (index) => Math.round(index * step) }
}

export interface Shown {
  status: Status
  /** null when there is none. */
  value: number | null
  column: number
}

function statusesIn({ statuses }: ChartColumns): Set<Status> {
  const found = STATUSES.map(() => false)
  for (let at = 0; at < statuses.length; at++) found[statuses[at] ?? 0] = true
  return new Set(STATUSES.filter((_, place) => found[place]))
}

const statusAt = ({ statuses }: ChartColumns, at: number): Status => STATUSES[statuses[at] ?? 0] ?? 'open'

/**
 * What a chart shows of each column: the best kept value and the best other one, and of those without a value the
 * one that matters most. With a column a point, that is everything.
 */
function shownOf(points: ChartColumns, columns: Columns, better: (a: number, b: number) => boolean): Shown[] {
  const { values, statuses } = points
  const kept = STATUSES.indexOf('kept')
  const weights = STATUSES.map((status) => WEIGHT[status])
  const wins = (one: number, other: number): boolean => {
    const [a, b] = [values[one] as number, values[other] as number]
    if (a < b || a > b) return better(a, b)
    return (weights[statuses[one] as number] ?? 0) > (weights[statuses[other] as number] ?? 0)
  }
  /** Points, in the order in which they were found first. */
  const shown = new Map<number, number>()
  let [last, in3] = [-1, [-1, -1, -1]]
  for (let at = 0; at < values.length; at++) {
    const column = columns.of(at)
    // Columns come one after the other.
    if (column !== last) in3 = [-1, -1, -1]
    last = column
    const kind = Number.isNaN(values[at]) ? 0 : statuses[at] === kept ? 1 : 2
    const before = in3[kind] as number
    if (before !== -1 && !wins(at, before)) continue
    in3[kind] = at
    shown.set(3 * column + kind, at)
  }
  return Array.from(shown, ([slot, at]) => {
    const value = values[at] as number
    return {
      ...{ status: statusAt(points, at), column: Math.floor(slot / 3) },
      value: Number.isNaN(value) ? null : value,
    }
  })
}

export interface AxisMark {
  column: number
  label: string
}

/** Experiment numbers under the axis: round ones, as many as have room. */
function marksFor(points: ChartColumns, columns: Columns): AxisMark[] {
  const numbers = ascending(points)
  const room = String(numbers.at(-1) ?? 0).length + 2
  for (let size = 1; size <= 1e12; size *= 10)
    for (const factor of [1, 2, 5]) {
      const marks = spaced(numbers, size * factor, columns, room)
      if (marks !== null) return marks
    }
  return []
}

/** Marks at the multiples of `step`; null as soon as two stand too close. */
function spaced(numbers: Float64Array, step: number, columns: Columns, room: number): AxisMark[] | null {
  const marks: AxisMark[] = []
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index] as number
    if (number % step !== 0) continue
    const column = columns.of(index)
    const before = marks.at(-1)
    if (before !== undefined && column - before.column < room) return null
    marks.push({ column, label: String(number) })
  }
  return marks
}

/** The numbers of the ids where they ascend, else the places in the list. */
function ascending({ numbers }: ChartColumns): Float64Array {
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    if (Number.isNaN(number) || (at > 0 && number <= (numbers[at - 1] as number)))
      return numbers.map((_, index) => index)
  }
  return numbers
}

export interface ChartSize {
  width: number
  height: number
}

const LEAST_SIZE = { width: 40, height: 10 } as const

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
  const { values, sorted } = finiteOnly(input.points.values)
  const points = { ...input.points, values }
  const base = finite(input.baseline)
  const stair = stairOf(input.best, points)
  const range = rangeOf(sorted, [...stair.map(({ value }) => value), ...(base === null ? [] : [base])])
  const bare = sorted.length < points.values.length
  const room = height - 4 - (bare ? 1 : 0)
  const target = finite(input.metric.target)
  const scale = range === null ? null : scaleFor(...withTarget(range, target), room)
  const rows = scale?.rows ?? room
  const gutter = Math.max(bare ? 4 : 0, ...(scale?.ticks ?? []).map(({ label }) => label.length)) + 1
  const columns = columnsFor(points.values.length, width - gutter - 2)
  const lower = input.metric.direction === 'minimize'
  const shown = shownOf(points, columns, (a, b) => (lower ? a < b : a > b))

  const canvas = new Canvas(columns.used, rows)
  const rowOf = (value: number) =>
    scale === null ? 0 : Math.round(((scale.high - value) / (scale.high - scale.low)) * (rows - 1))
  if (scale !== null) {
    const dashes = (value: number | null, char: string, role: TextRole, layer: number) => {
      if (value === null || value < scale.low || value > scale.high) return
      for (let x = 0; x < columns.used; x++) canvas.put(x, rowOf(value), char, role, layer)
    }
    dashes(base, GLYPHS.baseline, 'dim', LAYER.baseline)
    dashes(target, GLYPHS.dash, 'target', LAYER.target)
    drawStair(canvas, stair, columns, rowOf)
    drawPoints(canvas, shown, rowOf)
  }
  const lines: Line[] = [titleOf(input, scale)]
  for (let y = 0; y < rows; y++) {
    const tick = scale?.ticks.find(({ value }) => rowOf(value) === y)
    const empty = scale === null && y === rows >> 1 ? [cell(' no scores yet', 'dim')] : null
    lines.push([
      ...edge(tick?.label ?? '', gutter, tick ? GLYPHS.tick : GLYPHS.axis),
      ...(empty ?? canvas.row(y)),
    ])
  }
  if (bare) lines.push([...edge('none', gutter, GLYPHS.axis), ...bareRow(shown, columns)])
  const present = statusesIn(points)
  const drawn = {
    stair: stair.length > 0,
    baseline: base !== null && scale !== null,
    off: clippedMarks(shown, rowOf, rows),
    width,
  }
  lines.push(...floor(points, columns, gutter, width), legend(present, drawn))
  return lines.map((line) => clip(line, width))
}

/** Beyond this, differences of two values would overflow. */
const LARGEST = 1e300

function finite(value: number | null): number | null {
  return value === null || !Number.isFinite(value) ? null : Math.max(-LARGEST, Math.min(LARGEST, value))
}

/** The same for all, with NaN for none, and what is known of them, the lowest first. */
function finiteOnly(values: Float64Array): { values: Float64Array; sorted: Float64Array } {
  // NaN comes last.
  const all = values.slice().sort()
  let count = all.length
  while (count > 0 && Number.isNaN(all[count - 1])) count--
  const sorted = all.subarray(0, count)
  // Nearly always: then none has to be looked at.
  if (count === 0 || ((sorted[0] ?? 0) >= -LARGEST && (sorted[count - 1] ?? 0) <= LARGEST))
    return { values, sorted }
  return finiteOnly(values.map((value) => finite(value) ?? Number.NaN))
}

interface Step {
  index: number
  value: number
}

function stairOf(best: readonly number[], { values }: ChartColumns): Step[] {
  const steps = best.flatMap((index) => {
    const value = values[index] ?? Number.NaN
    return Number.isNaN(value) ? [] : [{ index, value }]
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
): void {
  for (const [place, { index, value }] of stair.entries()) {
    const from = columns.of(index)
    const y = rowOf(value)
    const next = stair[place + 1]
    const to = next === undefined ? canvas.width : columns.of(next.index)
    for (let x = from + 1; x < to; x++) canvas.put(x, y, GLYPHS.across, 'best', LAYER.stair)
    canvas.put(from, y, GLYPHS.status.kept, 'best', LAYER.best)
    if (next === undefined) continue
    const end = rowOf(next.value)
    const way = Math.sign(end - y)
    if (way === 0) continue
    if (to > from) canvas.put(to, y, way > 0 ? GLYPHS.turnDown : GLYPHS.turnUp, 'best', LAYER.stair)
    for (let row = y + way; row !== end; row += way) canvas.put(to, row, GLYPHS.up, 'best', LAYER.stair)
  }
}

function drawPoints(canvas: Canvas, shown: readonly Shown[], rowOf: (value: number) => number): void {
  for (const { column, ...point } of shown) {
    if (point.value === null) continue
    const y = rowOf(point.value)
    const weight = WEIGHT[point.status]
    if (y < 0) canvas.put(column, 0, GLYPHS.above, point.status, LAYER.clipped + weight)
    else if (y >= canvas.height)
      canvas.put(column, canvas.height - 1, GLYPHS.below, point.status, LAYER.clipped + weight)
    else canvas.put(column, y, GLYPHS.status[point.status], point.status, LAYER.point + weight)
  }
}

/** The marks of what lies beyond the edges, as far as they are drawn. */
function clippedMarks(shown: readonly Shown[], rowOf: (value: number) => number, rows: number): string {
  const at = shown.flatMap(({ value }) => (value === null ? [] : [rowOf(value)]))
  return `${at.some((y) => y < 0) ? GLYPHS.above : ''}${at.some((y) => y >= rows) ? GLYPHS.below : ''}`
}

function bareRow(shown: readonly Shown[], columns: Columns): Line {
  const canvas = new Canvas(columns.used, 1)
  for (const { status, value, column } of shown)
    if (value === null) canvas.put(column, 0, GLYPHS.status[status], status, LAYER.point + WEIGHT[status])
  return canvas.row(0)
}

function edge(label: string, gutter: number, mark: string): Cell[] {
  return [cell(`${label.padStart(gutter - 1)} ${mark} `, 'axis')]
}

function floor(points: ChartColumns, columns: Columns, gutter: number, width: number): Line[] {
  const line = Array.from({ length: columns.used + 1 }, () => GLYPHS.floor)
  const labels = Array.from({ length: width }, () => ' ')
  for (const { column, label } of marksFor(points, columns)) {
    line[column + 1] = GLYPHS.floorTick
    const start = Math.min(gutter + 2 + column - ((label.length - 1) >> 1), width - label.length)
    labels.splice(start, label.length, ...label)
  }
  return [
    [cell(`${' '.repeat(gutter)}${GLYPHS.corner}${line.join('')}`, 'axis')],
    [cell(labels.join('').trimEnd(), 'axis')],
  ]
}

function titleOf(input: ChartInput, scale: AxisScale | null): Line {
  const earlier = input.earlier ?? 0
  const title = goalOf(input, scale)
  return earlier > 0 ? [...title, cell(`; ${earlier} of earlier epochs not shown`, 'dim')] : title
}

function goalOf({ metric }: ChartInput, scale: AxisScale | null): Line {
  const unit = metric.unit === undefined || metric.unit === '' ? '' : ` (${plain(metric.unit, 12)})`
  const sense = metric.direction === 'minimize' ? 'lower is better' : 'higher is better'
  const title = [cell(plain(metric.name, 40), 'title'), cell(`${unit}, ${sense}`, 'dim')]
  const target = finite(metric.target)
  if (target === null) return title
  const drawn = scale !== null && target >= scale.low && target <= scale.high
  return [
    ...title,
    cell(', target ', 'dim'),
    cell(`${drawn ? `${GLYPHS.dash} ` : ''}${shown(target)}`, 'target'),
    cell(drawn || scale === null ? '' : ' (off the scale)', 'dim'),
  ]
}

/** Only entries that fit whole: half a word explains nothing. */
function legend(
  present: ReadonlySet<Status>,
  { stair, baseline, off, width }: { stair: boolean; baseline: boolean; off: string; width: number },
): Line {
  const entries: [string, TextRole, string][] = READING_ORDER.filter((status) => present.has(status)).map(
    (status) => [GLYPHS.status[status], status, status],
  )
  if (off !== '') entries.push([off, 'dim', 'off the scale'])
  if (stair) entries.push([GLYPHS.across, 'best', 'best so far'])
  if (baseline) entries.push([GLYPHS.baseline, 'dim', 'baseline'])
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
