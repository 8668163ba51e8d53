/** For `init`: which files of the benchmark and the gates a candidate could change. Collects what `exposure.ts` decides on. */
import { join, posix } from 'node:path'
import type { Area } from '../spec/rules.ts'
import type { Spec } from '../spec/spec.ts'
import { type Exposure, exposuresOf, type JudgingCommand } from './exposure.ts'
import { sourcesOf } from './sources.ts'

/** Metrics that no program can report of itself. */
const RECORDED = ['wall_ms', 'cpu_ms', 'peak_mb', 'source_bytes', 'diff_lines']

export interface ExposedRequest {
  /** A checkout with the benchmark in it. */
  top: string
  spec: Spec
  /** The spec's folder, from the root of the repository. */
  prefix: string
  areaOf: (path: string) => Area
  /** Every file of the base. */
  paths: readonly string[]
}

/** Best effort: imports are searched for, and nothing is run. */
export function exposedCommands({ top, spec, prefix, areaOf, paths }: ExposedRequest): Exposure[] {
  const judge = (
    name: string,
    command: string | string[],
    directory: string,
    measures: boolean,
  ): JudgingCommand => {
    const text = typeof command === 'string' ? command : command.join(' ')
    const folder = posix.join(prefix, directory).replace(/^\.\/?|\/$/g, '')
    const sources = sourcesOf(top, [{ command: text, folder: join(top, folder) }])
    return { name, command: text, folder, measures, sources }
  }
  const { measure, gates, metric } = spec
  const judges = gates.map(({ name, command }) => judge(`gate ${name}`, command, '.', false))
  // A program with a scorer, or whose time Assay takes itself, is the candidate's own.
  if (measure.score) judges.unshift(judge('measure.score', measure.score.command, measure.directory, true))
  else if (!RECORDED.includes(metric.name))
    judges.unshift(judge('measure.command', measure.command, measure.directory, true))
  return exposuresOf(judges, areaOf, paths, measure.environment.set)
}
