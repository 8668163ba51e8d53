import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { STATUSES, type Status } from '../../cli/ledger/events.ts'
import { chart } from '../../cli/terminal/chart.ts'
import { lineWidth } from '../../cli/terminal/lines.ts'
import type { ChartColumns, ChartInput } from '../../cli/view/chart.ts'
import { hostile, numbers, OBEYED, statuses, text } from './render.ts'

const columnsOf = (list: { number: number; status: Status; value: number | null }[]): ChartColumns => ({
  values: Float64Array.from(list, ({ value }) => value ?? Number.NaN),
  statuses: list.map(({ status }) => STATUSES.indexOf(status)),
  numbers: Float64Array.from(list, ({ number }) => number),
})
const points = (...list: [Status, number | null][]): ChartColumns =>
  columnsOf(list.map(([status, value], number) => ({ number, status, value })))
const input = (list: ChartColumns, best: number[], given: Partial<ChartInput> = {}): ChartInput => ({
  metric: { name: 'latency', direction: 'minimize', unit: 'ms', target: null },
  points: list,
  best,
  baseline: Number.isNaN(list.values[0]) ? null : (list.values[0] ?? null),
  ...given,
})
const draw = (given: ChartInput, width = 44, height = 12) => `\n${text(chart(given, { width, height }))}\n`

const usual = input(
  points(
    ['kept', 10],
    ['rejected', 11],
    ['kept', 8],
    ['failed', null],
    ['rejected', 9],
    ['kept', 6],
    ['running', null],
  ),
  [0, 2, 5],
)

describe('whole charts', () => {
  test('a status, the line of the best so far or the baseline is drawn wrongly, or not at all', () => {
    expect(draw(usual)).toMatchInlineSnapshot(`
      "
      latency (ms), lower is better
        11 ┤       ○
        10 ┤ ●───────────╮┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
         9 ┤             │           ○
         8 ┤             ●─────────────────╮
         7 ┤                               │
         6 ┤                               ●──────
      none │                   ×                 ◐
           └─┬─────┬─────┬─────┬─────┬─────┬─────┬
             0     1     2     3     4     5     6
      ● kept  ○ rejected  × failed  ◐ running
      "
    `)
  })

  test('a target in reach is not drawn as a line', () => {
    expect(draw({ ...usual, metric: { ...usual.metric, target: 5 } })).toMatchInlineSnapshot(`
      "
      latency (ms), lower is better, target ╌ 5
      12.5 ┤
           │       ○
      10.0 ┤ ●───────────╮┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
           │             │           ○
       7.5 ┤             ●─────────────────╮
           │                               ●──────
       5.0 ┤ ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
      none │                   ×                 ◐
           └─┬─────┬─────┬─────┬─────┬─────┬─────┬
             0     1     2     3     4     5     6
      ● kept  ○ rejected  × failed  ◐ running
      "
    `)
  })

  test('the line of the best does not climb when higher is better, or values below 0 are drawn wrongly', () => {
    const climbing = input(
      points(['kept', -0.2], ['kept', -0.1], ['rejected', -0.3], ['kept', 0.1]),
      [0, 1, 3],
      {
        metric: { name: 'reward', direction: 'maximize', target: null },
      },
    )
    expect(draw(climbing)).toMatchInlineSnapshot(`
      "
      reward, higher is better
       0.1 ┤                         ●
         0 ┤                         │
      −0.1 ┤         ●───────────────╯
      −0.2 ┤ ●───────╯┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
      −0.3 ┤                 ○
           └─┬───────┬───────┬───────┬
             0       1       2       3
      ● kept  ○ rejected  ─ best so far
      "
    `)
  })

  test('a value far off the scale flattens the others, or is not marked at the edge', () => {
    const wild = input(
      points(
        ['kept', 10],
        ['rejected', 10.4],
        ['rejected', 9_000],
        ['rejected', -500],
        ['kept', 9.6],
        ['rejected', 10.2],
      ),
      [0, 4],
    )
    expect(draw(wild)).toMatchInlineSnapshot(`
      "
      latency (ms), lower is better
      10.4 ┤        ○      ▲
      10.2 ┤                                     ○
      10.0 ┤ ●────────────────────────────╮┈┈┈┈┈┈┈
       9.8 ┤                              │
       9.6 ┤                       ▼      ●───────
           └─┬──────┬──────┬───────┬──────┬──────┬
             0      1      2       3      4      5
      ● kept  ○ rejected  ▲▼ off the scale
      "
    `)
  })

  test('a chart of one point is drawn wrongly, or not at all', () => {
    expect(draw(input(points(['kept', 100]), [0]), 40, 10)).toMatchInlineSnapshot(`
      "
      latency (ms), lower is better
      105.0 ┤
      102.5 ┤
      100.0 ┤ ●───────────────────────
       97.5 ┤
       95.0 ┤
            └─┬───────────────────────
              0
      ● kept  ─ best so far  ┈ baseline
      "
    `)
  })

  test('equal values of which none is kept are drawn wrongly, or not at all', () => {
    expect(
      draw(input(points(['rejected', -5], ['rejected', -5]), [], { baseline: null }), 40, 10),
    ).toMatchInlineSnapshot(`
      "
      latency (ms), lower is better
      −4.6 ┤
      −4.8 ┤
      −5.0 ┤ ○       ○
      −5.2 ┤
      −5.4 ┤
           └─┬───────┬───────────────
             0       1
      ○ rejected
      "
    `)
  })

  test('a chart without a score does not say that there is none yet', () => {
    expect(draw(input(points(['failed', null], ['open', null]), []), 40, 10)).toMatchInlineSnapshot(`
      "
      latency (ms), lower is better
           │
           │
           │  no scores yet
           │
           │
      none │ ×       ◦
           └─┬───────┬───────────────
             0       1
      × failed  ◦ open
      "
    `)
  })

  test('experiments do not share columns when there are more of them than columns, or one of the best is lost', () => {
    const many = Array.from({ length: 400 }, (_, at): [Status, number] =>
      at % 40 === 0 ? ['kept', 100 - at / 5] : ['rejected', 100 - at / 5 + 20 + (at % 7)],
    )
    const best = Array.from({ length: 10 }, (_, at) => at * 40)
    expect(draw(input(points(...many), best), 60, 16)).toMatchInlineSnapshot(`
      "
      latency (ms), lower is better
      125 ┤
          │ ○○○○○○○○○
      100 ┤ ●────╮┈┈┈○○○○○○○○┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈
          │      ●────●─────╮○○○○○○○○○
       75 ┤                 ●────╮    ○○○○○○○○
          │                      ●─────●────╮ ○○○○○○○○○
       50 ┤                                 ●────●─────○○○○○○○○
          │                                            ●────╮  ○○○
       25 ┤                                                 ●─────
          └─┬─────┬──────┬──────┬──────┬─────┬──────┬──────┬──────
            0     50    100    150    200   250    300    350
      ● kept  ○ rejected  ─ best so far  ┈ baseline
      "
    `)
  })
})

test('a chart that has too little room does not say what it needs, or exceeds the room', () => {
  expect(text(chart(usual, { width: 39, height: 12 }))).toBe('the chart needs 40 × 10')
  expect(text(chart(usual, { width: 9, height: 12 }))).toBe('the char…')
  expect(chart(usual, { width: 80, height: 0 })).toEqual([])
})

test('a chart exceeds its room, shows NaN, or holds text that the terminal obeys', () => {
  const any = fc.record({
    metric: fc.record({
      name: hostile,
      direction: fc.constantFrom('minimize', 'maximize'),
      unit: hostile,
      target: numbers,
    }),
    points: fc.array(
      fc.record({
        number: fc.oneof(fc.constant(Number.NaN), fc.nat(99_999)),
        status: statuses,
        value: numbers,
      }),
      { maxLength: 150 },
    ),
    picks: fc.array(fc.nat(), { maxLength: 10 }),
    baseline: numbers,
  })
  fc.assert(
    fc.property(
      any,
      fc.integer({ min: 0, max: 130 }),
      fc.integer({ min: 0, max: 40 }),
      (data, width, height) => {
        const best = data.picks.map((pick) => pick % Math.max(1, data.points.length))
        const given = { ...data, points: columnsOf(data.points), best }
        const lines = chart(given, { width, height })
        expect(lines.length).toBeLessThanOrEqual(height)
        for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width)
        const whole = lines.map((line) => line.map((cell) => cell.text).join('')).join('')
        // Names may hold any word; the axis and the plot may not.
        expect(text(lines.slice(1))).not.toMatch(/NaN|undefined|Infinity/)
        expect(whole).not.toMatch(OBEYED)
      },
    ),
    { numRuns: 300 },
  )
})

test('an axis has fewer than four or more than six ticks, or two labels alike', () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1e12, max: 1e12, noNaN: true }),
      fc.integer({ min: -6, max: 12 }),
      fc.integer({ min: 12, max: 40 }),
      (start, power, height) => {
        const given = input(points(['kept', start], ['kept', start + 10 ** power]), [0, 1])
        const labels = chart(given, { width: 80, height })
          .map((line) => /^\s*(\S+) ┤/.exec(line.map((cell) => cell.text).join(''))?.[1])
          .filter((label) => label !== undefined)
        expect(labels.length).toBeGreaterThanOrEqual(4)
        expect(labels.length).toBeLessThanOrEqual(6)
        expect(new Set(labels).size).toBe(labels.length)
      },
    ),
  )
})

test('a hundred thousand points cannot be drawn', () => {
  const many = Array.from({ length: 100_000 }, (_, at): [Status, number] => ['rejected', (at * 7919) % 1000])
  const lines = chart(input(points(['kept', 1000], ...many), [0]), { width: 100, height: 24 })
  expect(lines).toHaveLength(21)
})
