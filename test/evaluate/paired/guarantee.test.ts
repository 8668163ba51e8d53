import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BettingStage, type PairedPlan, ScaleWindow, signFlipP } from '../../../cli/evaluate/paired.ts'
import { signFlipByEnumeration } from './oracle.ts'

const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 1000 }) },
  { weight: 1, arbitrary: fc.constantFrom(1, 1_000_000, Number.POSITIVE_INFINITY) },
)

/** Of a candidate without effect, given the sizes of its differences: every sign is a fair coin. All of them. */
function overAllSigns(sizes: readonly number[], of: (d: number[]) => boolean): number {
  let found = 0
  for (let signs = 0; signs < 2 ** sizes.length; signs++)
    if (of(sizes.map((value, i) => ((signs >> i) & 1 ? value : -value)))) found += 1
  return found / 2 ** sizes.length
}

describe('for a candidate without effect, whatever its noise', () => {
  test('the bets reach the value x in more than 1/x of all cases', () => {
    let most = 0
    const property = fc.property(
      fc.array(size, { minLength: 5, maxLength: 9 }),
      fc.array(size, { maxLength: 6 }),
      (sizes, pool) => {
        const plan: PairedPlan = { min: 2, max: 25, minImprovement: 0, seeksTie: false, tries: 100 }
        const worth = (d: number[]) => {
          const stage = new BettingStage('judge', new ScaleWindow(pool), plan)
          for (const value of d) stage.add(value)
          return stage.decision.e
        }
        for (const x of [2, 8, 31])
          expect(overAllSigns(sizes, (d) => worth(d) >= x)).toBeLessThanOrEqual(1 / x)
        most = Math.max(most, 31 * overAllSigns(sizes, (d) => worth(d) >= 31))
      },
    )
    fc.assert(property, { numRuns: 12, seed: 3 })
    // Not vacuous: some sizes come near to what is allowed.
    expect(most).toBeGreaterThan(0.4)
  })

  test.each(['judge', 'confirm'] as const)('a no-op passes %s more often than 1/e + p allows', (name) => {
    const property = fc.property(fc.array(size, { minLength: 9, maxLength: 10 }), (sizes) => {
      const plan: PairedPlan = { min: 2, max: sizes.length, minImprovement: 0, seeksTie: false, tries: 100 }
      let bound = 0
      const passed = overAllSigns(sizes, (d) => {
        const stage = new BettingStage(name, new ScaleWindow(), plan)
        for (const value of d) {
          stage.add(value)
          const { outcome } = stage.ending
          if (outcome !== null) return outcome === 'improved'
        }
        return false
      })
      const { e, p } = new BettingStage(name, new ScaleWindow(), plan).decision.bounds
      bound = 1 / e + p
      expect(passed).toBeLessThanOrEqual(bound)
    })
    fc.assert(property, { numRuns: 12, seed: 5 })
  })

  test('the p of the last look is not the share of sign assignments with at least the observed sum', () => {
    const signed = fc
      .tuple(fc.integer({ min: 0, max: 1000 }), fc.boolean())
      .map(([value, up]) => (up ? value : -value))
    fc.assert(
      fc.property(fc.array(signed, { maxLength: 10 }), (d) => {
        expect(signFlipP(d)).toBe(signFlipByEnumeration(d))
      }),
      { numRuns: 200 },
    )
  })

  test('the p of the last look is at most x in more than x of all cases', () => {
    fc.assert(
      fc.property(fc.array(size, { minLength: 1, maxLength: 9 }), (sizes) => {
        for (const x of [0.01, 0.05, 0.3])
          expect(overAllSigns(sizes, (d) => signFlipP(d) <= x)).toBeLessThanOrEqual(x)
      }),
      { numRuns: 20 },
    )
  })

  test.each([
    ['nothing', [], 1],
    ['zeros only', [0, 0, 0], 1],
    ['three of three', [1, 1, 1], 0.125],
    ['zeros do not count', [1, 0, 1, 0, 1], 0.125],
    ['infinite ones', [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 1], 0.125],
    ['one that is against', [3, 3, -1], 0.25],
    ['all against', [-2, -3], 1],
  ])('a golden p: %s', (_, d, p) => {
    expect(signFlipP(d)).toBe(p)
  })
})
