/** How the user's spec file differs from the spec of the run. The difference has no effect by itself. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Knobs } from '../ledger/events.ts'
import { call, next, type Said } from '../next.ts'
import { runSpecCopy, SPEC_FILE } from '../paths.ts'
import type { Spec } from '../spec/spec.ts'
import type { OpenRun } from './open.ts'

export interface EditedSpec {
  /** The file, relative to the checkout. */
  file: string
  state: 'edited' | 'invalid' | 'missing'
  /** Top-level keys that differ and that say what is measured: they need a new run. */
  frozen: string[]
  /** Knobs whose value in the file is neither the run's own nor that of its start. */
  knobs: { key: keyof Knobs; path: string; run: Knobs[keyof Knobs]; file: Knobs[keyof Knobs] }[]
  /** Other top-level keys that differ; a run keeps what it began with. */
  other: string[]
  /** The verb that applies it. */
  hint: Said
}

const NEW = call('init', '--new')

/** null when the file means what it meant at `init`; comments and order do not count. */
export async function editedSpec(run: OpenRun): Promise<EditedSpec | null> {
  const { started } = run
  const file = started.spec_file ?? [started.prefix, SPEC_FILE].filter(Boolean).join('/')
  const text = read(resolve(started.checkout, file))
  if (text !== null && text === read(runSpecCopy(run.paths))) return null
  const nothing = { file, frozen: [], knobs: [], other: [] }
  if (text === null)
    return { ...nothing, state: 'missing', hint: 'the run keeps the spec that it began with' }
  // Loaded only if the file changed: the parser would cost every `status` a tenth of its time.
  const [{ readSpec }, { specHash }] = await Promise.all([
    import('../spec/read.ts'),
    import('../spec/hash.ts'),
  ])
  const now = readSpec(text, file)
  if (!now.ok) return { ...nothing, state: 'invalid', hint: next`to see what is wrong: ${NEW}` }
  if (specHash(now.value) === started.spec_hash) return null
  return { ...nothing, ...(await differences(run, now.value)), state: 'edited' }
}

async function differences(
  run: OpenRun,
  spec: Spec,
): Promise<Pick<EditedSpec, 'frozen' | 'knobs' | 'other' | 'hint'>> {
  const [{ canonical, frozenOf }, { KNOB_PATHS, knobsOf }] = await Promise.all([
    import('../spec/hash.ts'),
    import('../spec/knobs.ts'),
  ])
  const changed = (Object.keys(spec) as (keyof Spec)[]).filter(
    (key) => canonical(spec[key]) !== canonical(run.spec[key]),
  )
  const isFrozen = new Set(Object.keys(frozenOf(spec)))
  const [started, current, file] = [knobsOf(run.spec), run.ledger.state.knobs, knobsOf(spec)]
  const differing = (Object.keys(KNOB_PATHS) as (keyof Knobs)[]).filter((key) => file[key] !== started[key])
  const knobs = differing
    .filter((key) => file[key] !== current?.[key])
    .map((key) => ({ key, path: KNOB_PATHS[key], run: current?.[key] ?? null, file: file[key] }))
  const frozen = changed.filter((key) => isFrozen.has(key))
  const paths = new Set(differing.map((key) => KNOB_PATHS[key].split('.')[0]))
  const other = changed.filter((key) => !isFrozen.has(key) && !paths.has(key))
  const [knob] = knobs
  const hint =
    frozen.length > 0 || !knob
      ? next`a run keeps what it measures; to start a new run: ${NEW}`
      : next`apply it: ${call('config set', knob.path, String(knob.file ?? 'none'), '--reason', 'TEXT')}`
  return { frozen, knobs, other, hint }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
