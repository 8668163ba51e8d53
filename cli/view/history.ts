/** What the ledger tells that its state does not keep: each call of an agent, alerts with their time, and when epochs began. */
import { readFrom, splitLines } from '../ledger/append.ts'
import type { Adjusted, Alerted, EpochOpened, UsageRecorded } from '../ledger/events.ts'
import type { Problem, Result } from '../result.ts'
import { ok } from '../result.ts'

type Told = UsageRecorded | Alerted | EpochOpened | Adjusted
const TOLD: readonly string[] = ['usage', 'alerted', 'epoch_opened', 'adjusted'] satisfies Told['type'][]

export interface Alert {
  at: string
  experiment: string | null
  text: string
}

/** Which experiments the lines of a ledger between two offsets speak of. */
export interface Touched {
  experiments: Set<string>
  /** Where the next line begins. */
  end: number
}

export class History {
  readonly calls: UsageRecorded[] = []
  readonly alerts: Alert[] = []
  readonly epochs: EpochOpened[] = []
  #offset = 0

  /** Bytes of the whole lines read so far. */
  get offset(): number {
    return this.#offset
  }

  /** Reads what was appended since. */
  read(file: string): Result<Touched> {
    const touched = linesFrom(file, this.#offset, (event) => this.#add(event))
    if (touched.ok) this.#offset = touched.value.end
    return touched
  }

  #add(event: Told): void {
    if (event.type === 'usage') this.calls.push(event)
    else if (event.type === 'epoch_opened') this.epochs.push(event)
    else if (event.type === 'alerted')
      this.alerts.push({ at: event.at, experiment: event.experiment, text: event.text })
    else for (const text of event.alerts) this.alerts.push({ at: event.at, experiment: null, text })
  }
}

/** The same for somebody who has read up to `offset` already. */
export const touchedSince = (file: string, offset: number): Result<Touched> =>
  linesFrom(file, offset, () => {})

const EXPERIMENT = /"experiment":"(exp_\d+)"/g

function linesFrom(file: string, offset: number, tell: (event: Told) => void): Result<Touched> {
  const bytes: Result<Buffer> | { ok: false; problem: Problem } = readFrom(file, offset)
  if (!bytes.ok) return bytes
  const end = bytes.value.lastIndexOf(10) + 1
  const text = bytes.value.toString('utf8', 0, end)
  const experiments = new Set<string>()
  for (const [, id] of text.matchAll(EXPERIMENT)) if (id !== undefined) experiments.add(id)
  // Most lines are of no concern here, and to parse all of them once more would double the time of opening.
  if (TOLD.some((type) => text.includes(`"type":"${type}"`))) {
    for (const { value } of splitLines(bytes.value.subarray(0, end), offset)) {
      if (value !== null && TOLD.includes(String(value.type))) tell(value as unknown as Told)
    }
  }
  return ok({ experiments, end: offset + end })
}
