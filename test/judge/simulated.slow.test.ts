import { describe, expect, test } from 'vitest'
// @ts-expect-error: a script of the benchmarks, without types
import * as simulated from '../../scripts/bench/judge/worker.mjs'

const { POWER, power, JUDGES, falseKeeps } = simulated

describe('a smaller bench:judge', () => {
  test.each([
    [0.6, 23, 152],
    [0.7, 96, 164],
    [0.8, 100, 122],
  ])(
    'of 8 items a pair, a winner of the share %d is kept more or less often than designed',
    (share, kept, items) => {
      const found = power(POWER[2], share, 300, 2)
      expect(Math.abs(100 * found.kept - kept)).toBeLessThan(10)
      expect(Math.abs(found.items - items)).toBeLessThan(0.15 * items)
    },
  )

  test.each(JUDGES as { name: string }[])('$name: candidates that change nothing are kept', (judge) => {
    // Three of 1,500 have a chance of 4 % at the most that theory allows.
    expect(falseKeeps(judge, 1500, 7).kept).toBeLessThan(4)
  })

  test('a judge by merit is not trusted, or one that answers can lead or that goes by the place is', () => {
    const trusted = (name: string) =>
      falseKeeps(
        (JUDGES as { name: string }[]).find((one) => one.name === name),
        200,
      ).trusted
    expect(trusted('blind to the place')).toBeGreaterThan(0.9)
    expect(trusted('always the first')).toBe(0)
    expect(trusted('does what an answer asks for')).toBe(0)
  })
})
