import { describe, expect, test } from 'vitest'
import { climb } from './k-module.ts'

describe.concurrent('the loop needs more than 60 evaluations, or stops beside the hidden configuration', () => {
  test.each([
    [1, '2133'],
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
    const { data, code, evaluations, found, proposed, scene } = await climb(seed)
    expect(code).toBe(0)
    expect(data).toEqual({
      rounds: scene.eventsOf('round_closed').length,
      stop: 'target',
      best: { experiment: expect.stringMatching(/^exp_\d{4}$/), value: 4 },
      baseline: { experiment: 'exp_0000', value: expect.any(Number) },
      counts: expect.objectContaining({ open: 0, running: 0, failed: 0, revoked: 0 }),
      knobs: expect.objectContaining({ width: 2, depth: 4, experiments: 60, stall: 20 }),
      edits: [],
      alerts: [],
      stops: [],
      usage: { agents: expect.any(Number), looks: 0, output_tokens: expect.any(Number) },
    })
    expect(found).toBe(hidden)
    expect(evaluations).toBeLessThanOrEqual(60)
    expect(new Set(proposed).size).toBe(proposed.length)
  })
})
