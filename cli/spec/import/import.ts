/** Specifications of other programs, as specs of Assay. Pure: what they say and what lies beside them is given. */

import { stringify } from 'yaml'
import { call, next } from '../../next.ts'
import type { SourceText } from '../../result/issues.ts'
import { fail, ok, type Result } from '../../result.ts'
import type { Kind } from '../kind.ts'
import { readSpec, readYaml } from '../read.ts'
import { BACKLOG_MARKS, BACKLOG_SPEC, fromBacklog } from './backlog.ts'
import { BACKLOG_LOG, fromLog, LOG_MARKS, type LoggedIdeas } from './log.ts'
import type { Base, ImportFolder, Mapped, Mapping, Pin } from './mapping.ts'
import { fromSuite, SUITE, SUITE_MARKS } from './suite.ts'
import { fromTask, TASK, TASK_MARKS } from './task.ts'

export interface Imported {
  format: 'task' | 'backlog' | 'suite'
  /** Where the spec belongs. */
  base: Base
  /** The text of `assay.yaml`. */
  yaml: string
  lines: Mapping[]
  pins: Pin[]
  suite: string | null
}

/**
 * Reads a file of a known format and writes the spec that does the same. Every problem of the file is reported with its
 * place, like those of a spec: an unknown key is refused and never skipped, a wrong word is never a default.
 * Fails with `spec_invalid`, and with `format_unknown`.
 */
export function importSpec(
  source: SourceText,
  places: Record<Base, ImportFolder>,
  /** What runs the tasks of a suite; null = it was not said. */
  runner: string | null = null,
): Result<Imported> {
  const keys = topKeys(source.text)
  const marked = (marks: readonly string[]) => marks.filter((mark) => keys.has(mark)).length >= 2
  const mapped = marked(TASK_MARKS)
    ? mapAs({ format: 'task', base: 'folder' }, TASK, fromTask, source, places)
    : marked(BACKLOG_MARKS)
      ? mapAs({ format: 'backlog', base: 'root' }, BACKLOG_SPEC, fromBacklog, source, places)
      : SUITE_MARKS.every((mark) => keys.has(mark)) && !keys.has('goal')
        ? mapSuite(source, places, runner)
        : fail(unknownFormat(source.file))
  if (!mapped.ok) return mapped
  const { format, base, spec, lines, pins = [], suite = null } = mapped.value
  const { dependencies, ...rest } = spec
  // An empty list of approved packages says that none is: it stays.
  const written = { ...(pruned(rest) as object), ...(dependencies === undefined ? {} : { dependencies }) }
  const yaml = `# Made from ${source.file} by assay init --from.\n${stringify(written, { lineWidth: 110 })}`
  const checked = readSpec(yaml, 'assay.yaml')
  return checked.ok ? ok({ format, base, yaml, lines, pins, suite }) : checked
}

function mapAs<T>(
  what: Pick<Imported, 'format' | 'base'>,
  kind: Kind<T>,
  map: (value: T, beside: ImportFolder) => Mapped,
  source: SourceText,
  places: Record<Base, ImportFolder>,
): Result<Mapped & Pick<Imported, 'format' | 'base'>> {
  const read = readYaml(kind, source, { nulls: 'absent' })
  return read.ok ? ok({ ...what, ...map(read.value.value, places[what.base]) }) : read
}

/**
 * The ideas of an old log; null: the file is no log. A word that is not of the format is refused with its place. Fails
 * with `spec_invalid`.
 */
export function importLog(source: SourceText): Result<LoggedIdeas> | null {
  if (LOG_MARKS.filter((mark) => topKeys(source.text).has(mark)).length < 2) return null
  const read = readYaml(BACKLOG_LOG, source, { nulls: 'absent', longest: LONGEST_LOG })
  return read.ok ? ok(fromLog(read.value.value)) : read
}

/** Characters. */
const LONGEST_LOG = 4_000_000

function mapSuite(
  source: SourceText,
  places: Record<Base, ImportFolder>,
  runner: string | null,
): Result<Mapped & Pick<Imported, 'format' | 'base'>> {
  const read = readYaml(SUITE, source, { nulls: 'absent' })
  if (!read.ok) return read
  const mapped = fromSuite(read.value.value, places.root, runner)
  return mapped.ok ? ok({ format: 'suite', base: 'root', ...mapped.value }) : mapped
}

/** Of a file that may be broken elsewhere. */
const topKeys = (text: string): Set<string> =>
  new Set([...text.matchAll(/^["']?([A-Za-z_][\w-]*)["']?[ \t]*:/gm)].map(([, key]) => key ?? ''))

const unknownFormat = (file: string) => ({
  kind: 'usage' as const,
  code: 'format_unknown',
  message: `${file} is of no format that can be imported`,
  hint: next`a task file has the keys ${TASK_MARKS.join(', ')}; a spec with a backlog ${BACKLOG_MARKS.join(', ')}; a suite ${SUITE_MARKS.join(', ')}; a spec of Assay needs no import: ${call('init', file)}`,
  at: file,
})

/** Without what is undefined, and without the mappings and lists that are empty then. */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pruned)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).flatMap(([name, member]) => {
    const kept = pruned(member)
    const empty = typeof kept === 'object' && kept !== null && Object.keys(kept).length === 0
    return kept === undefined || empty ? [] : [[name, kept]]
  })
  return Object.fromEntries(members)
}
