/** How the user's spec file differs from the spec of the run. The difference has no effect by itself. */

import { resolve } from 'node:path'
import { fileText } from '../files.ts'
import type { Knobs } from '../ledger/events.ts'
import { call, next, type Said } from '../next.ts'
import { runSpecCopy } from '../paths.ts'
import { type OpenRun, specFileOf } from './open.ts'

export interface EditedSpec {
  /** The file, relative to the checkout. */
  file: string
  state: 'edited' | 'invalid' | 'missing'
  /** Keys that were edited and cannot change while the run lives: they need a new run. */
  frozen: string[]
  /** Knobs that were edited, and whose value in the file is not the run's. */
  knobs: { key: string; path: string; run: Knobs[keyof Knobs]; file: Knobs[keyof Knobs] }[]
  /** The same of other keys that may change. */
  other: string[]
  /** The verb that applies it. */
  hint: Said
}

const NEW = call('init', '--new')

/** null when the file holds no edit that the run does not have; comments and order do not count. */
export async function editedSpec(run: OpenRun): Promise<EditedSpec | null> {
  const file = specFileOf(run)
  const text = fileText(resolve(run.started.checkout, file))
  const isAsBegun = text !== null && text === fileText(runSpecCopy(run.paths))
  if (isAsBegun && run.ledger.state.configured.every(({ synced }) => !synced)) return null
  const nothing = { file, frozen: [], knobs: [], other: [] }
  if (text === null)
    return { ...nothing, state: 'missing', hint: 'the run keeps the spec that it began with' }
  // Loaded only if the file changed: the parser would cost every `status` a tenth of its time.
  const { editsIn, knobAt, knobsNow } = await import('./config.ts')
  const edits = editsIn(run, text, file)
  if (!edits.ok)
    return { ...nothing, state: 'invalid', hint: next`to see what is wrong: ${call('config sync')}` }
  const { fixed, different, file: written } = edits.value
  if (fixed.length === 0 && different.length === 0) return null
  const knobs = different.flatMap((path) => {
    const key = knobAt(path)
    if (key === null) return []
    return [{ key, path, run: knobsNow(run)[key] ?? null, file: written.read(path) as Knobs[typeof key] }]
  })
  return {
    file,
    state: 'edited',
    frozen: fixed,
    knobs,
    other: different.filter((path) => knobAt(path) === null),
    hint:
      fixed.length > 0
        ? next`a run keeps what it measures; to start a new run: ${NEW}`
        : next`apply it: ${call('config sync')}`,
  }
}
