/** Whether measuring and editing side by side is safe: what the benchmark, the gates and the setup share. */
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative, sep } from 'node:path'
import { type SourceFile, type Start, sourcesOf } from '../../experiment/benchmark/sources.ts'
import { SPEC_FILE } from '../../paths.ts'
import { readSpecFile } from '../../spec/read.ts'
import type { Spec } from '../../spec/spec.ts'
import type { Scene } from '../check.ts'
import { type Hazard, hazardsOf } from './hazards.ts'
import { proposeSlots, type Slots } from './slots.ts'

export interface Blocker extends Hazard {
  /** From the root of the repository. */
  path: string
  line: number
  text: string
}

export interface Readiness {
  /** Of which spec: a run, or a file; null = none was found. */
  spec: string | null
  /** How many files were read. */
  files: number
  blockers: Blocker[]
  truncated: number
  slots: Slots
}

const MOST = 200
const LONGEST_TEXT = 200

export function readiness(scene: Scene, wanted: string | null): Readiness {
  const top = scene.top ?? scene.cwd
  const found = specFor(scene, wanted, top)
  const cores = availableParallelism()
  if (!found) {
    const slots = { proposed: 1, current: 1, cores, reason: 'no spec was found' }
    return { spec: null, files: 0, blockers: [], truncated: 0, slots }
  }
  const { spec, name, prefix } = found
  const starts = startsOf(spec, join(top, prefix))
  const { files } = sourcesOf(top, starts)
  const lines = [...commandLines(starts, top, prefix), ...files.flatMap(linesOf)]
  const blockers = lines.flatMap(({ path, line, text }) =>
    hazardsOf(text).map((hazard) => ({ path, line, text: text.trim().slice(0, LONGEST_TEXT), ...hazard })),
  )
  blockers.sort((a, b) => Number(b.blocks) - Number(a.blocks))
  return {
    spec: name,
    files: files.length,
    blockers: blockers.slice(0, MOST),
    truncated: Math.max(0, blockers.length - MOST),
    slots: proposeSlots({
      cores,
      current: spec.measure.slots,
      blocking: blockers.filter(({ blocks }) => blocks).length,
      metric: spec.metric.name,
      files: files.length,
    }),
  }
}

/** The run that is meant, else the last one, else the spec that lies here. */
function specFor(
  { runs, cwd }: Scene,
  wanted: string | null,
  top: string,
): { spec: Spec; name: string; prefix: string } | null {
  const run =
    wanted === null
      ? runs.findLast(({ spec, state }) => spec && state)
      : runs.find((one) => one.run === wanted)
  if (run?.spec) return { spec: run.spec, name: run.run, prefix: run.state?.run?.prefix ?? '' }
  for (const folder of [cwd, top]) {
    const file = join(folder, SPEC_FILE)
    const read = existsSync(file) ? readSpecFile(file) : null
    if (read?.ok)
      return { spec: read.value.spec, name: file, prefix: relative(top, folder).split(sep).join('/') }
  }
  return null
}

function startsOf({ measure, gates, worktree }: Spec, folder: string): Start[] {
  const text = (command: string | string[]) => (typeof command === 'string' ? command : command.join(' '))
  return [
    { command: text(measure.command), folder: join(folder, measure.directory) },
    ...gates.map(({ command }) => ({ command: text(command), folder })),
    ...[worktree.setup, worktree.build].flatMap((one) =>
      one ? [{ command: text(one.command), folder }] : [],
    ),
  ]
}

interface Line {
  path: string
  line: number
  text: string
}

const linesOf = ({ path, text }: SourceFile): Line[] =>
  text.split('\n').map((one, index) => ({ path, line: index + 1, text: one }))

/** The commands of the spec themselves, at the line of the user's file that has them. */
function commandLines(starts: readonly Start[], top: string, prefix: string): Line[] {
  const path = [prefix, SPEC_FILE].filter(Boolean).join('/')
  const written = readLines(join(top, path))
  return starts.flatMap(({ command }) => {
    const one = command.split('\n')
    return one.map((text) => {
      const at = written.findIndex((line) => text.trim() !== '' && line.includes(text.trim()))
      return { path, line: at === -1 ? 1 : at + 1, text }
    })
  })
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
