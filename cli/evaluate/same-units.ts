/** Brings what a sample says into the units of another one, exactly, or says why that cannot be. Pure. */
import type { Sample, SampleFault } from '../ledger/events.ts'
import type { BenchmarkAnswer } from './answer.ts'
import { convert, isUnit } from './units.ts'

export type Reference = Pick<Sample, 'metrics' | 'units' | 'beside' | 'around'>
/** As it is recorded. */
export type InUnits = Omit<BenchmarkAnswer, 'raws'> & Pick<Sample, 'converted'>

/** `primary` is the metric of `value` and of the tasks' scores. A reference of null has no units to keep to. */
export function inUnitsOf(
  reference: Reference | null,
  answer: BenchmarkAnswer,
  primary: string,
): InUnits | SampleFault {
  const { raws, ...said } = answer
  if (reference === null) return said
  const word = otherWord(reference, answer)
  if (word !== null) return fault(`the word behind the number of ${primary} changed ${word}`, raws[primary])
  const near = otherAround(reference, answer)
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
  return converted.length === 0 ? same : { ...same, converted: Object.fromEntries(converted) }
}

/** Earlier versions did not look at what stands behind a group: then that a unit is there now is no change. */
function unitsKnown(reference: Reference, said: InUnits, primary: string): InUnits {
  if (reference.beside !== undefined || typeof said.beside !== 'string') return said
  const { [primary]: _, ...units } = said.units
  return { ...said, units }
}

/** Words that are no units: `42 widgets`, and then `42 gadgets`. */
function otherWord({ beside: before }: Reference, { beside: after }: BenchmarkAnswer): string | null {
  if (before === undefined || after === undefined) return null
  const [was, is] = [before, after].map((word) => (word !== null && isUnit(word) ? null : singular(word)))
  if (was === is || (before !== null && isUnit(before)) || (after !== null && isUnit(after))) return null
  return `from ${before ?? 'none'} to ${after ?? 'none'}`
}

/** A unit that does not stand directly behind, or a different number beside. */
function otherAround({ around: was }: Reference, { around: is }: BenchmarkAnswer): string | null {
  if (was === undefined || is === undefined || was === is) return null
  return `from ${was ?? 'none'} to ${is ?? 'none'}`
}

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
