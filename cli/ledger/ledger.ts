/** One run's ledger: append, read, heal. Writers propose; what the fold made of the proposal is the answer. */

import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { call, next } from '../next.ts'
import { redact } from '../redact.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import { appendLine, type LedgerLine, readFrom, splitLines, type Torn } from './append.ts'
import type { Refusal } from './decide.ts'
import { type Draft, type Event, type EventType, FORMAT, FORMAT_NAME } from './events.ts'
import { fold, type Outcome } from './fold.ts'
import { readSnapshot, writeSnapshot } from './snapshot.ts'
import { emptyState, type State } from './state.ts'
import { startOfLine } from './stored.ts'

/** What became of a proposal. A void one changed nothing; `because` says why. */
export type Proposal<T extends Event = Event> =
  | { accepted: true; event: T }
  | { accepted: false; because: Refusal }

/** `repeated`: the event is an earlier one with the same key. */
export interface Recorded<T extends Event = Event> {
  event: T
  repeated: boolean
}

/** Types that this Assay folds; complete by type, since one that is forgotten would be skipped in silence. */
const KNOWN: Record<EventType, true> = {
  run_started: true,
  configured: true,
  epoch_opened: true,
  isolated: true,
  created: true,
  sealed: true,
  started: true,
  dispatched: true,
  placed: true,
  judged: true,
  confirmed: true,
  confirmation_started: true,
  confirmation_ended: true,
  audited: true,
  discarded: true,
  pruned: true,
  pinned: true,
  unpinned: true,
  restored: true,
  gate_added: true,
  gate_removed: true,
  annotated: true,
  attribution_started: true,
  attributed: true,
  attribution_ended: true,
  conflicted: true,
  round_opened: true,
  round_briefed: true,
  round_closed: true,
  proposed: true,
  ideas_approved: true,
  ideas_dropped: true,
  ideas_parked: true,
  task_answered: true,
  leased: true,
  drove: true,
  entrusted: true,
  usage: true,
  stopped: true,
  resumed: true,
  alerted: true,
  meta_ticked: true,
  adjusted: true,
  noted: true,
  paused: true,
  steered: true,
  steering_delivered: true,
  healed: true,
}

/** Whether this Assay folds events of a type; a line of another type is kept and skipped. */
export const isKnownEvent = (type: string): type is EventType => Object.hasOwn(KNOWN, type)

/** From there on, folding costs a command more than an empty one does. */
const LONG = { events: 1_000, bytes: 1024 * 1024 }

export class Ledger {
  readonly file: string
  readonly state: State
  #listener: ((event: Event) => void) | null = null
  #offset: number
  #line: number
  /** Of the file as it was opened; null = there was none. */
  readonly #inode: number | null
  /** What was folded since the beginning or the snapshot. */
  #tail = { events: 0, bytes: 0 }
  /** The event at which reading ends; null = at the end of the file. */
  readonly #until: { id: string; inclusive: boolean } | null
  #last: string | null = null

  private constructor(
    file: string,
    { until, snapshot }: { until: { id: string; inclusive: boolean } | null; snapshot: boolean },
  ) {
    this.file = file
    this.#until = until
    this.#inode = inodeOf(file)
    const found = snapshot ? readSnapshot(file) : null
    this.state = found?.state ?? emptyState()
    this.#offset = found?.folded.offset ?? 0
    this.#line = found?.folded.lines ?? 0
  }

  /**
   * Reads and folds the file: what its snapshot does not hold, else all of it. A file that does not exist yet is an empty run.
   * `whole`: without the snapshot.
   */
  static open(file: string, { whole = false } = {}): Result<Ledger> {
    const ledger = new Ledger(file, { until: null, snapshot: !whole })
    const read = ledger.refresh()
    return read.ok ? ok(ledger) : read
  }

  /** As it was just before an event: for looking back, never for writing. */
  static before(file: string, id: string): Result<Ledger> {
    const ledger = new Ledger(file, { until: { id, inclusive: false }, snapshot: false })
    const read = ledger.refresh()
    return read.ok ? ok(ledger) : read
  }

  /** As it was just after an event: for looking back, never for writing. */
  static after(file: string, id: string): Result<Ledger> {
    const ledger = new Ledger(file, { until: { id, inclusive: true }, snapshot: false })
    const read = ledger.refresh()
    return read.ok ? ok(ledger) : read
  }

  /** A state that another machine handed over: nothing is read, and nothing can be written. */
  static handedOver(state: State): Ledger {
    const ledger = new Ledger('/dev/null', { until: null, snapshot: false })
    Object.assign(ledger.state, state)
    return ledger
  }

  /** Id of the event that was folded last; null when the snapshot holds all. */
  get last(): string | null {
    return this.#last
  }

  /** Whether so much was folded that the next command should find a snapshot. A small run never has one. */
  get hasLongTail(): boolean {
    return this.#tail.events > LONG.events || this.#tail.bytes > LONG.bytes
  }

  /** Writes a snapshot if much was read. The snapshot is a cache, so no caller asks whether it could be written. */
  keep(isMuch = this.hasLongTail): void {
    if (!isMuch || this.#inode === null || this.#until !== null) return
    writeSnapshot(this.file, this.#inode, this.state, { offset: this.#offset, lines: this.#line })
    this.#tail = { events: 0, bytes: 0 }
  }

  /** Tells every event that is accepted from now on, whichever call reads it. */
  listen(listener: (event: Event) => void): void {
    this.#listener = listener
  }

  /** Folds what any process has appended since the last call. After a failure the next call begins at the line that failed. */
  refresh(onEvent?: (event: Event, outcome: Outcome) => void): Result<State> {
    if (this.#until?.inclusive && this.#last === this.#until.id) return ok(this.state)
    const bytes = readFrom(this.file, this.#offset)
    if (!bytes.ok) return bytes
    for (const line of splitLines(bytes.value, this.#offset)) {
      const event = this.#eventOf(line)
      if (!event.ok) return event
      const isLast = this.#until !== null && event.value?.id === this.#until.id
      if (isLast && !this.#until?.inclusive) break
      const start = this.#offset
      this.#offset = line.end
      this.#line++
      this.#tail.bytes += line.end - start
      if (event.value === null) continue
      this.#tail.events++
      this.#last = event.value.id
      startOfLine.set(event.value, start)
      const outcome = fold(this.state, event.value)
      onEvent?.(event.value, outcome)
      if (outcome.accepted) this.#listener?.(event.value)
      if (isLast) break
    }
    return ok(this.state)
  }

  /** null when the line is of no concern: cancelled, or of a type that only a newer minor version knows. */
  #eventOf({ value }: LedgerLine): Result<Event | null> {
    if (value === null) return fail(this.#corrupt(this.#line + 1))
    if (Object.keys(value).length === 0) return ok(null)
    const newer = newerFormat(value)
    if (newer) return fail(newer)
    return ok(isKnownEvent(String(value.type)) ? (value as unknown as Event) : null)
  }

  /** Appends one event and reads back to it. Durable when it returns. */
  propose<T extends Event['type']>(
    draft: Extract<Draft, { type: T }>,
    at: Date,
  ): Result<Proposal<Extract<Event, { type: T }>>> {
    const id = randomBytes(9).toString('base64url')
    const event = { v: FORMAT_NAME, id, at: at.toISOString(), ...draft }
    const heal = (torn: Torn): string =>
      JSON.stringify({ v: FORMAT_NAME, id: `${id}.h`, at: at.toISOString(), type: 'healed', ...torn })
    const written = appendLine(this.file, JSON.stringify(event), heal)
    if (!written.ok) return written
    let mine: { event: Event; outcome: Outcome } | null = null
    const read = this.refresh((seen, outcome) => {
      if (seen.id === id) mine = { event: seen, outcome }
    })
    if (!read.ok) return read
    const found = mine as { event: Event; outcome: Outcome } | null
    if (found === null) throw new Error(`an event that was written is not in ${this.file}`)
    // As it was written: without the secrets that the draft may have held.
    const counted = found.event as Extract<Event, { type: T }>
    return ok(found.outcome.accepted ? { accepted: true, event: counted } : found.outcome)
  }

  /**
   * Proposes and answers the event that counts, as a problem when none does. With a key that was answered before,
   * nothing is written, and the first answer is the answer.
   */
  record<T extends Event['type']>(
    draft: Extract<Draft, { type: T }>,
    at: Date,
    given: string | null = null,
  ): Result<Recorded<Extract<Event, { type: T }>>> {
    const key = given === null ? null : redact(given)
    const first = (): Result<Recorded<Extract<Event, { type: T }>>> | null => {
      const found = this.answeredBefore([draft.type as T], key)
      return found && (found.ok ? ok({ event: found.value, repeated: true }) : found)
    }
    const before = first()
    if (before) return before
    const proposal = this.propose<T>(key === null ? draft : { ...draft, key }, at)
    if (!proposal.ok) return proposal
    if (proposal.value.accepted) return ok({ event: proposal.value.event, repeated: false })
    return first() ?? refusal(proposal.value.because)
  }

  /**
   * The event that an earlier call of the same verb recorded with this key: its answer is the answer. null when there is
   * none. Events of other types, or of an experiment other than the one that is asked about, make the key a wrong one.
   */
  answeredBefore<T extends Event['type']>(
    types: readonly T[],
    given: string | null,
    experiment: string | null = null,
  ): Result<Extract<Event, { type: T }>> | null {
    const key = given === null ? null : redact(given)
    const first = key === null ? undefined : this.state.keys.get(key)
    if (first === undefined) return null
    const same = (types as readonly string[]).includes(first.type)
    const about = 'experiment' in first ? first.experiment : null
    if (same && (experiment === null || about === experiment)) return ok(first as Extract<Event, { type: T }>)
    return fail({
      kind: 'usage',
      code: 'key_reused',
      message: `the key ${key} was used ${same ? `for ${about}` : 'by another verb'}`,
      hint: 'use a new key for each call',
    })
  }

  #corrupt(number: number): Problem {
    return {
      kind: 'refused',
      code: 'ledger_corrupt',
      message: `line ${number} of the ledger cannot be read, and nothing says that it was left unfinished`,
      hint: next`${call('doctor')} explains the damage and how to repair it; nothing was changed`,
      at: `${this.file}:${number}`,
    }
  }
}

/** null when it is not there; what else is wrong with it, reading says. */
function inodeOf(file: string): number | null {
  try {
    return statSync(file, { throwIfNoEntry: false })?.ino ?? null
  } catch {
    return null
  }
}

function newerFormat(value: Record<string, unknown>): Problem | null {
  const major = Number(String(value.v).split('.')[0])
  if (major === FORMAT.major) return null
  return {
    kind: 'refused',
    code: major > FORMAT.major ? 'ledger_newer' : 'ledger_unknown',
    message: `the ledger was written in format ${String(value.v)}; this Assay reads ${FORMAT_NAME}`,
    hint: 'update Assay, then run the same command again',
  }
}

/** A refusal as the problem that a command answers with. */
export function refusal(because: Refusal): { ok: false; problem: Problem } {
  return fail({ kind: 'refused', ...because })
}

/** What a verb answers about the event that it recorded; marked when an earlier call with the same key had done so. */
export function answered<T extends Event, Answer extends object>(
  recorded: Result<Recorded<T>>,
  tell: (event: T) => Answer,
): Result<Answer & { repeated?: true }> {
  if (!recorded.ok) return recorded
  const { event, repeated } = recorded.value
  return ok({ ...tell(event), ...(repeated ? { repeated: true as const } : {}) })
}
