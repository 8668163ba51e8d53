/** The answer of a benchmark, and the places where it may give it. Pure. */
import type { SampleFault, TaskScore } from '../ledger/events.ts'
import type { ParsedLines } from './lines.ts'
import type { Notation } from './number.ts'
import type { PresetName } from './presets/registry.ts'
import type { Aggregate } from './stats.ts'

/** A stream of the benchmark. */
export type Stream = 'stdout' | 'stderr'

/** Where the answer is looked for. `auto` = result file, METRIC lines and JSON objects, which must not contradict each other. */
export type ReadFrom =
  | 'auto'
  | 'result-file'
  | 'lines'
  | 'json'
  /** `from`: absent = stdout. */
  | { regex: string; from?: Stream }
  /** Pointers or paths to the primary metric and to an object of further ones; `file` is relative to where the benchmark runs; absent = the result file, else the stream. */
  | { json: string; metrics?: string; file?: string; from?: Stream }
  /** What a known tool prints or writes. */
  | { preset: PresetName; file?: string }

export interface BenchmarkAnswer {
  /** The primary metric; `metrics` has it too. */
  value: number
  metrics: Record<string, number | boolean>
  units: Record<string, string>
  tasks: Record<string, TaskScore> | null
  artifacts: Record<string, string> | null
  /** Lines as the benchmark printed them, by metric, where they are known. */
  raws: Record<string, string>
  /** The word behind the number that a pattern found; null when there is none, absent when no pattern was used. */
  beside?: string | null
  /** The unit near the number but not directly behind it; null when there is none, absent when none was looked for. */
  around?: string | null
  /** With a pattern: how the number was written; null = in a way that says nothing about other numbers. */
  notation?: Notation | null
  /** Words that the pattern spells, so that it may find either of them. */
  spelled?: string[]
}
/** `missing`: there was no output, or none that could be read as a result; other output may explain why. */
export type ReadAnswer =
  | { ok: true; answer: BenchmarkAnswer }
  | { ok: false; fault: SampleFault; missing?: true }

/** The answer of one source; `value` is undefined when the source does not name the primary metric. */
export type SourceAnswer = Omit<BenchmarkAnswer, 'value'> & { value: number | boolean | undefined }

export interface Printed {
  read: Extract<ReadFrom, string> | { regex: string; from?: Stream }
  metric: { name: string }
  /** Computes the value from the tasks' scores when the primary metric itself is missing. */
  aggregate: Aggregate
  /** Text of the result file, null when there is none. */
  resultFile: string | null
  /** Of stdout, or of the stream that the pattern names. */
  lines: ParsedLines
  /** Metrics that Assay itself records: the answer when the primary metric is one and nothing else names it. */
  recorded?: Record<string, number>
  /** Names of metrics that were printed where they do not count (stderr). */
  elsewhere?: string[]
  /** What else was found where the metric should be; clauses. */
  hints?: string[]
}
