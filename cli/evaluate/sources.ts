/** The places in which a benchmark may say its metrics, each read whole or refused. Pure. */
import type { JsonObject } from '../json.ts'
import type { SampleFault, TaskScore } from '../ledger/events.ts'
import type { Printed, SourceAnswer } from './benchmark-answer.ts'
import { groupsByComma, spelledBy } from './beside.ts'
import { isJsonObject, NoNumber, onOneLine, readJsonObject, unitNamed } from './json.ts'
import { MOST_JSON } from './lines.ts'
import { adviceOn, notationOf, positiveZero, readValue } from './number.ts'
import { areKin, isUnit } from './units.ts'

/** What a result object holds: `{"metrics": {…}, "tasks": {…}, "artifacts": {…}}` or `{"score": 12.3}`. */
export interface ResultObject {
  metrics: Map<string, number | boolean>
  tasks: Record<string, TaskScore> | null
  artifacts: Record<string, string> | null
}
export type ReadResultObject = { ok: true; result: ResultObject } | { ok: false; reason: string }

class Refusal extends Error {}

/** Reads every part or refuses the whole; other keys are the benchmark's own affair. `primary` is what `score` means. */
function readResultObject(object: JsonObject, primary: string): ReadResultObject {
  try {
    const metrics = new Map<string, number | boolean>()
    for (const [name, value] of entries(object, 'metrics') ?? []) metrics.set(name, metricValue(name, value))
    if (object.score !== undefined) {
      const score = numberOf('score', object.score)
      const named = metrics.get(primary)
      if (named !== undefined && named !== score)
        throw new Refusal(`"score" is ${score} but metrics has ${primary} = ${named}`)
      metrics.set(primary, score)
    }
    const tasks = entries(object, 'tasks')
    const artifacts = entries(object, 'artifacts')
    return {
      ok: true,
      result: {
        metrics,
        tasks: tasks && Object.fromEntries(tasks.map(([name, task]) => [name, taskScore(name, task)])),
        artifacts:
          artifacts && Object.fromEntries(artifacts.map(([label, path]) => [label, pathOf(label, path)])),
      },
    }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message }
    throw error
  }
}

/** The numbers and booleans at the top of an object: `{"ms": 12.3, "n": 5}`, with tasks and artifacts as above. */
function readFlatObject(object: JsonObject, primary: string): ReadResultObject {
  const metrics = new Map<string, number | boolean>()
  const only = (key: string) => (isJsonObject(object[key]) ? { [key]: object[key] } : {})
  try {
    for (const [name, value] of Object.entries(object))
      if (name === primary || typeof value === 'number' || typeof value === 'boolean')
        metrics.set(name, metricValue(name, value))
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message }
    throw error
  }
  const rest = readResultObject({ ...only('tasks'), ...only('artifacts') }, primary)
  return rest.ok ? { ok: true, result: { ...rest.result, metrics } } : rest
}

function entries(object: JsonObject, key: string): [string, unknown][] | null {
  const value = object[key]
  if (value === undefined || value === null) return null
  if (!isJsonObject(value)) throw new Refusal(`"${key}" is not an object`)
  return Object.entries(value)
}

function metricValue(name: string, value: unknown): number | boolean {
  return typeof value === 'boolean' ? value : numberOf(name, value)
}

function numberOf(name: string, value: unknown): number {
  if (value instanceof NoNumber) throw new Refusal(`${name} ${value.why}`)
  if (typeof value !== 'number') throw new Refusal(`${name} is ${JSON.stringify(value)}, not a number`)
  if (!Number.isFinite(value)) throw new Refusal(`${name} is too large for a number`)
  return positiveZero(value)
}

function taskScore(name: string, task: unknown): TaskScore {
  if (!isJsonObject(task)) throw new Refusal(`task ${name} is not an object like {"score": 0.5}`)
  const { status, reason } = task
  return {
    score: numberOf(`the score of task ${name}`, task.score),
    ...(typeof status === 'string' && { status }),
    ...(typeof reason === 'string' && { reason }),
  }
}

function pathOf(label: string, path: unknown): string {
  if (typeof path !== 'string' || path === '') throw new Refusal(`artifact ${label} is not a path`)
  return path
}

/** One source: null = it has nothing to say. */
export type SourceReading = SourceAnswer | SampleFault | null

/** With its name in a message. */
export interface Named {
  name: string
  read: (evidence: Printed) => SourceReading
}

export const metricFault = (message: string, raw?: string): SampleFault => ({
  reason: 'metric_error',
  message,
  // A lone brace says nothing.
  ...(raw !== undefined && /[\p{L}\d]/u.test(raw) && { raw }),
})

/** How the message of a result file that cannot be read begins. */
export const UNREADABLE = 'the result file cannot be read'

export const FILE: Named = {
  name: 'the result file',
  read({ resultFile, metric }) {
    if (resultFile === null) return null
    const raw = onOneLine(resultFile)
    const json = readJsonObject(resultFile)
    if (!json.ok) return metricFault(`${UNREADABLE}: ${json.reason}`, raw)
    const read = readResultObject(json.object, metric.name)
    if (!read.ok) return metricFault(`${UNREADABLE}: ${read.reason}`, raw)
    return fromObject(read.result, metric.name, json.object)
  },
}

export const LINES: Named = {
  name: 'a METRIC line',
  read({ lines, metric }) {
    const bad = lines.refused.find((line) => line.name === metric.name) ?? lines.refused[0]
    if (bad !== undefined) return metricFault(`a METRIC line was not read, because ${bad.reason}`, bad.raw)
    if (lines.metrics.size === 0) return null
    const all = [...lines.metrics]
    return {
      value: lines.metrics.get(metric.name)?.value,
      metrics: Object.fromEntries(all.map(([name, { value }]) => [name, value])),
      units: Object.fromEntries(all.flatMap(([name, { unit }]) => (unit === null ? [] : [[name, unit]]))),
      tasks: null,
      artifacts: null,
      raws: Object.fromEntries(all.map(([name, { raw }]) => [name, raw])),
    }
  },
}

export const JSON_OBJECTS: Named = {
  name: 'a JSON object',
  read({ lines: { json }, metric: { name } }) {
    if (json.length > MOST_JSON)
      return metricFault(`more than ${MOST_JSON} JSON objects name ${name}: print it once`)
    const found = json.map((text) => ({ text, ...fromText(text, name) }))
    const answers = found.filter((one) => 'metrics' in one)
    const said = answers.filter(({ value }) => value !== undefined)
    const [first] = said
    const second = said.find(({ value }) => value !== first?.value)
    if (first && second)
      return metricFault(
        `two JSON objects say ${name} = ${first.value} and ${name} = ${second.value}: print it once`,
        onOneLine(second.text),
      )
    const broken = found.find((one) => 'reason' in one)
    return broken ? metricFault(broken.message, broken.raw) : allOf(answers)
  },
}

/** Whether every object is readable JSON that has a text, or an object, under the name: `{"time": "10:00"}`. */
export const isLogged = ({ lines: { json }, metric: { name } }: Printed): boolean =>
  json.every((text) => {
    const object = readJsonObject(text)
    return object.ok && (typeof object.object[name] === 'string' || isJsonObject(object.object[name]))
  })

/** Leaves out other metrics on which they disagree: their values cannot be known. */
function allOf(answers: readonly SourceAnswer[]): SourceAnswer | null {
  const last = answers.at(-1)
  if (!last) return null
  const metrics: SourceAnswer['metrics'] = Object.fromEntries(
    answers.flatMap((one) => Object.entries(one.metrics)),
  )
  for (const { metrics: said } of answers)
    for (const [name, value] of Object.entries(said)) if (metrics[name] !== value) delete metrics[name]
  const lastWith = <K extends 'tasks' | 'artifacts' | 'value'>(key: K) =>
    answers.findLast((one) => one[key] !== null && one[key] !== undefined)?.[key] ?? last[key]
  const { raws } = last
  const around = answers.findLast((one) => typeof one.around === 'string')?.around ?? last.around
  return {
    value: lastWith('value'),
    metrics,
    units: {},
    tasks: lastWith('tasks'),
    artifacts: lastWith('artifacts'),
    raws,
    ...(around !== undefined && { around }),
  }
}

function fromText(text: string, name: string): SourceAnswer | SampleFault {
  const raw = onOneLine(text)
  const json = readJsonObject(text)
  if (!json.ok) return metricFault(`the JSON line cannot be read: ${json.reason}`, raw)
  const shaped = Object.hasOwn(json.object, 'metrics') || Object.hasOwn(json.object, 'tasks')
  const flat = Object.hasOwn(json.object, name)
  const read = shaped && !flat ? readResultObject(json.object, name) : readFlatObject(json.object, name)
  if (!read.ok) return metricFault(`the JSON line cannot be read: ${read.reason}`, raw)
  // A benchmark may put what the candidate answered beside its own metrics.
  const inner = flat && isJsonObject(json.object.metrics) ? json.object.metrics : {}
  if (Object.hasOwn(inner, name) && inner[name] !== json.object[name])
    return metricFault(
      `a JSON object says ${name} at its top and otherwise among its metrics: say it once`,
      raw,
    )
  return { ...fromObject(read.result, name, json.object), raws: { [name]: raw } }
}

function fromObject(
  { metrics, tasks, artifacts }: ResultObject,
  name: string,
  object: JsonObject,
): SourceAnswer {
  const inner = isJsonObject(object.metrics) ? unitNamed(object.metrics, name) : null
  const ofScore = object.score === undefined ? null : unitNamed(object, 'score')
  const unit = inner ?? unitNamed(object, name) ?? ofScore
  // What tasks say of their unit counts where the metric is made of them.
  const ofTasks = metrics.has(name) || !isJsonObject(object.tasks) ? [] : Object.values(object.tasks)
  const units = ofTasks.map((task) => (isJsonObject(task) ? unitNamed(task, 'score') : null))
  const around = metrics.has(name) || tasks !== null ? joined(unit, ...units) : ''
  return {
    value: metrics.get(name),
    metrics: Object.fromEntries(metrics),
    units: {},
    tasks,
    artifacts,
    raws: {},
    around: around || null,
  }
}

export const MATCHES: Named = {
  name: 'the pattern',
  read({ read: asked, lines, metric: { name } }) {
    const [first, second] = lines.matches
    if (first === undefined) return null
    const regex = typeof asked === 'object' ? asked.regex : ''
    for (const { cut, raw } of lines.matches)
      if (cut !== null) {
        const whole = readValue(cut, { grouped: true }).ok
        const advice = whole ? `let its group hold the whole${signOf(cut)}` : adviceOn(cut)
        return metricFault(`the pattern stops inside of ${cut}: ${advice}`, raw)
      }
    if (second !== undefined) {
      const [one, other] = [first, second].map(({ text, word, near }) =>
        [text, word !== null && isUnit(word) ? word : near].filter(Boolean).join(' '),
      )
      return metricFault(
        `the pattern found two different values, ${one} and ${other}: make it match one line only`,
        second.raw,
      )
    }
    const found = readValue(first.text, { grouped: true })
    const read = found.ok ? found : found.either
    if (!read) return metricFault(`what the pattern found was not read, because ${whyNot(found)}`, first.raw)
    const notation = notationOf(first.text)
    const spelled = spelledBy(regex)
    const { word, near } = first
    const numbers = first.numbers?.split(', ').filter((part) => !spelled.includes(part)) ?? []
    const words = unnamed(first.words, spelled)
    const unit = read.unit ?? (word !== null && isUnit(word) ? word : null)
    return {
      value: read.value,
      metrics: { [name]: read.value },
      units: unit === null ? {} : { [name]: unit },
      tasks: null,
      artifacts: null,
      raws: { [name]: first.raw },
      beside: read.unit === null ? word : null,
      around:
        [unit === null && joined(near, words, ...lines.units), ...numbers].filter(Boolean).join(', ') || null,
      // A group that asks for groups of three says what its comma is.
      notation: notation === 'comma' && groupsByComma(regex) ? 'groups' : notation,
      spelled,
    }
  },
}

const joined = (...words: (string | null)[]): string => [...new Set(words.filter(Boolean))].join(' ')

const whyNot = (read: ReturnType<typeof readValue>): string => (read.ok ? '' : read.reason)

/** Where the group misses no more than the sign. */
const signOf = (cut: string): string => (cut.startsWith('-') ? ', with its sign: (-?…)' : '')

/** Without the words that the pattern spells. Those that differ by a prefix (`kfoo`, `Mfoo`) are units, whatever it spells. */
const unnamed = (words: string | null, spelled: readonly string[]): string | null =>
  words
    ?.split(' ')
    .filter((word) => !spelled.includes(word) || spelled.some((other) => areKin(word, other)))
    .join(' ') || null
