import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  BettingStage,
  decidePairs,
  fewestPairs,
  type PairedPlan,
  ScaleWindow,
} from '../../../cli/evaluate/paired.ts'
import { oracle } from './oracle.ts'

const PLAN: PairedPlan = { min: 2, max: 25, minImprovement: 0, seeksTie: false, tries: 100 }
const STAGES = ['judge', 'confirm'] as const
const POOL = [0.02, -0.03, 0.01, 0.025, -0.015]

/** Much better in six pairs of thirteen, the same in the others. */
const HOLLOW = [0.5, 0, 0.5, 0, 0, 0.5, 0, 0.5, 0, 0, 0.5, 0, 0.5]

const repeat = (value: number, times: number) => new Array<number>(times).fill(value)
/** In steps of 1e-5: residuals differ by less than seven digits, so that neither side's arithmetic is at its limit. */
const difference = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -10_000, max: 10_000 }).map((steps) => steps / 100_000) },
  { weight: 1, arbitrary: fc.constantFrom(0, 0.04, -0.04) },
)
const wild = fc.oneof(
  { weight: 6, arbitrary: difference },
  {
    weight: 1,
    arbitrary: fc.constantFrom(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e300),
  },
)
const differences = (of = difference, maxLength = 25) => fc.array(of, { maxLength })
/** Leaning to one side, so that all outcomes come up. */
const leaning = fc
  .tuple(differences(), fc.constantFrom(-0.05, 0, 0.03, 0.08))
  .map(([d, by]) => d.map((value) => value + by))
const stage = fc.constantFrom(...STAGES)
const pools = fc.array(difference, { maxLength: 12 })

describe('a table of decisions: a changed constant, bar or order of checks', () => {
  test.each([
    ['5 clear pairs are enough to judge', 'judge', repeat(0.3, 5), {}, 'improved', 'evidence'],
    ['4 are not', 'judge', repeat(0.3, 4), {}, null, null],
    ['7 confirm', 'confirm', repeat(0.3, 7), {}, 'improved', 'evidence'],
    ['6 do not', 'confirm', repeat(0.3, 6), {}, null, null],
    ['one pair decides nothing', 'judge', [-9], {}, null, null],
    ['two bad pairs are hopeless', 'judge', [-0.02, -0.02], {}, 'not_better', 'futility'],
    ['a little better, hopeless to show', 'judge', repeat(0.001, 5), {}, 'inconclusive', 'futility'],
    ['with min 4 they are not yet', 'judge', [-0.02, -0.02], { min: 4 }, null, null],
    ['nothing at all, four times', 'judge', [0, 0, 0, 0], {}, 'not_better', 'futility'],
    [
      'better, but by too little',
      'judge',
      repeat(0.3, 5),
      { minImprovement: 0.4 },
      'not_better',
      'too_small',
    ],
    [
      'hopeless to be better by so much',
      'judge',
      [0.02, 0.01],
      { minImprovement: 0.5 },
      'not_better',
      'too_small',
    ],
    ['better by just enough', 'judge', repeat(0.25, 5), { minImprovement: 0.25 }, 'improved', 'evidence'],
    [
      'the last look',
      'judge',
      [0.006, 0.008, 0.007, 0.009, 0.006, 0.007, 0.008],
      { max: 7 },
      'improved',
      'last_look',
    ],
    [
      'the same pairs, not the last',
      'judge',
      [0.006, 0.008, 0.007, 0.009, 0.006, 0.007, 0.008],
      {},
      null,
      null,
    ],
    [
      'evidence while the typical pair is no better, by the rule of old records',
      'judge',
      HOLLOW,
      {},
      'improved',
      'evidence',
    ],
    ['the same by the rule of today', 'judge', HOLLOW, { typical: true }, null, null],
    ['the same at the last look', 'judge', HOLLOW, { typical: true, max: 13 }, 'inconclusive', 'not_typical'],
    [
      'a typical pair that turns out to be better in the end',
      'judge',
      [...HOLLOW, 0.5, 0.5],
      { typical: true },
      'improved',
      'evidence',
    ],
    ['neither', 'judge', [0.03, -0.01, 0.03, 0.03], { max: 4 }, 'inconclusive', 'cap'],
    [
      'a tie that is waited for',
      'judge',
      repeat(0, 6),
      { minImprovement: 0.1, seeksTie: true },
      'tie',
      'tie',
    ],
    ['one that nobody waits for', 'judge', repeat(0, 6), { minImprovement: 0.1 }, 'not_better', 'futility'],
    [
      'evidence for too little, while a tie is waited for',
      'judge',
      repeat(0.3, 5),
      { minImprovement: 0.4, seeksTie: true },
      null,
      null,
    ],
    [
      'the same at the last look',
      'judge',
      repeat(0.3, 5),
      { max: 5, minImprovement: 0.4, seeksTie: true },
      'not_better',
      'too_small',
    ],
    [
      'the same when the interval is narrow',
      'judge',
      repeat(0.3, 7),
      { minImprovement: 0.4, seeksTie: true },
      'tie',
      'tie',
    ],
    [
      'worse, while a tie is waited for',
      'judge',
      repeat(-0.2, 6),
      { minImprovement: 0.1, seeksTie: true },
      'not_better',
      'worse',
    ],
    ['a tie is told in no other way', 'judge', [-1, -1], { minImprovement: 0.1, seeksTie: true }, null, null],
    [
      'seeking a tie within nothing is not seeking one',
      'judge',
      [-1, -1],
      { seeksTie: true },
      'not_better',
      'futility',
    ],
    [
      'errors that always fall to 0',
      'judge',
      repeat(Number.POSITIVE_INFINITY, 5),
      {},
      'improved',
      'evidence',
    ],
    [
      'pairs after the last',
      'judge',
      [0.03, -0.01, 0.03, 0.03, 9, 9, 9, 9, 9, 9, 9],
      { max: 4 },
      'inconclusive',
      'cap',
    ],
  ] as const)('%s', (_, name, d, plan, outcome, why) => {
    expect(decidePairs(name, d, POOL, { ...PLAN, ...plan })).toMatchObject({ outcome, why })
  })

  test('a decision lacks one of its numbers', () => {
    const decision = decidePairs(
      'judge',
      [0.05, 0.04, 0.06, 0.05, 0.03, 0.05],
      [0.02, 0.03, -0.02, 0.01],
      PLAN,
    )
    expect(decision).toMatchObject({ pairs: 6, p: null, estimate: 0.05, bounds: { e: 31, p: 0.008 } })
    expect(decision.e).toBeCloseTo(58.71, 2)
    expect(decision.scale).toBeCloseTo(0.018341, 5)
    expect(decision.interval?.[0]).toBeCloseTo(0.0207, 3)
    expect(decision.interval?.[1]).toBeCloseTo(0.0711, 3)
  })

  test('a long session keeps more by chance than a short one', () => {
    const bounds = (tries: number) => decidePairs('confirm', [], [], { ...PLAN, tries }).bounds
    expect(bounds(1)).toEqual({ e: 123, p: 0.0044 })
    expect(bounds(300)).toEqual({ e: 123, p: 0.0044 })
    expect(bounds(1200)).toEqual({ e: 492, p: 0.0011 })
    expect(decidePairs('judge', [], [], { ...PLAN, tries: 1200 }).bounds).toEqual({ e: 31, p: 0.008 })
    // The third look at one pair, after two that it did not pass.
    expect(decidePairs('confirm', [], [], { ...PLAN, tries: 600, look: 3 }).bounds).toEqual({
      e: 123 * 18,
      p: 0.0044 / 18,
    })
    expect(decidePairs('judge', [], [], { ...PLAN, look: 3 }).bounds).toEqual({ e: 31, p: 0.008 })
    expect([fewestPairs('judge', 100), fewestPairs('confirm', 100), fewestPairs('confirm', 1200)]).toEqual([
      5, 7, 10,
    ])
  })
})

describe('the decision', () => {
  test('differs from the one that its formulas give', () => {
    let improved = 0
    const property = fc.property(
      stage,
      fc
        .tuple(differences(difference, 15), fc.constantFrom(0, 0.03, 0.06, 0.09))
        .map(([d, by]) => d.map((x) => x + by)),
      pools,
      (name, d, pool) => {
        const ours = decidePairs(name, d, pool, { ...PLAN, max: 15 })
        const theirs = oracle(name, d, pool, 15)
        if (theirs.outcome === 'improved') improved += 1
        expect(ours.outcome).toBe(theirs.outcome)
        expect(Math.abs(ours.e / theirs.e - 1)).toBeLessThan(1e-6)
      },
    )
    fc.assert(property, { numRuns: 3000, seed: 1 })
    expect(improved).toBeGreaterThan(200)
  })

  test('for the first pairs, computed again, is not what was decided pair by pair', () => {
    fc.assert(
      fc.property(stage, differences(wild, 12), pools, (name, d, pool) => {
        const running = new BettingStage(name, new ScaleWindow(pool), PLAN)
        d.forEach((value, i) => {
          running.add(value)
          expect(running.decision).toEqual(decidePairs(name, d.slice(0, i + 1), pool, PLAN))
        })
      }),
      { numRuns: 100 },
    )
  })

  test('depends on the unit', () => {
    fc.assert(
      fc.property(
        stage,
        leaning,
        pools,
        fc.constantFrom(2 ** -40, 2 ** 10, 2 ** 400),
        (name, d, pool, unit) => {
          const plan = { ...PLAN, minImprovement: 0.01 }
          const ours = decidePairs(name, d, pool, plan)
          const times = (values: readonly number[]) => values.map((value) => value * unit)
          const scaled = decidePairs(name, times(d), times(pool), { ...plan, minImprovement: 0.01 * unit })
          expect([scaled.outcome, scaled.why]).toEqual([ours.outcome, ours.why])
          expect(scaled.e).toBeCloseTo(ours.e, 9)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('punishes a better candidate: more in every pair turns evidence into a refusal', () => {
    fc.assert(
      fc.property(
        stage,
        leaning,
        pools,
        fc.double({ min: 0, max: 0.2, noNaN: true }),
        (name, d, pool, more) => {
          const ours = decidePairs(name, d, pool, PLAN)
          const better = decidePairs(
            name,
            d.map((value) => value + more),
            pool,
            PLAN,
          )
          expect(better.e).toBeGreaterThanOrEqual(ours.e * (1 - 1e-9))
          if (ours.why === 'evidence' && ours.outcome === 'improved') expect(better.outcome).toBe('improved')
          if (ours.outcome === 'improved') expect(better.outcome).not.toBe('not_better')
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('calls both better: the candidate, and the parent with the sides swapped', () => {
    fc.assert(
      fc.property(stage, differences(wild), pools, (name, d, pool) => {
        const swapped = decidePairs(
          name,
          d.map((value) => -value),
          pool.map((value) => -value),
          PLAN,
        )
        const ours = decidePairs(name, d, pool, PLAN)
        expect(swapped.scale).toBe(ours.scale)
        if (ours.estimate !== null && ours.estimate !== 0) expect(swapped.estimate).toBe(-ours.estimate)
        const mirrored = ours.interval && [-ours.interval[1], -ours.interval[0]]
        expect(swapped.interval?.map((side) => side + 0) ?? null).toEqual(
          mirrored?.map((side) => side + 0) ?? null,
        )
        if (ours.why === 'last_look') expect(swapped.outcome).not.toBe('improved')
      }),
      { numRuns: 300 },
    )
  })

  test('has a number that JSON cannot keep, also of infinite and huge differences', () => {
    fc.assert(
      fc.property(
        stage,
        differences(wild),
        fc.array(wild, { maxLength: 12 }),
        fc.boolean(),
        (name, d, pool, seeksTie) => {
          const decision = decidePairs(name, d, pool, { ...PLAN, minImprovement: 0.01, seeksTie })
          expect(JSON.parse(JSON.stringify(decision))).toEqual(decision)
        },
      ),
      { numRuns: 300 },
    )
  })
})
