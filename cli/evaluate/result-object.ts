import type { TaskScore } from '../ledger/events.ts'
import { isJsonObject, type JsonObject } from './json.ts'
import { positiveZero } from './number.ts'

/** What a result object holds: `{"metrics": {…}, "tasks": {…}, "artifacts": {…}}` or `{"score": 12.3}`. */
export interface ResultObject {
  metrics: Map<string, number | boolean>
  tasks: Record<string, TaskScore> | null
  artifacts: Record<string, string> | null
}
export type ReadResultObject = { ok: true; result: ResultObject } | { ok: false; reason: string }

class Refusal extends Error {}

/** Reads every part or refuses the whole; other keys are the benchmark's own affair. `primary` is what `score` means. */
export function readResultObject(object: JsonObject, primary: string): ReadResultObject {
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
export function readFlatObject(object: JsonObject, primary: string): ReadResultObject {
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
