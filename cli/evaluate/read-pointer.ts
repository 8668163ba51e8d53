/** The number at one place of the JSON that a benchmark wrote. Pure. */

import type { ReadAnswer } from './answer.ts'
import { NoNumber, readToolJson, valueAt } from './json.ts'
import { positiveZero } from './number.ts'

export interface Pointed {
  /** A pointer or a path. */
  path: string
  metric: { name: string }
  /** Texts that are, or hold, JSON; with the name of the place in messages. */
  places: readonly { name: string; texts: readonly string[] }[]
  recorded?: Record<string, number>
  hints?: string[]
}

/** All places that have the pointer are compared; text that is no JSON, or has nothing there, does not matter. */
export function readPointer({ path, metric: { name }, places, ...more }: Pointed): ReadAnswer {
  let first: { value: number; place: string } | null = null
  for (const place of places)
    for (const text of place.texts) {
      const json = readToolJson(text)
      if ('reason' in json) {
        // A log line; but of an object on many lines the rest may hold the answer.
        if (place.name.startsWith('standard') && !(text.includes('\n') && names(text, path))) continue
        return refuse(`${place.name} cannot be read: ${json.reason}`, text.slice(0, 300))
      }
      const value = valueAt(json.value, path)
      if (value === undefined) continue
      if (typeof value !== 'number')
        return refuse(`${path} in ${place.name} is ${shown(value)}, not a number`)
      if (first && first.value !== value)
        return refuse(
          `${path} is ${first.value} in ${first.place} and ${value} in ${place.name}: say it once`,
          text.slice(0, 300),
        )
      first ??= { value, place: place.name }
    }
  const own = more.recorded && Object.hasOwn(more.recorded, name) ? more.recorded[name] : undefined
  const value = first?.value ?? own
  if (value === undefined)
    return {
      ...refuse(
        [`there is nothing at ${path} in ${places.map((place) => place.name).join(', or in ')}`]
          .concat(more.hints ?? [])
          .join('; '),
      ),
      missing: true,
    }
  return {
    ok: true,
    answer: {
      value: positiveZero(value),
      metrics: { [name]: positiveZero(value) },
      units: {},
      tasks: null,
      artifacts: null,
      raws: {},
    },
  }
}

/** Whether the text has the last key of the path. */
function names(text: string, path: string): boolean {
  const key = path.split(/[./[\]'"]+/).findLast((part) => part !== '' && !/^\d+$/.test(part))
  return key !== undefined && text.includes(`"${key}"`)
}

const shown = (value: unknown): string =>
  value instanceof NoNumber ? value.written : (JSON.stringify(value)?.slice(0, 60) ?? 'nothing')

const refuse = (message: string, raw?: string): ReadAnswer & { ok: false } => ({
  ok: false,
  fault: { reason: 'metric_error', message, ...(raw !== undefined && { raw }) },
})
