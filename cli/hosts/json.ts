/** Reading what a vendor printed: nothing about its shape is taken for granted. */
import { isRecord } from '../json.ts'

/** The value at a path of keys; undefined when any of them is missing. */
export function at(value: unknown, ...path: string[]): unknown {
  let here = value
  for (const key of path) here = isRecord(here) ? here[key] : undefined
  return here
}

export function textAt(value: unknown, ...path: string[]): string | null {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : null
}

export function numberAt(value: unknown, ...path: string[]): number | null {
  const found = at(value, ...path)
  return typeof found === 'number' && Number.isFinite(found) ? found : null
}

/** The sum of the numbers that are there; null when none is. */
export function sumOf(...values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
}
