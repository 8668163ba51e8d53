/** Whether two samples answer the same question: same units, same tasks, and small enough to be recorded. Pure. */
import type { Sample, SampleFault } from '../ledger/events.ts'
import type { BenchmarkAnswer } from './benchmark-answer.ts'
import { isTurn } from './beside.ts'
import { whyEither, whyPoint } from './number.ts'
import { areKin, convert, convertAs1024, isUnit } from './units.ts'

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

// ---------------------------------------------------------------- the units of another sample
// Brings what a sample says into the units of another one, exactly, or says why that cannot be.

export type Reference = Pick<Sample, 'metrics' | 'units' | 'beside' | 'around' | 'notation'>
/** As it is recorded. */
export type InUnits = Omit<BenchmarkAnswer, 'raws' | 'spelled'> & Pick<Sample, 'converted'>

/** `primary` is the metric of `value` and of the tasks' scores. A reference of null has no units to keep to. */
export function inUnitsOf(
  reference: Reference | null,
  answer: BenchmarkAnswer,
  primary: string,
): InUnits | SampleFault {
  const { raws, spelled = [], ...said } = answer
  if (reference === null)
    return said.notation === 'comma'
      ? fault(`${primary} was not read, because ${whyEither(said.value)}`, raws[primary])
      : said
  const word = otherWord(reference, said, spelled)
  if (word !== null) return fault(`the word behind the number of ${primary} changed ${word}`, raws[primary])
  const near = otherAround(reference, said)
  if (near !== null)
    return fault(`what stands beside the number of ${primary} changed ${near}`, raws[primary])
  const known = unitsKnown(reference, said, primary)
  const same: InUnits = { ...known, metrics: { ...known.metrics }, units: { ...known.units } }
  const converted: [string, { value: number; unit: string | null }][] = []
  for (const [name, value] of Object.entries(known.metrics)) {
    if (!Object.hasOwn(reference.metrics, name) || typeof value !== 'number') continue
    const [was, is] = [own(reference.units, name), own(known.units, name)]
    if (was === is) continue
    const inOld = (one: number) => convert(one, is, was)
    const now = inOld(value)
    if (now === null)
      return fault(`the unit of ${name} changed from ${was ?? 'none'} to ${is ?? 'none'}`, own(raws, name))
    if (isMultipleUnknown(value, reference.metrics[name], is, was))
      return fault(
        `the unit of ${name} changed from ${was ?? 'none'} to ${is ?? 'none'}, and whether K, M and G are powers of 1000 or of 1024 decides which is more: let the benchmark print one unit, such as bytes`,
        own(raws, name),
      )
    same.metrics[name] = now
    converted.push([name, { value, unit: is }])
    if (was === null) delete same.units[name]
    else same.units[name] = was
    if (name !== primary) continue
    same.value = now
    same.tasks =
      known.tasks &&
      Object.fromEntries(
        Object.entries(known.tasks).map(([task, one]) => [
          task,
          { ...one, score: inOld(one.score) ?? one.score },
        ]),
      )
  }
  const separator = unknownSeparator(reference, same, primary)
  if (separator !== null) return fault(`${primary} was not read, because ${separator}`, raws[primary])
  if (same.notation === 'comma') same.notation = 'groups'
  return converted.length === 0 ? same : { ...same, converted: Object.fromEntries(converted) }
}

/** Of a number that changed from one multiple to another: some programs mean powers of 1024, and go to the next only there. */
function isMultipleUnknown(
  value: number,
  other: number | boolean | undefined,
  is: string | null,
  was: string | null,
): boolean {
  const [now, otherwise] = [convert(value, is, was), convertAs1024(value, is, was)]
  if (now === null || otherwise === null || now === otherwise || typeof other !== 'number') return false
  const smaller = Math.abs(now) < Math.abs(value) ? value : other
  return (
    Math.sign(now - other) !== Math.sign(otherwise - other) ||
    (Math.abs(smaller) >= 1000 && Math.abs(smaller) < 1024)
  )
}

/** Far more or less than the baseline is not what a number in groups would be. */
const NEAR_BASELINE = 10

/**
 * Why it cannot be known what the one separator in a number is, as the rest of a sentence; null when the number of the
 * baseline shows it. `1,050` after `950` are thousands, since a program that writes three decimals always had written
 * them there too, and one that leaves out zeros had to become a thousand times less.
 */
function unknownSeparator(
  reference: Reference,
  { value, notation }: InUnits,
  primary: string,
): string | null {
  const before = reference.metrics[primary]
  const isNear = (one: number, other: number) => one / other <= NEAR_BASELINE && other / one <= NEAR_BASELINE
  if (typeof before !== 'number') return null
  if (notation === 'comma') {
    const single = reference.notation === 'point' || reference.notation === 'whole'
    const shown = reference.notation === 'groups' || (single && isNear(value, before))
    return shown ? null : whyEither(value)
  }
  const [whole, dot] = reference.notation === 'whole' ? [before, value] : [value, before]
  const other = reference.notation === 'whole' ? notation : reference.notation
  const isWhole = reference.notation === 'whole' || notation === 'whole'
  return isWhole && other === 'dot' && isNear(1000 * dot, whole) ? whyPoint(dot) : null
}

/** Earlier versions did not look at what stands behind a group: then that a unit is there now is no change. */
function unitsKnown(reference: Reference, said: InUnits, primary: string): InUnits {
  if (reference.beside !== undefined || typeof said.beside !== 'string') return said
  const { [primary]: _, ...units } = said.units
  return { ...said, units }
}

/** As `ls -l` has them behind a size. */
const CALENDAR = /^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)$/

/** Words that are no units: `42 widgets`, and then `42 gadgets`. */
function otherWord(
  { beside: before }: Reference,
  { beside: after }: InUnits,
  spelled: readonly string[],
): string | null {
  if (before === undefined || after === undefined) return null
  const isNone = (word: string | null) => word !== null && (isUnit(word) || CALENDAR.test(word))
  const [was, is] = [before, after].map((word) => (isNone(word) ? null : singular(word)))
  if (was === is || (before !== null && isUnit(before)) || (after !== null && isUnit(after))) return null
  const isSpelled = (word: string | null) => word === null || spelled.includes(word)
  if (isSpelled(before) && isSpelled(after) && !areKin(before ?? '', after ?? '')) return null
  return `from ${before ?? 'none'} to ${after ?? 'none'}${adviceOn([before, after])}`
}

/** A unit that does not stand directly behind, a word in its place, or a different number beside. */
function otherAround({ around: was }: Reference, { around: is = null }: InUnits): string | null {
  // Earlier versions did not look, and nothing is looked for around a METRIC line.
  if (was === undefined || was === is) return null
  const wholes = [was, is].map((around) => WHOLE.exec(around ?? '')?.[0])
  if (wholes[0] !== wholes[1] && !wholes.includes(undefined))
    return `from "${wholes[0]}" to "${wholes[1]}": let the benchmark print a share such as 0.9; or, if the number behind the slash does not matter, put it into the pattern: (\\d+)/\\d+`
  const words = (around: string | null) => around?.replace(WHOLE, '').split(/, | /) ?? []
  const turns = [was, is].map((around) => words(around).filter(isTurn).join(' '))
  // One word without the other says nothing: `0 %` and then `5 % faster`.
  const isTurned = turns[0] !== turns[1] && turns.every((turn) => turn !== '')
  const parts = [was, is].map((around) =>
    [
      ...new Set(
        words(around)
          .filter((word) => isTurned || !isTurn(word))
          .map(singular),
      ),
    ].join(' '),
  )
  if (parts[0] === parts[1]) return null
  return `from ${was ?? 'none'} to ${is ?? 'none'}${adviceOn([was, is])}`
}

/** How the benchmark or the pattern can be written so that the next sample is read. */
function adviceOn(said: readonly (string | null)[]): string {
  const parts = said.flatMap((around) => around?.split(', ') ?? [])
  const once = (part: string, _: number, all: readonly string[]) =>
    all.filter((one) => one === part).length === 1
  if (parts.filter(once).some((part) => part.startsWith('a number')))
    return ': print one number without separators, and let a word or a sign stand between two'
  if (parts.filter(once).some(isTurn))
    return ': print a number that is larger when one thing is, with its sign, and no word for its direction'
  if (parts.filter(once).some((part) => MODE.test(part)))
    return ': let the benchmark run in one mode, with as many threads as at the baseline'
  if (parts.filter(once).some((part) => SIGN.test(part)))
    return ': let the benchmark print the number itself, without a sign of a bound or an estimate, and not in brackets'
  const words = parts
    .filter((part) => !part.startsWith('a number') && !MODE.test(part) && !SIGN.test(part))
    .flatMap((part) => part.split(' '))
    .filter(once)
  if (words.includes('-')) return ': if it is a sign, let the group of the pattern hold it: (-?…)'
  if (words.some((word) => isUnit(word) || words.some((other) => areKin(word, other))))
    return ': let the benchmark print one unit, or print it directly behind the number'
  const either = words.join('|').replaceAll('$', '\\$')
  return `: if that is no unit, let the pattern spell it: (?:${either})${words.length > 1 ? '' : '?'}`
}

/** What the number is a part of. Earlier versions did not look for it. */
const WHOLE = /(?<=^a number behind, |, a number behind, )of [\d.,]*\d/
const SIGN = /^\S+ (?:in front|behind)$/
const MODE = /^mode \S+$|^\d+ threads$/

const singular = (word: string | null): string | null =>
  word
    ?.replace(/(?<=..)ies$/, 'y')
    .replace(/(?<=.(?:s|x|z|ch|sh))es$/, '')
    .replace(/(?<=.[^s])s$/, '') ?? null

const own = <T>(record: Record<string, T>, name: string): T | null =>
  Object.hasOwn(record, name) ? (record[name] ?? null) : null

const fault = (message: string, raw: string | null | undefined): SampleFault => ({
  reason: 'metric_error',
  message,
  ...(raw !== undefined && raw !== null && { raw }),
})
