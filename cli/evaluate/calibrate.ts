/** Estimates the noise from the baseline's samples. Pure. */
import type { Calibration, NoiseMode, Sample } from '../ledger/events.ts'
import { distinctValues } from '../ledger/same-value.ts'
import { millisecondsIn, millisecondsOfWord } from './units.ts'

/** Parts of names that tell of a clock, or of something counted by it. */
const TIMES = new Set('time latency duration elapsed runtime wall cpu throughput qps rps fps'.split(' '))

/** Whether the metric is a time, a rate or a peak of memory. Two runs never have the same; equal values come from rounding. */
export function variesByNature(name: string, unit: string | undefined): boolean {
  if (name === 'peak_mb' || (unit !== undefined && (millisecondsIn(unit) !== null || unit.endsWith('/s'))))
    return true
  const words = name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  return words.split(/[^a-zµ]+/).some((word) => TIMES.has(word) || isTime(word))
}

const isTime = (word: string): boolean => millisecondsOfWord(word) !== null

type Measured = Pick<Sample, 'value' | 'metrics' | 'units'>

/** The samples have values. `wanted` as the spec says; a mode that the spec sets is not questioned here. */
export function calibrate(
  wanted: NoiseMode | 'auto' | 'single',
  metric: string,
  samples: readonly Measured[],
): Calibration {
  const values = samples.flatMap(({ value }) => (value === null ? [] : [value]))
  const varied = variedMetrics(samples)
  const differs = distinctValues(values).length > 1
  const noisy = differs || variesByNature(metric, samples[0]?.units[metric])
  return {
    mode: modeFor(wanted, noisy),
    transform: values.every((value) => value > 0) ? 'log' : 'linear',
    values,
    varied,
  }
}

/** `single` compares values as if they were free of noise, and measures nothing again. */
function modeFor(wanted: NoiseMode | 'auto' | 'single', noisy: boolean): NoiseMode {
  if (wanted === 'auto') return noisy ? 'paired' : 'deterministic'
  return wanted === 'single' ? 'deterministic' : wanted
}

/** Names of the metrics that are not the same in all samples, or missing in some. */
export function variedMetrics(samples: readonly Pick<Sample, 'metrics'>[]): string[] {
  const names = new Set(samples.flatMap(({ metrics }) => Object.keys(metrics)))
  return [...names].filter((name) => new Set(samples.map(({ metrics }) => metrics[name])).size > 1)
}
