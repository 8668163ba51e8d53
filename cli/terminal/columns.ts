import type { ChartPoint } from '../view/chart.ts'
import { WEIGHT } from './glyphs.ts'

/** Where the points of a chart stand from left to right. */
export interface Columns {
  /** Columns in use. */
  used: number
  of(index: number): number
}

const WIDEST_STEP = 8
const LEAST_USED = 24

/** Few points stand apart, evenly; more points than columns share them. */
export function columnsFor(points: number, width: number): Columns {
  if (points > width) return { used: width, of: (index) => Math.floor((index * width) / points) }
  const step = points > 1 ? Math.min(WIDEST_STEP, (width - 1) / (points - 1)) : 0
  const last = Math.round(step * Math.max(0, points - 1))
  return { used: Math.min(width, Math.max(last + 1, LEAST_USED)), of: (index) => Math.round(index * step) }
}

export interface Shown {
  point: ChartPoint
  column: number
}

/**
 * What a chart shows of each column: the best kept value and the best other one, and of those without a value the
 * one that matters most. With a column a point, that is everything.
 */
export function shownOf(
  points: readonly ChartPoint[],
  columns: Columns,
  better: (a: number, b: number) => boolean,
): Shown[] {
  const shown = new Map<number, Shown>()
  for (const [index, point] of points.entries()) {
    const column = columns.of(index)
    const slot = 3 * column + (point.value === null ? 0 : point.status === 'kept' ? 1 : 2)
    const before = shown.get(slot)?.point
    if (before === undefined || wins(point, before, better)) shown.set(slot, { point, column })
  }
  return [...shown.values()]
}

function wins(a: ChartPoint, b: ChartPoint, better: (a: number, b: number) => boolean): boolean {
  if (a.value !== null && b.value !== null && a.value !== b.value) return better(a.value, b.value)
  return WEIGHT[a.status] > WEIGHT[b.status]
}

export interface Mark {
  column: number
  label: string
}

/** Experiment numbers under the axis: round ones, as many as have room. */
export function marksFor(points: readonly ChartPoint[], columns: Columns): Mark[] {
  const numbers = numbersOf(points)
  const room = String(numbers.at(-1) ?? 0).length + 2
  for (let size = 1; size <= 1e12; size *= 10)
    for (const factor of [1, 2, 5]) {
      const marks = spaced(numbers, size * factor, columns, room)
      if (marks !== null) return marks
    }
  return []
}

/** Marks at the multiples of `step`; null as soon as two stand too close. */
function spaced(numbers: readonly number[], step: number, columns: Columns, room: number): Mark[] | null {
  const marks: Mark[] = []
  for (const [index, number] of numbers.entries()) {
    if (number % step !== 0) continue
    const column = columns.of(index)
    const before = marks.at(-1)
    if (before !== undefined && column - before.column < room) return null
    marks.push({ column, label: String(number) })
  }
  return marks
}

/** The numbers of the ids where they ascend, else the places in the list. */
function numbersOf(points: readonly ChartPoint[]): number[] {
  const numbers = points.map(({ experiment }) => Number(/(\d{1,12})$/.exec(experiment)?.[1] ?? Number.NaN))
  const ascend = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))
  return ascend && numbers.every(Number.isFinite) ? numbers : points.map((_, index) => index)
}
