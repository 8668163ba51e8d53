import { describe, expect, test } from 'vitest'
import { climb } from './k-module.ts'

describe.concurrent('the loop needs more than 60 evaluations, or stops beside the hidden configuration', () => {
  test.each([
    [2, '4341'],
    [3, '3340'],
    [4, '1210'],
    [5, '1441'],
    [6, '3031'],
    [7, '3102'],
    [8, '0201'],
    [9, '0243'],
    [10, '1321'],
    [11, '0244'],
    [12, '0011'],
    [13, '3003'],
    [14, '0224'],
    [15, '1311'],
    [16, '2334'],
    [17, '2232'],
    [18, '4403'],
    [19, '4043'],
    [20, '4042'],
    [21, '0041'],
    [22, '3304'],
    [23, '4210'],
    [24, '4023'],
    [25, '1042'],
  ])('seed %i: %s', async (seed, hidden) => {
    const { data, evaluations, found, proposed } = await climb(seed)
    expect([data.stop, data.best?.value, found]).toEqual(['target', 4, hidden])
    expect(evaluations).toBeLessThanOrEqual(60)
    expect(new Set(proposed).size).toBe(proposed.length)
  })
})
