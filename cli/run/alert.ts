import type { OpenRun } from './open.ts'

/** A sentence that a person should read. Agents are not told it. */
export function recordAlert(
  run: OpenRun,
  alert: { role: string; experiment: string | null; paths: readonly string[]; text: string },
): void {
  const { role, experiment, paths, text } = alert
  // What cannot be written is told by the next command that must write.
  run.ledger.propose<'alerted'>(
    { type: 'alerted', role, experiment, paths: paths.slice(0, 20), text: text.slice(0, 1000) },
    run.clock(),
  )
}
