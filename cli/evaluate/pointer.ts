/** Where a value stands in JSON: `/results/0/mean` (RFC 6901), or `results[0].mean`. Pure. */
import { NoNumber } from './json.ts'

/** A pointer, or names and `[index]` joined by dots; a name with other characters is quoted: `a["b.c"]`. */
export const POINTER = '^(?:(?:/[^/]*)+|[^/.\\[\\]"\\s]+(?:\\.[^/.\\[\\]"\\s]+|\\[\\d+\\]|\\["[^"]+"\\])*)$'

const PART = /\.?([^/.[\]"\s]+)|\[(\d+)\]|\["([^"]+)"\]/g

export function partsOf(path: string): string[] {
  if (path.startsWith('/'))
    return path
      .slice(1)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return [...path.matchAll(PART)].map(([, name, index, quoted]) => name ?? index ?? quoted ?? '')
}

/** undefined when there is nothing at that place. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value
  for (const part of partsOf(path)) {
    if (typeof at !== 'object' || at === null || at instanceof NoNumber) return undefined
    if (Array.isArray(at) ? !/^(?:0|[1-9]\d*)$/.test(part) : !Object.hasOwn(at, part)) return undefined
    at = (at as Record<string, unknown>)[part]
  }
  return at
}

const LOOKED_AT = 20_000
const DEEPEST = 12

/** Pointers to the first numbers in a value, with the number; breadth first, so that totals come before details. */
export function numbersIn(value: unknown, most: number): { pointer: string; value: number }[] {
  const found: { pointer: string; value: number }[] = []
  const queue: { at: unknown; pointer: string; depth: number }[] = [{ at: value, pointer: '', depth: 0 }]
  for (let next = 0; next < queue.length && next < LOOKED_AT && found.length < most; next++) {
    const { at, pointer, depth } = queue[next] ?? { at: null, pointer: '', depth: 0 }
    if (typeof at === 'number') found.push({ pointer, value: at })
    if (typeof at !== 'object' || at === null || at instanceof NoNumber || depth === DEEPEST) continue
    for (const [key, member] of Object.entries(at).slice(0, 100)) {
      const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1')
      queue.push({ at: member, pointer: `${pointer}/${escaped}`, depth: depth + 1 })
    }
  }
  return found
}
