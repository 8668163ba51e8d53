/** What every line of a ledger carries, and which formats are read. */

/** Readers refuse a newer major; they keep and skip unknown types of a newer minor. */
export const FORMAT = { major: 1, minor: 0 } as const
export const FORMAT_NAME = `${FORMAT.major}.${FORMAT.minor}`

export interface Envelope {
  /** `major.minor` of the writer. */
  v: string
  /** Random, made by the writer: how it finds its own line when it reads back. */
  id: string
  /** ISO 8601, UTC. */
  at: string
  /** Idempotency key of the verb: the first accepted event with it wins, the rest fold to `repeated`. */
  key?: string
}
