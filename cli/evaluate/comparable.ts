/** Whether two samples answer the same question: same units, same tasks, and small enough to be recorded. Pure. */
import type { Sample } from '../ledger/events.ts'

type Answer = Pick<Sample, 'metrics' | 'units' | 'tasks'> & Partial<Pick<Sample, Recorded>>

/** What Assay measures of every sample, and a benchmark may report itself under the same name. */
const RECORDED = ['wall_ms', 'cpu_ms', 'peak_mb'] as const
type Recorded = (typeof RECORDED)[number]

/** Of one sample's metrics and tasks as JSON: a line of the record has 64 KiB, and a character up to three bytes. */
const MOST_CHARACTERS = 20_000
const NAMED = 5

/** Why the sample cannot be recorded or compared with the baseline's, as a sentence; null when it can. */
export function incomparable(baseline: Answer | null, sample: Answer): string | null {
  const large = tooLarge(sample)
  if (large !== null) return large
  if (baseline === null) return null
  return (
    unitChange(baseline, sample) ??
    taskChange(baseline.tasks, sample.tasks) ??
    runsChange(baseline.tasks, sample.tasks) ??
    forgedRecord(baseline, sample)
  )
}

/**
 * Why two samples cannot be compared: a metric that both have is in another unit (or lost it). null when all agree.
 * Units that can be converted were converted before (`inUnitsOf`).
 */
export function unitChange(
  before: Pick<Sample, 'metrics' | 'units'>,
  after: Pick<Sample, 'metrics' | 'units'>,
): string | null {
  for (const name of Object.keys(before.metrics)) {
    if (!Object.hasOwn(after.metrics, name)) continue
    const [was, is] = [own(before.units, name), own(after.units, name)]
    if (was !== is) return `the unit of ${name} changed from ${was ?? 'none'} to ${is ?? 'none'}`
  }
  return null
}

const own = <T>(record: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

function tooLarge({ metrics, tasks }: Answer): string | null {
  const size = JSON.stringify([metrics, tasks]).length
  if (size <= MOST_CHARACTERS) return null
  return `its metrics and tasks are ${size} characters, the record takes ${MOST_CHARACTERS}: report groups of cases as one task`
}

/** The sample in a size that the record can hold: a sample that is too large becomes a fault that says so. */
export function recordable(sample: Sample): Sample {
  const message = sample.fault ? null : tooLarge(sample)
  if (message === null) return sample
  return {
    ...sample,
    value: null,
    metrics: {},
    units: {},
    tasks: null,
    fault: { reason: 'metric_error', message },
  }
}

/** A benchmark whose set of tasks changes measures something else; the empty set counts as a set, too. */
function taskChange(before: Sample['tasks'], after: Sample['tasks']): string | null {
  const [expected, got] = [new Set(Object.keys(before ?? {})), new Set(Object.keys(after ?? {}))]
  const missing = [...expected].filter((task) => !got.has(task))
  const added = [...got].filter((task) => !expected.has(task))
  if (missing.length + added.length === 0) return null
  const parts = [list('missing', missing), list('new', added)].filter((part) => part !== '')
  return `its tasks are not those of the baseline (${parts.join('; ')})`
}

/** The candidate writes to the same output as the tool: an extra line may be the candidate's own. */
function runsChange(before: Sample['tasks'], after: Sample['tasks']): string | null {
  for (const [task, { runs: was = 1 }] of Object.entries(before ?? {})) {
    const is = after?.[task]?.runs ?? 1
    if (was !== is) return `its output has ${task} ${times(is)}, and that of the baseline ${times(was)}`
  }
  return null
}

const times = (count: number): string => ['', 'once', 'twice'][count] ?? `${count} times`

const list = (what: string, tasks: readonly string[]): string =>
  tasks.length === 0 ? '' : `${what}: ${tasks.slice(0, NAMED).join(', ')}${tasks.length > NAMED ? ', …' : ''}`

/** A metric that Assay itself recorded for the baseline may not be reported by the candidate. */
function forgedRecord(before: Answer, after: Answer): string | null {
  for (const name of RECORDED) {
    const known = before.metrics[name]
    const ours = known === undefined || known === before[name]
    const told = after.metrics[name]
    if (ours && told !== undefined && told !== after[name])
      return `it reports ${name} = ${told} itself, which the baseline left to Assay: measured were ${after[name] ?? 'nothing'}`
  }
  return null
}
