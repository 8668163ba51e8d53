/** `config`: the keys of the spec that may change while a run lives. */

import { resolve } from 'node:path'
import { fileText } from '../files.ts'
import { canonical } from '../json.ts'
import type { Configured, Knobs, StopReason } from '../ledger/events.ts'
import { answered } from '../ledger/ledger.ts'
import { call, next } from '../next.ts'
import { runSpecCopy } from '../paths.ts'
import { placeInText } from '../result/issues.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { KNOB_PATHS, knobNamed } from '../spec/knobs.ts'
import { changeOf, findKey, type KeyChange, unchangeable, unknownKey } from '../spec/live.ts'
import { type Preferences, readPreferences } from '../spec/preferences.ts'
import { LIVE_SECTIONS } from '../spec/spec.ts'
import {
  differing,
  liveKeys,
  readSetting,
  readWritten,
  type Settings,
  type WrittenSpec,
} from '../spec/written.ts'
import { stopReason } from './budget.ts'
import { liveSpec, type OpenRun, specFileOf } from './open.ts'

/** Where a key has its value from: the default, the user's own file, the spec of `init`, `config set` or `config sync`, or the meta controller. */
export type KeySource = 'default' | 'user' | 'spec' | 'config' | 'meta'

export interface KeyData {
  /** The name of a knob, else its place in the spec. */
  key: string
  /** Its place in the spec. */
  path: string
  /** As a spec has it; null = none. */
  value: unknown
  from: KeySource
  /** The user's own file. */
  at?: string
  change: KeyChange
}

export interface ConfigData {
  /** Numbers of the search and caps of the budget, which the meta controller may change too. */
  knobs: KeyData[]
  /** All other keys that may change while a run lives. */
  settings: KeyData[]
}

const KNOBS = Object.keys(KNOB_PATHS) as (keyof Knobs)[]

/** The knob at this place in the spec. */
export const knobAt = (path: string): keyof Knobs | null =>
  KNOBS.find((one) => KNOB_PATHS[one] === path) ?? null

// ---------------------------------------------------------------- what holds now

export function configOf(run: OpenRun): Result<ConfigData> {
  const now = liveWritten(run)
  if (!now.ok) return now
  const preferred = readPreferences(run.env)
  if (!preferred.ok) return preferred
  const paths = liveKeys(now.value).filter((path) => knobAt(path) === null)
  return ok({
    knobs: KNOBS.filter((knob) => knobsNow(run)[knob] !== undefined).map((knob) =>
      dataOf(run, now.value, KNOB_PATHS[knob]),
    ),
    settings: paths.map((path) => withPreferred(dataOf(run, now.value, path), preferred.value)),
  })
}

/** One key, also one that may not change. Fails with `knob_unknown`. */
export function keyOf(run: OpenRun, name: string): Result<KeyData> {
  const knob = knobNamed(name)
  const path = knob === null ? name : KNOB_PATHS[knob]
  if (findKey(path) === null) return unknownKey(name, KNOBS)
  const now = liveWritten(run)
  if (!now.ok) return now
  const data = dataOf(run, now.value, path)
  if (data.value !== null || preferenceAt(path) === null) return ok(data)
  const preferred = readPreferences(run.env)
  return preferred.ok ? ok(withPreferred(data, preferred.value)) : preferred
}

/** The name that a key has in the user's own file. */
function preferenceAt(path: string): keyof Preferences['said'] | null {
  const name = path.replace(/^loop\./, '')
  return path !== name && (name === 'driver' || name === 'autonomous') ? name : null
}

/** What neither the spec nor a person said for this run, the user may say for all. */
function withPreferred(data: KeyData, { at, said }: Preferences): KeyData {
  const name = preferenceAt(data.path)
  if (name === null || data.value !== null || said[name] === null) return data
  return { ...data, value: said[name], from: 'user', at }
}

function dataOf(run: OpenRun, now: WrittenSpec, path: string): KeyData {
  const knob = knobAt(path)
  const value = (knob === null ? undefined : knobsNow(run)[knob]) as unknown
  // A knob that the spec does not use is absent from the run, and has its default.
  const shown = value === undefined ? now.written(path) : value
  return { key: knob ?? path, path, value: shown, from: sourceOf(run, now, path), change: changeOf(path) }
}

function sourceOf(run: OpenRun, now: WrittenSpec, path: string): KeySource {
  const { configured } = run.ledger.state
  const knob = knobAt(path)
  const begun = now.has(path) ? 'spec' : 'default'
  if (knob === null) {
    const touches = (one: string) => `${one}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${one}.`)
    return configured.some(({ settings = {} }) => Object.keys(settings).some(touches)) ? 'config' : begun
  }
  const last = configured.findLast(({ changes }) => Object.hasOwn(changes, knob))
  const said = last ? last.changes[knob] : run.started.knobs[knob]
  if ((said ?? null) !== (knobsNow(run)[knob] ?? null)) return 'meta'
  return last ? 'config' : begun
}

export function knobsNow(run: OpenRun): Knobs {
  const { knobs } = run.ledger.state
  if (!knobs) throw new Error('a run that has started has knobs')
  return knobs
}

// ---------------------------------------------------------------- the spec of the run, as its author wrote it

/** The user's text of `init` with all settings since; its knobs are those of `init`. */
const liveWritten = (run: OpenRun): Result<WrittenSpec> =>
  writtenWith(run, settingsOf(run.ledger.state.configured))

const settingsOf = (configured: readonly Configured[]): Settings =>
  Object.assign({}, ...configured.map(({ settings }) => settings))

function writtenWith(run: OpenRun, settings: Settings): Result<WrittenSpec> {
  const path = runSpecCopy(run.paths)
  const text = fileText(path)
  if (text !== null) return readWritten({ text, file: path }, settings)
  return fail({
    kind: 'refused',
    code: 'spec_copy_missing',
    message: `the copy of the spec with which ${run.run} began is gone`,
    hint: 'restore it from a backup',
    at: path,
  })
}

// ---------------------------------------------------------------- `config set`

export type TakesEffect = 'now' | 'next round' | 'next start'

/** Caps are read at each claim and the other keys at each question; what a round opens with holds for that round. */
function takesEffect(path: string): TakesEffect {
  if (path === 'loop.workflow' || path === 'loop') return 'next start'
  const ofRound =
    path.startsWith('search') || /^loop\.(width|depth|revise|ideate|scan|baseline_arm)/.test(path)
  return ofRound && path !== 'search.max_attempts' ? 'next round' : 'now'
}

export interface ConfigChange {
  key: string
  path: string
  value: unknown
  before: unknown
  takes_effect: TakesEffect
}

export interface ConfigAnswer extends ConfigChange {
  /** Why the loop would stop now; null while it may continue. */
  stop: StopReason | null
  repeated?: true
}

/** `name` is a knob (`width`) or the place of a key in the spec (`loop.width`, `agent.model`). */
export function setKey(
  run: OpenRun,
  { name, text, why, key }: { name: string; text: string; why: string; key: string | null },
): Result<ConfigAnswer> {
  const knob = knobNamed(name)
  const path = knob === null ? name : KNOB_PATHS[knob]
  const read = readSetting(path, text, KNOBS)
  if (!read.ok) return read
  const recorded = record(run, key, () => {
    if (knob !== null) return ok({ changes: { [knob]: read.value }, why })
    const change = withSettings(run, { [path]: read.value }, path)
    return change.ok ? ok({ ...change.value, changes: {}, why }) : change
  })
  return answered(recorded, (event) => {
    const [changed] = changesIn(run, event)
    if (changed === undefined) throw new Error('a change of nothing')
    return { ...changed, stop: stopReason(run.ledger.state) }
  })
}

/** The settings with the sections that they change. `place`: how messages call the place of what the whole spec refuses. */
function withSettings(
  run: OpenRun,
  settings: Settings,
  place: string,
): Result<Pick<Configured, 'settings' | 'sections' | 'after'>> {
  const { configured } = run.ledger.state
  const now = writtenWith(run, { ...settingsOf(configured), ...settings })
  // Each value holds by itself: what is left are rules between keys, and these have no place in a text of the user.
  if (!now.ok) return fail(placed(now.problem, place))
  const live = liveSpec(run)
  const changed = LIVE_SECTIONS.filter(
    (name) => canonical(now.value.spec[name] ?? null) !== canonical(live[name] ?? null),
  )
  const sections = Object.fromEntries(changed.map((name) => [name, now.value.spec[name] ?? null]))
  return ok({ settings, sections, after: configured.length })
}

const placed = ({ more, ...problem }: Problem, at: string): Problem => ({
  ...problem,
  code: 'knob_invalid',
  at,
  ...(more ? { more: more.map((one) => placed(one, at)) } : {}),
})

type Change = Pick<Configured, 'changes' | 'settings' | 'sections' | 'after' | 'synced' | 'why'>

/** Each of them waits at most for as many others. */
const TRIES = 20

/** `make` is called again when another change came first, since it was made from what held before. */
function record(run: OpenRun, key: string | null, make: () => Result<Change>) {
  for (let tries = 1; ; tries++) {
    const change = make()
    if (!change.ok) return change
    const draft = { type: 'configured' as const, ...change.value, why: change.value.why.slice(0, 1000) }
    const recorded = run.ledger.record<'configured'>(draft, run.clock(), key)
    if (recorded.ok || recorded.problem.code !== 'stale_config' || tries === TRIES) return recorded
  }
}

/** What an event changed, each key with its value before: by what was recorded, so that a repeated call answers the same. */
function changesIn(run: OpenRun, event: Configured): ConfigChange[] {
  const { configured } = run.ledger.state
  const at = configured.findIndex(({ id }) => id === event.id)
  const earlier = configured.slice(0, at)
  const before = writtenWith(run, settingsOf(earlier))
  const after = writtenWith(run, settingsOf(configured.slice(0, at + 1)))
  const knobsBefore: Partial<Knobs> = Object.assign(
    {},
    run.started.knobs,
    ...earlier.map(({ changes }) => changes),
  )
  const knobs = (Object.keys(event.changes) as (keyof Knobs)[]).map((knob) => ({
    key: knob as string,
    path: KNOB_PATHS[knob],
    value: event.changes[knob] ?? null,
    before: knobsBefore[knob] === undefined ? defaultAt(before, KNOB_PATHS[knob]) : knobsBefore[knob],
  }))
  const others = Object.keys(event.settings ?? {}).map((path) => {
    const [value, was] = [after, before].map((one) => (one.ok ? one.value.written(path) : null))
    return { key: path, path, value, before: was }
  })
  return [...knobs, ...others].map((one) => ({ ...one, takes_effect: takesEffect(one.path) }))
}

const defaultAt = (spec: Result<WrittenSpec>, path: string): unknown =>
  spec.ok ? (spec.value.written(path) ?? null) : null

// ---------------------------------------------------------------- `config sync`

export interface SyncAnswer {
  /** The file, relative to the checkout. */
  file: string
  /** Empty = the run has all of it already. */
  changes: ConfigChange[]
  /** Why the loop would stop now; null while it may continue. */
  stop: StopReason | null
  repeated?: true
}

export interface Edits {
  file: WrittenSpec
  /** Keys that may not change. */
  fixed: string[]
  /** Keys that were edited since `init` or the last `config sync`. */
  edited: string[]
  /** Those of them whose value is not the run's. */
  different: string[]
}

/** What was edited in the text of the user's file. Fails like `readSpec`. */
export function editsIn(run: OpenRun, text: string, file: string): Result<Edits> {
  const { configured } = run.ledger.state
  const written = readWritten({ text, file }, {})
  if (!written.ok) return written
  const synced = configured.filter((one) => one.synced)
  const knobsThen: Settings = Object.fromEntries(
    synced.flatMap(({ changes }) =>
      Object.entries(changes).map(([knob, value]) => [KNOB_PATHS[knob as keyof Knobs], value]),
    ),
  )
  const base = writtenWith(run, { ...settingsOf(synced), ...knobsThen })
  if (!base.ok) return base
  const live = liveWritten(run)
  if (!live.ok) return live
  const all = differing(base.value, written.value)
  const edited = all.filter((path) => changeOf(path) === 'live')
  const knobs = knobsNow(run)
  const runs = (path: string) => {
    const knob = knobAt(path)
    const value = knob === null ? undefined : knobs[knob]
    return value === undefined ? live.value.read(path) : value
  }
  return ok({
    file: written.value,
    fixed: all.filter((path) => changeOf(path) !== 'live'),
    edited,
    different: edited.filter((path) => canonical(runs(path) ?? null) !== canonical(written.value.read(path))),
  })
}

/**
 * Takes from the user's spec file what was edited there. A key that decides what is measured, or any other that a run keeps,
 * refuses all of it (`spec_fixed`). Fails like `readSpec`, and with `spec_unreadable`.
 */
export function syncSpec(
  run: OpenRun,
  { why, key }: { why: string | null; key: string | null },
): Result<SyncAnswer> {
  const name = specFileOf(run)
  const path = resolve(run.started.checkout, name)
  const text = fileText(path)
  if (text === null)
    return fail({
      kind: 'usage',
      code: 'spec_unreadable',
      message: `${name} cannot be read`,
      hint: 'the run keeps the spec that it has',
      at: path,
    })
  const before = run.ledger.answeredBefore(['configured'], key)
  const first = editsIn(run, text, name)
  if (before === null && !first.ok) return first
  if (before === null && first.ok) {
    const { fixed, different, file } = first.value
    if (fixed.length > 0) return fail(refusal(fixed, (one) => placeOf(file, { text, file: name }, one)))
    if (different.length === 0) return ok({ file: name, changes: [], stop: stopReason(run.ledger.state) })
  }
  const recorded = record(run, key, () => {
    const edits = editsIn(run, text, name)
    if (!edits.ok) return edits
    const { edited, file } = edits.value
    const changes: Partial<Knobs> = Object.fromEntries(
      edited.flatMap((one) => {
        const knob = knobAt(one)
        return knob === null ? [] : [[knob, file.read(one)]]
      }),
    )
    const settings = Object.fromEntries(
      edited.flatMap((one) => (knobAt(one) === null ? [[one, writtenIn(file, one)]] : [])),
    )
    const change = withSettings(run, settings, name)
    return change.ok
      ? ok({ ...change.value, changes, synced: true as const, why: why ?? `${name} was edited` })
      : change
  })
  return answered(recorded, (event) => ({
    file: name,
    changes: changesIn(run, event).filter(({ value, before }) => canonical(value) !== canonical(before)),
    stop: stopReason(run.ledger.state),
  }))
}

/** What is not written there any more is taken away, so that the default holds again. */
const writtenIn = (file: WrittenSpec, path: string): unknown => (file.has(path) ? file.written(path) : null)

const placeOf = (file: WrittenSpec, source: { text: string; file: string }, path: string): string => {
  const { from, to } = file.placeOf(path)
  return placeInText(source, from, to)
}

/** All keys that cannot change, each with its place: none of the edits is applied. */
function refusal(fixed: readonly string[], place: (path: string) => string): Problem {
  const [first, ...more] = fixed.map((path): Problem => {
    const change = changeOf(path)
    if (change === 'live') throw new Error(`${path} may change`)
    return {
      ...unchangeable(path, change),
      code: 'spec_fixed',
      hint: next`nothing was applied: undo this edit and repeat ${call('config sync')}, or start a new run with it: ${call('init', '--new')}`,
      at: place(path),
    }
  })
  if (first === undefined) throw new Error('nothing is fixed')
  return more.length === 0 ? first : { ...first, more }
}
