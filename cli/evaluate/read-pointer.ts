/** The number at one place of the JSON that a benchmark wrote. Pure. */

import type { BenchmarkAnswer, ReadAnswer } from './benchmark-answer.ts'
import {
  duplicateKey,
  isJsonObject,
  keyFinder,
  modeAt,
  NoNumber,
  onOneLine,
  partsOf,
  readToolJson,
  unitAt,
  valueAt,
} from './json.ts'
import { positiveZero } from './number.ts'

export interface Pointed {
  /** A pointer or a path. */
  path: string
  /** Of an object with further metrics, in the JSON that has the primary one. */
  metrics?: string
  metric: { name: string }
  /** Texts that are, or hold, JSON; with the name of the place in messages. */
  places: readonly { name: string; texts: readonly string[] }[]
  recorded?: Record<string, number>
  hints?: string[]
}

interface Said {
  value: number
  place: string
  /** Its unit, and the mode in which it was measured. */
  around: string | null
  more: BenchmarkAnswer['metrics']
}

/** All places that have the pointer are compared; text that is no JSON, or has nothing there, does not matter. */
export function readPointer({ path, metric: { name }, places, ...more }: Pointed): ReadAnswer {
  const keyAt = keyIn(path)
  let first = null as Said | null
  for (const place of places)
    for (const text of place.texts) {
      const json = readToolJson(text)
      if ('reason' in json) {
        // A log line; but one on many lines, or behind an answer, may be what is left of another answer.
        const mayAnswer = (first !== null || text.includes('\n')) && keyAt(text) >= 0
        if (place.name.startsWith('standard') && !mayAnswer) continue
        return refuse(`${place.name} cannot be read: ${json.reason}`, onOneLine(text))
      }
      const value = valueAt(json.value, path)
      if (value === undefined) continue
      const twice = duplicateKey(text)
      if (twice !== null)
        return refuse(`${place.name} has the key ${JSON.stringify(twice)} twice`, onOneLine(text))
      if (typeof value !== 'number') return refuse(`${path} in ${place.name} ${whatInstead(value)}`)
      if (first && first.value !== value)
        return refuse(
          `${path} is ${first.value} in ${first.place} and ${value} in ${place.name}: say it once`,
          onOneLine(text),
        )
      const found: BenchmarkAnswer['metrics'] | string =
        more.metrics === undefined ? {} : metricsAt(json.value, more.metrics, name, value)
      if (typeof found === 'string') return refuse(`${found} in ${place.name}`, onOneLine(text))
      const other: Said | null = first
      const differs =
        other &&
        Object.keys(found).find((one) => Object.hasOwn(other.more, one) && other.more[one] !== found[one])
      if (other && differs)
        return refuse(
          `${differs} is ${other.more[differs]} in ${other.place} and ${found[differs]} in ${place.name}: say it once`,
          onOneLine(text),
        )
      const around = [unitAt(json.value, path), modeAt(json.value, path)].filter((one) => one !== null)
      first ??= { value, place: place.name, around: around.join(', ') || null, more: found }
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
      metrics: { ...first?.more, [name]: positiveZero(value) },
      units: {},
      tasks: null,
      artifacts: null,
      raws: {},
      ...(first !== null && { around: first.around }),
    },
  }
}

/** The further metrics, or what is wrong with them as the beginning of a sentence. */
function metricsAt(
  json: unknown,
  path: string,
  primary: string,
  value: number,
): BenchmarkAnswer['metrics'] | string {
  const object = valueAt(json, path)
  if (object === undefined) return `there is nothing at ${path}, where the metrics should be,`
  if (!isJsonObject(object)) return `${path} is ${shown(object)}, not an object of metrics,`
  for (const [name, one] of Object.entries(object)) {
    if (typeof one !== 'number' && typeof one !== 'boolean')
      return `the metric ${name} ${whatInstead(one, 'neither a number nor a boolean,')}`
    if (name === primary && one !== value) return `${primary} is ${value} and, among the metrics, ${one}`
  }
  const read = Object.entries(object as BenchmarkAnswer['metrics'])
  return Object.fromEntries(
    read.map(([name, one]) => [name, typeof one === 'number' ? positiveZero(one) : one]),
  )
}

/** Finds the last key of the path in a text, which need not be JSON. */
export function keyIn(path: string): (text: string) => number {
  const key = partsOf(path).findLast((part) => !/^\d+$/.test(part))
  return key === undefined ? () => -1 : keyFinder([key])
}

const whatInstead = (value: unknown, wanted = 'not a number'): string =>
  value instanceof NoNumber && value.isTooLong ? value.why : `is ${shown(value)}, ${wanted}`

const shown = (value: unknown): string =>
  value instanceof NoNumber ? value.written : (JSON.stringify(value)?.slice(0, 60) ?? 'nothing')

const refuse = (message: string, raw?: string): ReadAnswer & { ok: false } => ({
  ok: false,
  fault: { reason: 'metric_error', message, ...(raw !== undefined && { raw }) },
})
