/** Which edits of the meta controller are accepted: by the rules of each kind, and against the edits that hold already. Pure. */
import {
  type Edit,
  type Knobs,
  META_KNOBS,
  META_PHASES,
  META_PROMPTS,
  type MetaKnob,
  type MetaPrompt,
  SEAMS,
} from '../../ledger/events.ts'
import { addEdit, directionsOf, editById, knobsOfNextRound, type MetaState } from '../../ledger/meta.ts'
import type { State } from '../../ledger/state.ts'
import { unreachable } from '../../result.ts'
import { alike } from '../../text.ts'

// ---------------------------------------------------------------- what the meta controller may say, and what each word of it may hold

export interface Refused {
  reason: string
  message: string
}

/** A run's own knobs widen them, so that what a person allowed may come back. */
export const BOUNDS: Readonly<Record<MetaKnob, { min: number; max: number }>> = {
  width: { min: 1, max: 16 },
  depth: { min: 1, max: 8 },
  stall: { min: 2, max: 50 },
  ideate_stall: { min: 1, max: 20 },
  ideate_keeps: { min: 1, max: 100 },
  scan_batch: { min: 1, max: 50 },
  scan_max: { min: 1, max: 200 },
}

/**
 * What a text that stands in for a prompt must keep, since its reader could not work without; null = the CLI does that
 * work itself, so there is no text to replace, only one to add for the agents that continue from it.
 */
const PLACEHOLDERS: Readonly<Record<MetaPrompt, readonly string[] | null>> = {
  state: null,
  aggregate: null,
  run: null,
  scan: ['experiments'],
  ideate: ['goal', 'why'],
  brief: ['goal', 'metric', 'parents', 'width'],
  implement: ['goal', 'metric', 'experiment', 'parent', 'worktree', 'artifacts', 'objective'],
  collect: ['round'],
}

const LIMITS = { text: 2000, reason: 500, rounds: 20 }
const KINDS = ['knob', 'phase', 'prompt', 'step', 'undo'] as const

/** One edit as it was handed in; else why it is none. */
function readEdit(item: unknown): Edit | Refused {
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    return malformed('an edit is an object with a "kind"')
  const raw = item as Record<string, unknown>
  const rationale = textOf(raw.rationale, LIMITS.reason)
  const evidence = textOf(raw.evidence, 200)
  const kind = KINDS.find((one) => one === raw.kind)
  if (kind === undefined) return outside(raw.kind, KINDS)
  if (rationale === null) return { reason: 'rationale', message: 'an edit says why, in "rationale"' }
  if (evidence === null)
    return { reason: 'evidence', message: 'an edit names its "evidence": an experiment, or a fact' }
  const ground = { rationale, evidence }
  switch (kind) {
    case 'knob': {
      const knob = META_KNOBS.find((one) => one === raw.knob)
      if (knob === undefined) return outside(raw.knob, META_KNOBS)
      if (!Number.isSafeInteger(raw.value))
        return { reason: 'bounds', message: `the "value" of ${knob} must be a whole number` }
      return { kind, knob, value: Number(raw.value), ...ground }
    }
    case 'phase': {
      const phase = META_PHASES.find((one) => one === raw.phase)
      if (phase === undefined) return outside(raw.phase, META_PHASES)
      return typeof raw.on === 'boolean'
        ? { kind, phase, on: raw.on, ...ground }
        : malformed('"on" is true or false')
    }
    case 'prompt': {
      const prompt = META_PROMPTS.find((one) => one === raw.prompt)
      if (prompt === undefined) return outside(raw.prompt, META_PROMPTS)
      const { mode } = raw
      if (mode !== 'append' && mode !== 'replace') return malformed('"mode" is append or replace')
      return withText(raw.text, (text) => ({ kind, prompt, mode, text, ...ground }))
    }
    case 'step': {
      const seam = SEAMS.find((one) => one === raw.seam)
      if (seam === undefined) return outside(raw.seam, SEAMS)
      const rounds = Number(raw.rounds ?? Number.NaN)
      if (!Number.isSafeInteger(rounds) || rounds < 1 || rounds > LIMITS.rounds)
        return { reason: 'bounds', message: `"rounds", how long it lives, is 1 to ${LIMITS.rounds}` }
      return withText(raw.text, (text) => ({ kind, seam, text, rounds, ...ground }))
    }
    case 'undo': {
      const edit = textOf(raw.edit, 50)
      return edit === null ? malformed('"edit" is the id of an earlier edit') : { kind, edit, ...ground }
    }
  }
}

function withText(given: unknown, make: (text: string) => Edit): Edit | Refused {
  const text = typeof given === 'string' ? given.trim() : ''
  if (text === '') return malformed('"text" is missing')
  if (text.length > LIMITS.text)
    return { reason: 'bounds', message: `"text" has ${text.length} characters, at most ${LIMITS.text}` }
  return make(text)
}

function textOf(given: unknown, most: number): string | null {
  return typeof given === 'string' && given.trim() !== '' ? given.trim().slice(0, most) : null
}

const malformed = (message: string): Refused => ({ reason: 'malformed', message })

/** Everything that decides what counts. It is refused by name, so that an agent does not look for a different way to change it. */
const JUDGING =
  /verif|audit|revis|judg|verdict|gate|bench|measure|metric|target|noise|seal|check|confirm|scope/i

function outside(word: unknown, known: readonly string[]): Refused {
  const said = String(word).slice(0, 50)
  return {
    reason: 'vocabulary',
    message: JUDGING.test(said)
      ? `${said} is not steered: verifier, gates, benchmark and verdict stand`
      : `${said} is not in the vocabulary: ${known.join(', ')}`,
  }
}

/** Of one call, and of what holds at once: a prompt that is all directives says nothing. */
const MOST = { edits: 10, steps: 8, appended: 5 }

export interface SiftedEdits {
  edits: Edit[]
  refused: ({ index: number } & Refused)[]
}

/** `facts`: names of those that are known now. `tick`: the one that the edits answer; null = of none. */
export function siftEdits(
  items: readonly unknown[],
  state: State,
  facts: ReadonlySet<string>,
  tick: number | null = null,
): SiftedEdits {
  // Edits of one call see those before them, by the very rules by which the fold will take them.
  const scratch: MetaState = structuredClone(state.meta)
  const edits: Edit[] = []
  const refused: SiftedEdits['refused'] = []
  for (const [index, item] of items.entries()) {
    const edit = readEdit(item)
    const why =
      'reason' in edit
        ? edit
        : edits.length >= MOST.edits
          ? no('too_many', `a call takes ${MOST.edits} edits`)
          : (unproved(edit, state, facts) ?? overtaken(edit, state, tick) ?? against(edit, state, scratch))
    if (why) refused.push({ index, ...why })
    else if (!('reason' in edit)) {
      addEdit(scratch, edit, '')
      edits.push(edit)
    }
  }
  return { edits, refused }
}

const no = (reason: string, message: string): Refused => ({ reason, message })

function unproved({ evidence }: Edit, state: State, facts: ReadonlySet<string>): Refused | null {
  const { told, lastTick } = state.meta
  if (state.experiments.has(evidence) || facts.has(evidence) || told.has(evidence)) return null
  if (lastTick?.facts.includes(evidence)) return null
  return no('evidence', `there is no experiment and no fact ${evidence}: assay meta due tells the facts`)
}

/** A person's word that came while the controller was thinking: it was asked about the knob as it was before. */
function overtaken(edit: Edit, { configured, meta }: State, tick: number | null): Refused | null {
  const asked = tick === meta.ticks ? meta.lastTick : null
  if (edit.kind !== 'knob' || asked === null) return null
  const since = configured.some(({ at, changes }) => at > asked.at && Object.hasOwn(changes, edit.knob))
  return since ? no('overruled', `a person set ${edit.knob} since this was asked`) : null
}

function against(edit: Edit, state: State, meta: MetaState): Refused | null {
  const now = directionsOf(meta, meta.round + 1)
  switch (edit.kind) {
    case 'knob':
      return knobRefused(edit, state, meta)
    case 'phase':
      return now.phases[edit.phase] === edit.on
        ? no('duplicate', `${edit.phase} is ${edit.on ? 'on' : 'off'} already`)
        : null
    case 'prompt': {
      const there = now.prompts[edit.prompt] ?? { replace: null, append: [] }
      if (edit.mode === 'append') {
        if (there.append.some((text) => alike(text, edit.text)))
          return no('duplicate', `the prompt of ${edit.prompt} has that text already`)
        return there.append.length >= MOST.appended
          ? no('too_many', `${edit.prompt} has ${there.append.length} texts added: undo one first`)
          : null
      }
      const needed = PLACEHOLDERS[edit.prompt]
      if (needed === null) return no('vocabulary', `${edit.prompt} has no text to replace: append to it`)
      const lost = needed.filter((name) => !edit.text.includes(`{${name}}`))
      if (lost.length > 0)
        return no('placeholder', `it loses ${lost.map((name) => `{${name}}`).join(', ')} of ${edit.prompt}`)
      return there.replace !== null && alike(there.replace, edit.text)
        ? no('duplicate', `${edit.prompt} reads like that already`)
        : null
    }
    case 'step':
      if (now.steps.some(({ seam, text }) => seam === edit.seam && alike(text, edit.text)))
        return no('duplicate', `${edit.seam} has that step already`)
      return now.steps.length >= MOST.steps
        ? no('too_many', `${now.steps.length} steps live already: undo one first`)
        : null
    case 'undo':
      return undoRefused(edit.edit, state, meta)
    default:
      return unreachable(edit)
  }
}

function knobRefused(
  { knob, value }: Extract<Edit, { kind: 'knob' }>,
  { knobs, run }: State,
  meta: MetaState,
): Refused | null {
  if (!knobs || !run) return no('not_started', 'the run has not started')
  const min = Math.min(BOUNDS[knob].min, run.knobs[knob])
  const max = Math.max(BOUNDS[knob].max, run.knobs[knob])
  if (value < min || value > max) return no('bounds', `${knob} is ${min} to ${max}, not ${value}`)
  const next = knobsOfNextRound(meta, knobs)
  if (next[knob] === value) return no('duplicate', `${knob} is ${value} already`)
  return disproportion({ ...next, [knob]: value }, knob)
}

/** Two knobs that together would switch off what each of them only tunes. */
function disproportion(next: Knobs, knob: keyof Knobs): Refused | null {
  if ((knob === 'stall' || knob === 'ideate_stall') && next.ideate_stall >= next.stall)
    return no('bounds', `ideate_stall ${next.ideate_stall} must be below stall ${next.stall}`)
  if ((knob === 'scan_batch' || knob === 'scan_max') && next.scan_batch > next.scan_max)
    return no('bounds', `scan_batch ${next.scan_batch} must not be above scan_max ${next.scan_max}`)
  return null
}

function undoRefused(id: string, { knobs }: State, meta: MetaState): Refused | null {
  const target = editById(meta, id)
  if (!target) return no('unknown_edit', `there is no ${id}`)
  if (target.undone) return no('duplicate', `${id} is taken back already`)
  const { edit } = target
  if (edit.kind === 'undo') return no('vocabulary', 'an undo is not taken back: make the edit again')
  if (edit.kind !== 'knob' || !knobs) return null
  if (target.overruled) return no('overruled', `a person set ${edit.knob} since`)
  return knobsOfNextRound(meta, knobs)[edit.knob] === edit.value
    ? null
    : no('overruled', `a later edit set ${edit.knob}: undo that one first`)
}
