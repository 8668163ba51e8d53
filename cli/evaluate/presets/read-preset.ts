/** From the output of a known tool to the answer of a sample. Pure. */
import type { SampleFault, TaskScore } from '../../ledger/events.ts'
import type { BenchmarkAnswer, ReadAnswer } from '../benchmark-answer.ts'
import { positiveZero } from '../number.ts'
import { type Aggregate, aggregate } from '../stats.ts'
import { convert } from '../units.ts'
import { type Benchmark, type Figure, isWithin, keyTwiceIn, linesOf, type Preset } from './preset.ts'
import { type PresetName, presetOf, type Texts } from './registry.ts'

export interface PresetQuestion {
  preset: PresetName
  metric: { name: string }
  aggregate: Aggregate
  /** Of the places that the tool may write to; a file that the spec names stands for the result file. */
  texts: Texts
  /** The checkout, whose path in names of tasks differs from sample to sample. */
  checkout: string
  recorded?: Record<string, number>
  hints?: string[]
}

export function readPreset(asked: PresetQuestion): ReadAnswer {
  const preset = presetOf(asked.preset)
  const { name } = asked.metric
  const written: { place: string; benchmarks: readonly Benchmark[] }[] = []
  const found: { place: string; answer: PresetAnswer }[] = []
  let lacks: SampleFault | null = null
  for (const place of preset.places) {
    const text = asked.texts[place]
    if (text === null || !preset.recognises(text)) continue
    const reading = preset.read(text)
    const twice = keyTwiceIn(text)
    if (twice !== null) return refuse(`the JSON of ${preset.name} has the key ${JSON.stringify(twice)} twice`)
    if ('reason' in reading) return refuse(`${preset.name}: ${reading.reason}`)
    const failed = failedLine(preset, asked.texts)
    if (failed !== null)
      return refuse(
        `${preset.name} says that what it ran failed: ${JSON.stringify(failed.trim().slice(0, 120))}; a pipe or || may hide its exit code: let the command end with that exit code`,
      )
    const { benchmarks } = reading
    const answer = answerOf(benchmarks, asked)
    // One place may say less than another: the printed summary of hyperfine has no median.
    if ('reason' in answer && answer.found === undefined) return { ok: false, fault: answer }
    const [first] = found
    if (first && 'value' in answer && !agree(first.answer, answer, name))
      return refuse(
        `${preset.name} says ${name} = ${first.answer.value} in ${first.place} and ${answer.value} in ${PLACES[place]}`,
      )
    for (const one of written) {
      const other = otherFigure(one.benchmarks, benchmarks)
      if (other) return refuse(`${preset.name} says ${other} in ${one.place} and in ${PLACES[place]}`)
    }
    written.push({ place: PLACES[place], benchmarks })
    if ('value' in answer) found.push({ place: PLACES[place], answer })
    else lacks ??= answer
  }
  const [first] = found
  if (first) {
    const { within: _, ...answer } = first.answer
    return { ok: true, answer }
  }
  if (lacks) return { ok: false, fault: lacks }
  const recorded = asked.recorded ?? {}
  const own = Object.hasOwn(recorded, name) ? recorded[name] : undefined
  if (own !== undefined)
    return {
      ok: true,
      answer: { value: own, metrics: { [name]: own }, units: {}, tasks: null, artifacts: null, raws: {} },
    }
  const where = preset.places.map((place) => PLACES[place]).join(', or in ')
  const nothing = refuse(
    [
      `no output of ${preset.name} was found in ${where}`,
      `it reads ${preset.reads}: ${preset.example}`,
      ...(asked.hints ?? []),
    ].join('; '),
  )
  return { ...nothing, missing: true }
}

/**
 * The tool says that what it ran failed, and the command ended with exit code 0 all the same, as at the end of a pipe
 * (`… | tee log`): what fails early is quick.
 */
function failedLine({ failed }: Preset, texts: Texts): string | null {
  if (!failed) return null
  const lines = Object.values(texts).flatMap((text) => (text === null ? [] : linesOf(text)))
  return lines.find((line) => failed.test(line)) ?? null
}

const PLACES = { result: 'the result file', stdout: 'standard output', stderr: 'standard error' }

/** `within`: how far the value may be from the true one, since it was printed with few digits. */
type PresetAnswer = BenchmarkAnswer & { within?: number }

function agree(one: PresetAnswer, other: PresetAnswer, name: string): boolean {
  const value = convert(other.value, other.units[name] ?? null, one.units[name] ?? null)
  if (value === null) return false
  return isWithin(one.value, value, (one.within ?? 0) + (other.within ?? 0))
}

/** A figure beside the metric that two places of one run give different values, as the object of a sentence. */
function otherFigure(one: readonly Benchmark[], other: readonly Benchmark[]): string | null {
  for (const { name, metrics } of other)
    for (const benchmark of one) {
      if (benchmark.name !== name) continue
      const twice = differing({ name: name ?? '', metrics: benchmark.metrics }, metrics, isAbout)
      if (twice !== null) return twice
    }
  return null
}

function differing(
  { name: task, metrics: one }: { name: string; metrics: Benchmark['metrics'] },
  other: Benchmark['metrics'],
  isSame: (one: Figure, other: Figure) => boolean,
): string | null {
  for (const [name, now] of other) {
    const before = one.get(name)
    if (before && !isSame(before, now))
      return `${task === '' ? name : `${name} of ${task}`} twice: ${shown(before)} and ${shown(now)}`
  }
  return null
}

/**
 * Each benchmark that has a name is a task, so that a candidate cannot report another one; the metric is their aggregate.
 * One without a name answers by itself.
 */
function answerOf(
  written: readonly Benchmark[],
  { preset, metric: { name }, aggregate: how, checkout }: PresetQuestion,
): PresetAnswer | SampleFault {
  const benchmarks = new Map<string, Benchmark>()
  for (const one of written) {
    const known = (one.name ?? '').replaceAll(checkout, '.')
    const before = benchmarks.get(known)
    const twice = before && differing({ name: known, metrics: before.metrics }, one.metrics, isEqual)
    if (twice) return fault(`${preset} reports ${twice}`)
    benchmarks.set(known, one)
  }
  const scores: Record<string, TaskScore> = Object.create(null) as Record<string, TaskScore>
  let unit: string | null | undefined
  for (const [task, { metrics, runs }] of benchmarks) {
    const figure = metrics.get(name)
    if (!figure) return lacking(preset, name, task, metrics)
    if (typeof figure.value !== 'number')
      return fault(`${name}${task === '' ? '' : ` of ${task}`} ${figure.value.why}`)
    unit ??= figure.unit
    const score = convert(figure.value, figure.unit, unit)
    if (score === null)
      return fault(`the unit of ${name} is ${unit ?? 'none'}, and of ${task} it is ${figure.unit ?? 'none'}`)
    scores[task] = { score: positiveZero(score), ...(runs !== undefined && { runs }) }
  }
  const all = [...benchmarks.values()]
  const value = aggregate(
    Object.values(scores).map(({ score }) => score),
    how,
  )
  if (!Number.isFinite(value)) return fault(`the ${how} of ${name} is too large for a number`)
  const metrics: BenchmarkAnswer['metrics'] = Object.create(null) as BenchmarkAnswer['metrics']
  const units: BenchmarkAnswer['units'] = Object.create(null) as BenchmarkAnswer['units']
  for (const metric of all[0]?.metrics.keys() ?? []) {
    const made = metric === name ? { value, unit: unit ?? null } : together(all, metric, how)
    if (made === null) continue
    metrics[metric] = positiveZero(made.value)
    if (made.unit !== null) units[metric] = made.unit
  }
  const within = all[0]?.metrics.get(name)?.within
  const modes = [...new Set(all.flatMap(({ mode }) => mode?.split(', ') ?? []))].sort().join(', ')
  return {
    value: positiveZero(value),
    metrics: { ...metrics },
    units: { ...units },
    tasks: all.length > 1 || !Object.hasOwn(scores, '') ? { ...scores } : null,
    artifacts: null,
    raws: {},
    ...(within !== undefined && { within }),
    ...(modes !== '' && { around: modes }),
  }
}

/** Another metric than the one asked for: null where not all benchmarks have it as a number of one kind. */
function together(
  all: readonly Benchmark[],
  metric: string,
  how: Aggregate,
): { value: number; unit: string | null } | null {
  const unit = all[0]?.metrics.get(metric)?.unit ?? null
  const values = all.flatMap(({ metrics }) => {
    const figure = metrics.get(metric)
    return figure && typeof figure.value === 'number' ? (convert(figure.value, figure.unit, unit) ?? []) : []
  })
  if (values.length < all.length) return null
  const value = aggregate(values, how)
  return Number.isFinite(value) ? { value, unit } : null
}

const isEqual = (one: Figure, other: Figure): boolean => {
  if (typeof one.value !== 'number' || typeof other.value !== 'number')
    return typeof one.value !== 'number' && typeof other.value !== 'number'
  return convert(other.value, other.unit, one.unit) === one.value
}

const isAbout = (one: Figure, other: Figure): boolean => {
  if (typeof one.value !== 'number' || typeof other.value !== 'number') return isEqual(one, other)
  const value = convert(other.value, other.unit, one.unit)
  return value !== null && isWithin(one.value, value, (one.within ?? 0) + (other.within ?? 0))
}

const shown = ({ value, unit }: Figure): string =>
  [typeof value === 'number' ? value : value.written, unit].filter((part) => part !== null).join(' ')

const NAMED = 20

function lacking(preset: PresetName, name: string, task: string, metrics: Benchmark['metrics']): SampleFault {
  const names = [...metrics.keys()].slice(0, NAMED)
  const where = task === '' ? '' : ` for ${task}`
  return {
    ...fault(
      `${preset} has no ${JSON.stringify(name)}${where}; it has ${names.join(', ')}: let metric.name be one of them`,
    ),
    found: names,
  }
}

const fault = (message: string): SampleFault => ({ reason: 'metric_error', message })
const refuse = (message: string): { ok: false; fault: SampleFault } => ({ ok: false, fault: fault(message) })
