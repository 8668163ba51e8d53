/** `config`: the knobs that may change while a run lives. */

import type { Knobs, StopReason } from '../ledger/events.ts'
import { answered } from '../ledger/ledger.ts'
import type { Result } from '../result.ts'
import { KNOB_PATHS, readKnob } from '../spec/knobs.ts'
import { stopReason } from './budget.ts'
import type { OpenRun } from './open.ts'

export type KnobValue = Knobs[keyof Knobs]

export interface KnobData {
  key: keyof Knobs
  /** Its place in the spec. */
  path: string
  value: KnobValue
}

/** Caps are read at each claim; the rest when a round opens. */
const AT_ONCE: readonly (keyof Knobs)[] = [
  'max_attempts',
  'experiments',
  'hours',
  'failures',
  'tokens',
  'usd',
  'unknown',
  'stall',
]

export interface ConfigAnswer extends KnobData {
  before: KnobValue
  takes_effect: 'now' | 'next round'
  /** Why the loop would stop now; null while it may go on. */
  stop: StopReason | null
  repeated?: true
}

export function knobsIn(run: OpenRun): KnobData[] {
  const { knobs } = run.ledger.state
  if (!knobs) throw new Error('a run that has started has knobs')
  return (Object.keys(KNOB_PATHS) as (keyof Knobs)[]).map((key) => ({
    key,
    path: KNOB_PATHS[key],
    value: knobs[key] ?? null,
  }))
}

export function setKnob(
  run: OpenRun,
  { name, text, why, key }: { name: string; text: string; why: string; key: string | null },
): Result<ConfigAnswer> {
  const change = readKnob(name, text)
  if (!change.ok) return change
  const before = new Map(knobsIn(run).map((knob) => [knob.key, knob.value]))
  const recorded = run.ledger.record<'configured'>(
    { type: 'configured', changes: change.value, why: why.slice(0, 1000) },
    run.clock(),
    key,
  )
  return answered(recorded, (event) => {
    const [knob] = Object.keys(event.changes) as (keyof Knobs)[]
    if (knob === undefined) throw new Error('a change of nothing')
    return {
      key: knob,
      path: KNOB_PATHS[knob],
      value: event.changes[knob] ?? null,
      before: before.get(knob) ?? null,
      takes_effect: AT_ONCE.includes(knob) ? ('now' as const) : ('next round' as const),
      stop: stopReason(run.ledger.state),
    }
  })
}
