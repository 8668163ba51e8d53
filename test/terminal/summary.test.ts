import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineWidth } from '../../cli/terminal/lines.ts'
import { summary } from '../../cli/terminal/summary.ts'
import type { SummaryInput } from '../../cli/view/chart.ts'
import { hostile, numbers, OBEYED, text } from './render.ts'

const usual: SummaryInput = {
  metric: { name: 'latency', direction: 'minimize', unit: 'ms', target: 3 },
  counts: { kept: 3, rejected: 4, failed: 1, running: 0 },
  path: [
    { experiment: 'exp_0000', value: 10, hypothesis: '' },
    { experiment: 'exp_0002', value: 9.5, hypothesis: 'sort once' },
    { experiment: 'exp_0007', value: 5, hypothesis: 'cache\nthe \x1b[31mrows' },
  ],
  budget: {
    experiments: { used: 7, limit: 20 },
    hours: { used: 1.26, limit: null, at_least: true },
    failures: { used: 1, limit: null },
  },
  stop: 'stall',
}

test('the result, the counts, the budget, the stop or a step of the best path is told wrongly, or not at all', () => {
  expect(text(summary(usual, 100))).toBe(
    [
      'latency        10 → 5 ms  50 % better  exp_0000 → exp_0007  target 3 ms',
      'experiments    8  ● 3 kept  ○ 4 rejected  × 1 failed',
      'budget         7 of 20 experiments, at least 1.3 hours, 1 failure',
      'stopped        no new best for too many rounds',
      'key improvements',
      '  exp_0002  10 → 9.5     5 % better  sort once',
      '  exp_0007  9.5 → 5   47.4 % better  cache the \\x1b[31mrows',
    ].join('\n'),
  )
})

test('a gain is claimed when nothing is better, over a baseline of 0, or without a baseline', () => {
  expect(text(summary({ ...usual, path: usual.path.slice(0, 1), stop: null }, 100)).split('\n')).toEqual([
    'latency        10 ms  the baseline; nothing better yet  target 3 ms',
    'experiments    8  ● 3 kept  ○ 4 rejected  × 1 failed',
    'budget         7 of 20 experiments, at least 1.3 hours, 1 failure',
  ])
  const path = [
    { experiment: 'a', value: 0, hypothesis: '' },
    { experiment: 'b', value: -2, hypothesis: 'h' },
  ]
  expect(text(summary({ ...usual, path }, 100)).split('\n')[0]).toBe(
    'latency        0 → -2 ms  a → b  target 3 ms',
  )
  expect(text(summary({ ...usual, path: [] }, 100)).split('\n')[0]).toBe('latency        no baseline yet')
})

test('a step is shown that is not among the eight largest, or the steps are not in the order of the path', () => {
  const path = Array.from({ length: 30 }, (_, at) => ({
    experiment: `e${at}`,
    value: 1000 - at * at,
    hypothesis: `h${at}`,
  }))
  const lines = text(summary({ ...usual, path }, 100)).split('\n')
  expect(lines.slice(5).map((line) => /e\d+/.exec(line)?.[0] ?? line)).toEqual([
    'e22',
    'e23',
    'e24',
    'e25',
    'e26',
    'e27',
    'e28',
    'e29',
    '  and 21 smaller',
  ])
})

test('a summary exceeds its room, shows NaN, or holds text that the terminal obeys', () => {
  const used = fc.record({
    used: fc.double({ min: 0, noNaN: true }),
    limit: fc.option(fc.nat()),
    at_least: fc.boolean(),
  })
  const any = fc.record({
    metric: fc.record({
      name: hostile,
      direction: fc.constantFrom('minimize', 'maximize'),
      unit: hostile,
      target: numbers,
    }),
    counts: fc.constant({ kept: 1 }),
    path: fc.array(fc.record({ experiment: hostile, value: numbers, hypothesis: hostile }), {
      maxLength: 20,
    }),
    budget: fc.record({ experiments: used, hours: used, failures: used }),
    stop: fc.constantFrom(null, 'user'),
    duration: fc.record({ ms: fc.double(), active_ms: fc.double() }),
    spend: fc.record({
      calls: fc.nat(),
      tokens_in: fc.nat(),
      tokens_out: fc.nat(),
      usd: fc.double({ min: 0 }),
      at_least: fc.boolean(),
    }),
    left: fc.record({ repairable: fc.nat(), retests: fc.nat(), ideas: fc.nat() }),
  })
  fc.assert(
    fc.property(any, fc.integer({ min: 0, max: 120 }), (data, width) => {
      const lines = summary(data, width)
      expect(lines.length).toBeLessThanOrEqual(19)
      for (const line of lines) expect(lineWidth(line)).toBeLessThanOrEqual(width)
      const whole = lines
        .flat()
        .map((cell) => cell.text)
        .join('')
      expect(whole).not.toMatch(OBEYED)
      expect(whole.replaceAll(/NaN|undefined/g, '')).toBe(whole)
    }),
  )
})
