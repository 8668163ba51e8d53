import fc from 'fast-check'
import { expect, test } from 'vitest'
import { baselineArmLanes, roundSize } from '../../cli/loop/round.ts'
import { History } from './history.ts'

function sizeAfter(claims: number, knobs: object) {
  const history = new History({ knobs })
  history.state.claims = claims
  return roundSize(history.state)
}

test.each([
  [0, { experiments: null }, { width: 3, depth: 2 }],
  [1_000_000, { experiments: null }, { width: 3, depth: 2 }],
  [0, { experiments: 100 }, { width: 3, depth: 2 }],
  [94, { experiments: 100 }, { width: 3, depth: 2 }],
  [95, { experiments: 100 }, { width: 3, depth: 1 }],
  [97, { experiments: 100 }, { width: 3, depth: 1 }],
  [98, { experiments: 100 }, { width: 2, depth: 1 }],
  [99, { experiments: 100 }, { width: 1, depth: 1 }],
  [96, { experiments: 100, width: 2, depth: 9 }, { width: 2, depth: 2 }],
  [100, { experiments: 100 }, { width: 0, depth: 0 }],
  [101, { experiments: 100 }, { width: 0, depth: 0 }],
])('after %i claims with %o the size is wrong', (claims, knobs, size) => {
  expect(sizeAfter(claims, knobs)).toEqual(size)
})

test('some round can claim more than is left, or no round can spend what is left', () => {
  const count = fc.integer({ min: 1, max: 40 })
  fc.assert(
    fc.property(count, count, fc.nat(200), fc.nat(200), (width, depth, experiments, claims) => {
      const size = sizeAfter(claims, { width, depth, experiments })
      const left = Math.max(0, experiments - claims)
      expect(size.width * size.depth).toBeLessThanOrEqual(left)
      if (left > 0) expect(size.width * size.depth).toBeGreaterThan(0)
    }),
    { seed: 3, numRuns: 300 },
  )
})

test('the baseline arm gets a different share than was asked for, or all of it at once', () => {
  const shares = (share: number, width: number) => {
    const history = new History()
    return Array.from({ length: 10 }, (_, index) => {
      const arm = baselineArmLanes(history.state, share, width)
      history.add({
        type: 'round_opened',
        round: index + 1,
        token: `token ${index + 1}`,
        width,
        depth: 1,
        parents: [],
        policy: 'argmax',
        seed: 1,
        ideate: null,
        ...(arm === 0 ? {} : { arm }),
      })
      history.closed(0)
      return arm
    })
  }
  expect(shares(0.2, 4)).toEqual([0, 1, 1, 1, 1, 0, 1, 1, 1, 1])
  expect(shares(0.2, 1)).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 0, 1])
  expect(shares(0, 4)).toEqual(Array(10).fill(0))
})
