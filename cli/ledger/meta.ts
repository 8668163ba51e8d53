/**
 * What the meta controller changed, and from which round on it holds. An edit waits until a round opens, so that
 * everyone who reads that round reads the same. Pure.
 */
import type { Adjusted, Edit, Knobs, MetaKnob, MetaPhase, MetaPrompt, MetaTicked, Seam } from './events.ts'

export interface HeldEdit {
  /** `edit_0001`, in the order in which they were accepted. */
  id: string
  /** The event that brought it. */
  event: string
  edit: Edit
  /** The first round that it holds for; null while that has not opened. */
  from: number | null
  /** The first round for which it no longer holds, because it was taken back. */
  until: number | null
  /** Taken back, perhaps before it held. */
  undone: boolean
  /** Of a knob that a person set since: the person's word stands. */
  overruled: boolean
  /** Of a knob: its value before. */
  before: number | null
}

export interface MetaState {
  /** That opened last; 0 before the first. */
  round: number
  edits: HeldEdit[]
  alerts: string[]
  lastTick: MetaTicked | null
  ticks: number
  /** The last tick whose answer was applied; 0 = none. */
  adjusted: number
  /** Names of the facts that it has answered. */
  told: Set<string>
}

export const noMeta = (): MetaState => ({
  round: 0,
  edits: [],
  alerts: [],
  lastTick: null,
  ticks: 0,
  adjusted: 0,
  told: new Set(),
})

// ---------------------------------------------------------------- folding

export function takeTick(meta: MetaState, event: MetaTicked): void {
  meta.lastTick = event
  meta.ticks++
}

export function takeEdits(meta: MetaState, event: Adjusted): void {
  for (const edit of event.edits) addEdit(meta, edit, event.id)
  meta.alerts.push(...event.alerts)
  // Facts count as told when there is an answer: an agent that failed is asked about them again.
  if (event.tick === meta.ticks) meta.adjusted = meta.ticks
  if (event.tick === meta.ticks) for (const name of meta.lastTick?.facts ?? []) meta.told.add(name)
}

export function addEdit(meta: MetaState, edit: Edit, event: string): HeldEdit {
  const held: HeldEdit = {
    id: `edit_${String(meta.edits.length + 1).padStart(4, '0')}`,
    event,
    edit,
    from: null,
    until: null,
    undone: false,
    overruled: false,
    before: null,
  }
  if (edit.kind === 'undo') {
    const target = editById(meta, edit.edit)
    if (target) target.undone = true
  }
  meta.edits.push(held)
  return held
}

/** A person set these knobs: edits of them that are there already have no more say. */
export function overrule(meta: MetaState, knobs: readonly string[]): void {
  for (const one of meta.edits)
    if (one.edit.kind === 'knob' && knobs.includes(one.edit.knob)) one.overruled = true
}

/** The round opens: what waited holds from now on. Answers its knobs. */
export function beginRound(meta: MetaState, knobs: Knobs, round: number): Knobs {
  const next = { ...knobs }
  for (const one of waiting(meta)) {
    one.before = turn(next, one, meta)
    one.from = round
    const target = one.edit.kind === 'undo' ? editById(meta, one.edit.edit) : undefined
    if (target) target.until = round
  }
  meta.round = round
  return next
}

// ---------------------------------------------------------------- questions

export const editById = (meta: MetaState, id: string): HeldEdit | undefined =>
  meta.edits.find((one) => one.id === id)

/** The knobs as they will be when the next round opens. */
export function knobsOfNextRound(meta: MetaState, knobs: Knobs): Knobs {
  const next = { ...knobs }
  for (const one of waiting(meta)) turn(next, one, meta)
  return next
}

/** What was taken back before it held never holds. */
const waiting = (meta: MetaState): HeldEdit[] =>
  meta.edits.filter(({ from, undone }) => from === null && !undone)

/** Changes the knobs, and answers the value before of the one that changed. */
function turn(knobs: Knobs, { edit, overruled }: HeldEdit, meta: MetaState): number | null {
  if (edit.kind === 'knob' && !overruled) return set(knobs, edit.knob, edit.value)
  const target = edit.kind === 'undo' ? editById(meta, edit.edit) : undefined
  if (target?.edit.kind !== 'knob' || target.overruled || target.before === null) return null
  return set(knobs, target.edit.knob, target.before)
}

function set(knobs: Knobs, knob: MetaKnob, value: number): number {
  const before = knobs[knob]
  knobs[knob] = value
  return before
}

export interface Directive {
  /** Stands in for the prompt's own text; null = it is as it was. */
  replace: string | null
  /** Stands behind it. */
  append: string[]
}

export interface Step {
  edit: string
  seam: Seam
  text: string
  /** Rounds that it has left, this one included. */
  rounds: number
}

export interface Directions {
  phases: Record<MetaPhase, boolean>
  prompts: Partial<Record<MetaPrompt, Directive>>
  steps: Step[]
}

/** What holds for a round, the next one included. */
export function directionsOf(meta: MetaState, round: number): Directions {
  const next = meta.round + 1
  const found: Directions = { phases: { scan: true, ideate: true }, prompts: {}, steps: [] }
  for (const { id, edit, from, until, undone } of meta.edits) {
    const begins = from ?? (undone ? Number.POSITIVE_INFINITY : next)
    const ends = until ?? (undone ? next : Number.POSITIVE_INFINITY)
    if (round < begins || round >= ends) continue
    if (edit.kind === 'phase') found.phases[edit.phase] = edit.on
    if (edit.kind === 'prompt') {
      const before = found.prompts[edit.prompt] ?? { replace: null, append: [] }
      found.prompts[edit.prompt] =
        edit.mode === 'replace'
          ? { ...before, replace: edit.text }
          : { ...before, append: [...before.append, edit.text] }
    }
    const left = edit.kind === 'step' ? begins + edit.rounds - round : 0
    if (edit.kind === 'step' && left > 0)
      found.steps.push({ edit: id, seam: edit.seam, text: edit.text, rounds: left })
  }
  return found
}
