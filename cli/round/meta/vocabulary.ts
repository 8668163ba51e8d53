/** What the meta controller may say, and what each word of it may hold. Pure. */
import {
  type Edit,
  META_KNOBS,
  META_PHASES,
  META_PROMPTS,
  type MetaKnob,
  type MetaPrompt,
  SEAMS,
} from '../../ledger/events.ts'

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
 * work itself, so there is no text to replace, only one to add for those who go on from it.
 */
export const PLACEHOLDERS: Readonly<Record<MetaPrompt, readonly string[] | null>> = {
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
export function readEdit(item: unknown): Edit | Refused {
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

/** Whatever decides what counts: named, so that nobody looks for another way to say it. */
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
