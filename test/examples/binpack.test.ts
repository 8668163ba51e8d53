import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Completed, execute } from '../../cli/process.ts'
import { makeTemp } from '../rig/temp.ts'
import { BINPACK, check, instances, packing, tuned } from './binpack.ts'

function copy(): string {
  const folder = join(makeTemp('binpack'), 'project')
  cpSync(BINPACK, folder, { recursive: true })
  return folder
}

function replace(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
  writeFileSync(file, text.replace(from, to))
}

function node(folder: string, script: string, env: Record<string, string> = {}): Promise<Completed> {
  return execute({ argv: [process.execPath, script], cwd: folder, env: { PATH: process.env.PATH, ...env } })
}

const bestFit = (leftover: number) => -leftover

describe('the benchmark', () => {
  test('gives best fit these very numbers, for ever, and the metric is the plain mean of the tasks', async () => {
    const result = join(makeTemp('result'), 'result.json')
    const ended = await node(BINPACK, 'bench/run.js', { ASSAY_RESULT: result })
    expect([ended.code, String(ended.stdout)]).toEqual([0, ''])
    expect(JSON.parse(readFileSync(result, 'utf8'))).toEqual({
      metrics: { excess_percent: 4.6448874437099485 },
      tasks: {
        'uniform-1': { score: 4.545454545454546 },
        'weibull-1': { score: 3.8944723618090453 },
        'uniform-2': { score: 4.5 },
        'weibull-2': { score: 4.584882280049566 },
        'uniform-3': { score: 5.472636815920398 },
        'weibull-3': { score: 4.83271375464684 },
        'uniform-4': { score: 4.88997555012225 },
        'weibull-4': { score: 4.438964241676942 },
      },
    })
  })

  test('is the same on every run, and speaks METRIC lines when there is no result file', async () => {
    const [one, two] = await Promise.all([node(BINPACK, 'bench/run.js'), node(BINPACK, 'bench/run.js')])
    expect(String(one.stdout)).toMatch(/^METRIC excess_percent=4\.6448874437099485$/m)
    expect(String(two.stdout)).toBe(String(one.stdout))
  })

  test('really reads the heuristic: without it there is no number', async () => {
    const folder = copy()
    writeFileSync(join(folder, 'src/priority.js'), '')
    const ended = await node(folder, 'bench/run.js')
    expect(ended.code).toBe(1)
    expect(String(ended.stdout)).not.toContain('METRIC')
  })
})

describe('the gate', () => {
  test('passes best fit', async () => {
    expect((await node(BINPACK, 'gates/valid.js')).code).toBe(0)
  })

  test.each([
    [
      'a packer that overfills bins',
      'src/pack.js',
      'const bin = best ===',
      'const bin = opened > 9 ? 0 : best ===',
      /uniform-1: bin 0 holds \d+ of 150/,
    ],
    [
      'a packer that looks ahead',
      'src/pack.js',
      'return items.map((item) => {',
      'if (items.length % 2 > 0) return items.map((_, i) => i)\n  return items.map((item) => {',
      /weibull-1: item \d+ is placed differently when only \d+ items arrive/,
    ],
    [
      'a packer that loses items',
      'src/pack.js',
      'return items.map((item) => {',
      'return items.slice(1).map((item) => {',
      /uniform-1: 1000 items, but 999 places/,
    ],
    [
      'a priority that is not a number',
      'src/priority.js',
      'return from.value',
      'return Number.NaN * from.value',
      /priority\(0, \d+, 150\) is NaN, not a finite number/,
    ],
  ])('catches %s', async (_, file, from, to, message) => {
    const folder = copy()
    replace(join(folder, file), from, to)
    const ended = await node(folder, 'gates/valid.js')
    expect(ended.code).toBe(1)
    expect(String(ended.stderr)).toMatch(message)
  })
})

describe('the packer', () => {
  test('agrees with a plain packer that looks at every bin, for any heuristic', async () => {
    const { pack, lowerBound } = await packing()
    const { flaw } = await check()
    const input = fc.record({
      capacity: fc.constantFrom(7, 10, 12),
      items: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 14 }),
      wanted: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 13, maxLength: 13 }),
    })
    fc.assert(
      fc.property(input, ({ capacity, items, wanted }) => {
        const priority = (leftover: number) => wanted[leftover] ?? 0
        const bins = pack(items, capacity, priority)
        expect(flaw(items, capacity, bins)).toBeNull()
        expect(loads(items, bins)).toEqual(plain(items, capacity, priority))
        expect(new Set(bins).size).toBeGreaterThanOrEqual(lowerBound(items, capacity))
      }),
      { seed: 5, numRuns: 300 },
    )
  })

  test('best fit on an instance worked out by hand', async () => {
    const { pack, lowerBound, excessPercent } = await packing()
    const items = [6, 5, 4, 5, 3, 7]
    expect(pack(items, 10, bestFit)).toEqual([0, 1, 0, 1, 2, 2])
    expect(lowerBound(items, 10)).toBe(3)
    expect(pack([5, 6, 4, 5, 6], 10, bestFit)).toEqual([0, 1, 1, 0, 2])
    expect(excessPercent([6, 6, 6], 10, bestFit)).toBe(50)
  })

  test('the lower bound never exceeds the optimum found by trying all packings', async () => {
    const { lowerBound } = await packing()
    const items = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(items, fc.constantFrom(9, 11, 20), (sizes, capacity) => {
        expect(lowerBound(sizes, capacity)).toBeLessThanOrEqual(fewest(sizes, capacity, []))
      }),
      { seed: 6, numRuns: 100 },
    )
    expect([lowerBound([5, 5, 5], 10), fewest([6, 6, 6], 10, [])]).toEqual([2, 3])
  })
})

test('instances are these very items, within the bounds of their family', async () => {
  const { instance } = await instances()
  expect(instance('uniform', 1, 8).items).toEqual(UNIFORM_1)
  expect(instance('weibull', 1, 8).items).toEqual(WEIBULL_1)
  const mean = (list: number[]) => list.reduce((sum, v) => sum + v, 0) / list.length
  const [uniform, weibull] = [instance('uniform', 9, 20_000).items, instance('weibull', 9, 20_000).items]
  expect([Math.min(...uniform), Math.max(...uniform), Math.round(mean(uniform))]).toEqual([20, 100, 60])
  // 45·Γ(4/3) = 40.18
  expect(Math.round(mean(weibull))).toBe(40)
  expect(Math.min(...weibull)).toBeGreaterThanOrEqual(1)
})

const UNIFORM_1 = [70, 20, 62, 99, 98, 42, 69, 78]
const WEIBULL_1 = [45, 6, 41, 71, 68, 31, 44, 49]

test('held-out: best fit against itself is no gain, in text and in JSON', async () => {
  const text = await node(BINPACK, 'holdout/measure.js')
  expect(String(text.stdout)).toMatch(/^mean +best fit +4\.59 % +heuristic +4\.59 % +cut 0\.0 %$/m)
  const json = await execute({ argv: [process.execPath, 'holdout/measure.js', '--json'], cwd: BINPACK })
  expect(JSON.parse(String(json.stdout)).mean).toEqual({
    best_fit: 4.589113142578864,
    heuristic: 4.589113142578864,
    cut_percent: 0,
  })
})

test('64 experiments of tune cut the held-out excess by more than a third', async () => {
  expect(await tuned(1)).toBeGreaterThan(33)
})

/** Loads of the bins, in the order in which they were opened. */
function loads(items: number[], bins: number[]): number[] {
  const out: number[] = []
  for (const [i, bin] of bins.entries()) out[bin] = (out[bin] ?? 0) + (items[i] ?? 0)
  return out.sort((a, b) => a - b)
}

/** The rule of the packer, written without its shortcuts: loads of all bins. */
function plain(items: number[], capacity: number, priority: (leftover: number) => number): number[] {
  const bins: number[] = []
  for (const item of items) {
    const choices = [...bins.keys(), bins.length].filter((bin) => (bins[bin] ?? 0) + item <= capacity)
    const left = (bin: number) => capacity - (bins[bin] ?? 0) - item
    choices.sort((a, b) => priority(left(b)) - priority(left(a)) || left(a) - left(b))
    const [chosen = bins.length] = choices
    bins[chosen] = (bins[chosen] ?? 0) + item
  }
  return bins.sort((a, b) => a - b)
}

/** The fewest bins, by trying every bin for every item. */
function fewest(items: number[], capacity: number, bins: number[]): number {
  const [item, ...rest] = items
  if (item === undefined) return bins.length
  const ways = bins.flatMap((load, i) => (load + item <= capacity ? [bins.with(i, load + item)] : []))
  return Math.min(...[...ways, [...bins, item]].map((next) => fewest(rest, capacity, next)))
}
