import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { parseParameters } from '../../cli/hosts/tune/places.ts'
import type { TuneParameter } from '../../cli/hosts/tune/space.ts'
import { search } from '../hosts/tune/loop.ts'

export const BINPACK = fileURLToPath(new URL('../../examples/binpack', import.meta.url))

type Priority = (leftover: number, item: number, capacity: number) => number
interface Instance {
  name: string
  capacity: number
  items: number[]
}
interface Packing {
  pack(items: number[], capacity: number, priority: Priority): number[]
  lowerBound(items: number[], capacity: number): number
  excessPercent(items: number[], capacity: number, priority: Priority): number
}

// The example is plain JavaScript without declarations, so its modules are loaded by address.
const load = (file: string): Promise<unknown> => import(/* @vite-ignore */ join(BINPACK, file))
export const packing = () => load('src/pack.js') as Promise<Packing>
export const instances = () =>
  load('src/instances.js') as Promise<{ instance(family: string, seed: number, size: number): Instance }>
export const check = () =>
  load('gates/check.js') as Promise<{
    flaw(items: number[], capacity: number, bins: number[]): string | null
  }>
const benchmark = () => load('bench/set.js') as Promise<{ benchmark(): Instance[] }>

/** What `tune` cuts of the held-out excess in 64 experiments, in percent, without worktrees and processes. */
export async function tuned(seed: number): Promise<number> {
  const { excessPercent } = await packing()
  const { instance } = await instances()
  const spec = parse(readFileSync(join(BINPACK, 'assay.yaml'), 'utf8'))
  const parameters: TuneParameter[] = spec.agent.tune.parameters
  const source = readFileSync(join(BINPACK, 'src/priority.js'), 'utf8')
  const start = parseParameters(() => source, parameters)
  if (!start.ok) throw new Error(start.problem.message)
  const mean = (set: Instance[], values: number[]) => {
    const priority = broken(source, values)
    return set.reduce((sum, i) => sum + excessPercent(i.items, i.capacity, priority), 0) / set.length
  }
  const set = (await benchmark()).benchmark()
  const trials = search({
    parameters,
    start: start.value,
    score: (values) => -mean(set, values),
    seed,
    experiments: 64,
    width: spec.loop.width,
  })
  const best = trials.reduce((a, b) => ((b.score ?? 0) > (a.score ?? 0) ? b : a))
  const held = Array.from({ length: 20 }, (_, i) => 1001 + i).flatMap((s) => [
    instance('uniform', s, 1000),
    instance('weibull', s, 2000),
  ])
  return 100 * (1 - mean(held, best.values ?? []) / mean(held, start.value))
}

/** The heuristic of the source with other values on its line. */
function broken(source: string, values: number[]): Priority {
  const places = [...source.matchAll(/at: ([\d.]+)/g)].map((match) => Number(match[1]))
  return (leftover, _, capacity) => {
    const share = leftover / capacity
    const found = places.findIndex((at, i) => i > 0 && at >= share)
    const right = found < 0 ? places.length - 1 : found
    const [x0 = 0, x1 = 1] = places.slice(right - 1)
    const [y0 = 0, y1 = 0] = values.slice(right - 1)
    return y0 + ((y1 - y0) * (share - x0)) / (x1 - x0)
  }
}
