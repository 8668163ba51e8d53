/** What a preset is: one known tool, and how its own output is read. Pure. */
import type { JsonObject } from '../../json.ts'
import type { Direction } from '../../ledger/events.ts'
import { duplicateKey, isJsonObject, NoNumber, numberOr, readToolJson } from '../json.ts'
import { median } from '../stats.ts'
import { convert } from '../units.ts'

/** Where a tool leaves its output: the file `$ASSAY_RESULT` (`{result}`), or a stream. */
export type OutputPlace = 'result' | 'stdout' | 'stderr'

export interface Figure {
  value: number | NoNumber
  unit: string | null
  /** By how much it may differ from the value itself, since it was printed with few digits. */
  within?: number
}

/** One benchmark of several; the name is the task's, null when the tool measures one thing. */
export interface Benchmark {
  name: string | null
  metrics: Map<string, Figure>
  /** How many runs the metrics are made of; absent = one. */
  runs?: number
  /** What must be as at the baseline for the figures to be comparable: `mode avgt`. */
  mode?: string
}
export type PresetReading = { benchmarks: Benchmark[] } | { reason: string }

export interface Preset<Name extends string = string> {
  /** As in `measure.read`. */
  name: Name
  /** How to call the tool so that its output can be read. */
  example: string
  places: readonly OutputPlace[]
  /** What of its output is read, for people. */
  reads: string
  /** What `metric.name` may be, the usual one first; `more` when the output holds others. */
  metrics: readonly { name: string; unit: string | null; better: Direction }[]
  more?: string
  /** Of a tool that writes a file for each benchmark: which of a folder, and all of them as the text that `read` takes. */
  folder?: { holds: RegExp; together: (files: readonly { path: string; text: string }[]) => string }
  /** A command that starts the tool. */
  command: RegExp
  /** Whether the text is output of the tool that `read` takes. */
  recognises: (text: string) => boolean
  /** Of output that is recognisably the tool's and holds too little: what to do instead. */
  instead?: { recognises: (text: string) => boolean; hint: string }
  read: (text: string) => PresetReading
  /** A line by which it says that what it ran failed, wherever it prints that. */
  failed?: RegExp
}

export const minimize = (unit: string | null, ...names: string[]) =>
  names.map((name) => ({ name, unit, better: 'minimize' as const }))
export const maximize = (unit: string | null, ...names: string[]) =>
  names.map((name) => ({ name, unit, better: 'maximize' as const }))

export const objectsIn = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : []
export const stringOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The JSON of a text that may have lines of other text around it; undefined when there is none. */
export const jsonIn = (text: string): unknown => jsonOf(text)?.value

/** The key that an object of that JSON has twice: which one counts? */
export function keyTwiceIn(text: string): string | null {
  const found = jsonOf(text)
  return found && duplicateKey(found.text)
}

function jsonOf(text: string): { text: string; value: unknown } | null {
  const whole = readToolJson(text)
  if ('value' in whole) return { text, ...whole }
  const begin = /^[ \t]*[{[]/m.exec(text)?.index
  const ends = [...text.matchAll(/[}\]][ \t\r]*$/gm)].at(-1)
  if (begin === undefined || ends === undefined) return null
  // Behind the last line that ends like JSON: what was printed there may have hidden an end.
  if (text.slice(ends.index + 1).includes('}')) return null
  const part = text.slice(begin, ends.index + 1)
  const read = readToolJson(part)
  return 'value' in read ? { text: part, ...read } : null
}

/** The members of an object that are numbers, under the units that `unitOf` knows; undefined leaves one out. */
export function figures(
  object: JsonObject,
  unitOf: (name: string) => string | null | undefined,
): Map<string, Figure> {
  const found = new Map<string, Figure>()
  for (const [name, value] of Object.entries(object)) {
    const unit = unitOf(name)
    if (unit !== undefined && (typeof value === 'number' || value instanceof NoNumber))
      found.set(name, { value, unit })
  }
  return found
}

/** A longer one is no line of a tool's table, and would make patterns slow. */
const LONGEST_LINE = 500

/** Of a longer line its end is looked at: what another program printed in front may hide what the tool says. */
export const linesOf = (text: string): string[] =>
  text.split(/\r?\n/).map((line) => (line.length > LONGEST_LINE ? `…${line.slice(-LONGEST_LINE)}` : line))

/**
 * The measured program shares the output of a tool that prints, so it can print lines of the tool, and break those that
 * the tool prints. What looks like a part of the tool's answer and was not read is refused.
 */
export const brokenLine = (tool: string, line: string): { reason: string } => ({
  reason: `a line looks like an answer of ${tool} and cannot be read: ${JSON.stringify(line.trim().slice(0, 120))}: end each line of other output, or let the tool write to a file`,
})

/** A number of a printed text, in one unit whatever unit it was printed in; null when it cannot be read so. */
export function printed(number: string, unit: string, wanted: string): Figure | null {
  if (number.includes(',') && !/^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(number)) return null
  const digits = number.replaceAll(',', '')
  const read = numberOr(digits)
  if (typeof read !== 'number') return { value: read, unit: wanted }
  const value = convert(read, unit, wanted)
  const last = convert(0.5 * 10 ** -(digits.split('.')[1]?.length ?? 0), unit, wanted)
  return value === null || last === null || Number.isNaN(value) ? null : { value, unit: wanted, within: last }
}

/** Runs of one benchmark that was repeated, as one: the median of each metric that all of them have. */
export function repeated(runs: readonly Benchmark[]): Benchmark[] {
  const byName = new Map<string | null, Benchmark[]>()
  for (const run of runs) byName.set(run.name, [...(byName.get(run.name) ?? []), run])
  return [...byName].map(([name, same]) => {
    const [first] = same
    if (first === undefined || same.length === 1) return { name, metrics: first?.metrics ?? new Map() }
    const metrics = new Map<string, Figure>()
    for (const [metric, { value, unit }] of first.metrics) {
      const all = same.flatMap((run) => {
        const found = run.metrics.get(metric)
        return found && typeof found.value === 'number' ? (convert(found.value, found.unit, unit) ?? []) : []
      })
      metrics.set(metric, { value: all.length === same.length ? median(all) : value, unit })
    }
    return { name, metrics, runs: same.length }
  })
}

/** Printed text has fewer digits than the file of the same run: `within` is how far a value may be from the true one. */
export const isWithin = (one: number, other: number, within: number): boolean =>
  Math.abs(one - other) <= Math.max(1.01 * within, 1e-9 * Math.abs(one))
