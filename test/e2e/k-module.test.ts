import { expect, test } from 'vitest'
import { climb } from './k-module.ts'

test.concurrent.each([
  [1, 'x'],
  [2, 'x'],
  [3, 'x'],
  [4, 'x'],
  [5, 'x'],
])(
  'seed %i: the loop needs more than 60 evaluations, or stops beside the hidden configuration',
  async (seed) => {
    const t = performance.now()
    const { data, code, evaluations, found, hidden, proposed } = await climb(seed)
    console.log(seed, Math.round(performance.now() - t), evaluations, hidden.join(''), JSON.stringify(data))
    expect(code).toBe(0)
    expect(new Set(proposed).size).toBe(proposed.length)
    expect(found).toEqual(hidden)
    expect(evaluations).toBeLessThanOrEqual(60)
  },
  240_000,
)
