/** The record of an attempt as the source of a trial. */
import type { Sample } from '../ledger/events.ts'
import { call, next } from '../next.ts'
import type { Artifacts } from './artifacts.ts'
import { type AttemptRecord, RecordLost } from './steps.ts'
import type { SampleSource } from './trial.ts'

/** Everything that a verdict needs is recorded; if something is missing, the record is damaged. */
export class RecordedSource implements SampleSource {
  readonly judge = null
  readonly #artifacts: Artifacts
  readonly #record: AttemptRecord

  constructor(artifacts: Artifacts, record: AttemptRecord) {
    this.#artifacts = artifacts
    this.#record = record
  }

  place(experiment: string) {
    const found = this.#record.decided('broken').find(({ placed }) => placed === experiment)
    return Promise.resolve(found?.broken ?? null)
  }
  sample(): Promise<Sample> {
    throw lacking('a sample')
  }
  pair(): never {
    throw lacking('a pair')
  }
  gate(): never {
    throw lacking('a gate')
  }
  /** Records of earlier releases do not say: there the candidate was asked once, and alone. */
  gateAgain() {
    return Promise.resolve(undefined)
  }
  gateOfOther() {
    return Promise.resolve(null)
  }
  artifacts({ stage, pair }: Sample) {
    const found = this.#record.decided('declared').find((one) => one.stage === stage && one.pair === pair)
    return found ? { fault: found.declared } : { records: this.#artifacts }
  }
}

export const lacking = (what: string) =>
  new RecordLost({
    kind: 'refused',
    code: 'record_incomplete',
    message: `the record of this attempt lacks ${what} that its verdict rests on`,
    hint: next`${call('doctor')} checks whether files of the run are damaged`,
  })
