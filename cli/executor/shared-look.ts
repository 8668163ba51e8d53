/** One question to the engine for all jobs of a run, however many processes wait for them. */
import { renameSync, writeFileSync } from 'node:fs'
import { fileJson } from '../files.ts'
import { withLock } from '../lock.ts'
import type { Executor, JobId, JobSeen } from './executor.ts'

interface LastLook {
  /** Of the clock, in milliseconds. */
  at: number
  seen: Record<JobId, JobSeen>
  /** When a process asked for a job last. */
  wanted: Record<JobId, number>
}

/** A job that nobody asked for during this time is not looked at any more. */
const FORGOTTEN_MS = 120_000

/** What the engine says of a job; an answer that is at most `ageMs` old is used again. */
export async function lookShared(
  executor: Executor,
  { file, id, ageMs }: { file: string; id: JobId; ageMs: number },
): Promise<JobSeen> {
  return withLock(`${file}.lock`, async () => {
    const last = readLast(file)
    const now = Date.now()
    const known = last.seen[id]
    if (known !== undefined && now - last.at < ageMs) return known
    const wanted = Object.fromEntries(
      Object.entries({ ...last.wanted, [id]: now }).filter(([, at]) => now - at < FORGOTTEN_MS),
    )
    const seen = await executor.look(Object.keys(wanted))
    const look: LastLook = { at: Date.now(), seen: Object.fromEntries(seen), wanted }
    writeFileSync(`${file}.new`, JSON.stringify(look))
    renameSync(`${file}.new`, file)
    return seen.get(id) ?? { state: 'unknown' }
  })
}

const readLast = (file: string): LastLook => fileJson<LastLook>(file) ?? { at: 0, seen: {}, wanted: {} }
