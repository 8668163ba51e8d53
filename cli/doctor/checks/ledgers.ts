import { setTimeout as pause } from 'node:timers/promises'
import { shellQuote } from '../../evaluate/command.ts'
import { FORMAT_NAME } from '../../ledger/events.ts'
import { ok } from '../../result.ts'
import { repairTail } from '../../run/open.ts'
import {
  type DoctorCheck,
  type FixableFinding,
  fine,
  problem,
  type RunScene,
  type Scene,
  warning,
} from '../check.ts'
import { isWhole, scanLedger } from '../scan.ts'

const SHOWN_LINES = 5
/** An unfinished last line may be a write that is under way; that is one system call, so this time is long enough. */
const IN_FLIGHT_MS = 50

/** Each run's ledger, line by line. */
export const ledgers: DoctorCheck = {
  name: 'ledger',
  async look(scene) {
    const found: FixableFinding[] = []
    for (const run of scene.runs) {
      if (run.ledger.bytes === null && run.ledger.unreadable === null) continue
      const own = [...damage(run), ...(await tornTail(run, scene))]
      if (own.length === 0) own.push(fine('ledger', `${run.run}: every line of the ledger can be read`))
      found.push(...own)
    }
    return found
  },
}

function damage({ run, paths, ledger }: RunScene): FixableFinding[] {
  const file = paths.ledger
  const found: FixableFinding[] = []
  if (ledger.unreadable !== null) {
    found.push(
      problem('ledger_unreadable', {
        what: `the ledger of ${run} cannot be read: ${ledger.unreadable}`,
        cause: 'its permissions, or it is not a file',
        repair: 'make it readable for your user',
        at: file,
      }),
    )
  }
  for (const { line, bytes } of ledger.corrupt.slice(0, SHOWN_LINES)) {
    found.push(
      problem('ledger_corrupt', {
        what: `line ${line} of the ledger of ${run} cannot be read: ${bytes}`,
        cause:
          'something else than Assay wrote into it, or the disk lost a block; a line that Assay could not finish has a mark',
        repair: `copy the file first. Then restore the line from a backup, or let Assay skip it (its content is lost): sed -i '${line}s/$/\\x18/' ${shellQuote(file)}`,
        at: `${file}:${line}`,
        data: { line, bytes },
      }),
    )
  }
  if (ledger.corrupt.length > SHOWN_LINES) {
    found.push(
      problem('ledger_corrupt', {
        what: `${ledger.corrupt.length - SHOWN_LINES} more lines of the ledger of ${run} cannot be read`,
        cause: 'as above',
        repair: 'restore the file from a backup',
        at: file,
        data: { lines: ledger.corrupt.slice(SHOWN_LINES, 1000).map(({ line }) => line) },
      }),
    )
  }
  if (ledger.newer) {
    found.push(
      problem('ledger_newer', {
        what: `line ${ledger.newer.line} of the ledger of ${run} has format ${ledger.newer.v}; this Assay reads ${FORMAT_NAME}`,
        cause: 'another version of Assay wrote it',
        repair: 'use that version, or a newer one',
        at: `${file}:${ledger.newer.line}`,
      }),
    )
  }
  if (ledger.unfoldable) {
    const { line, bytes, message } = ledger.unfoldable
    found.push(
      problem('ledger_unfoldable', {
        what: `line ${line} of the ledger of ${run} is JSON, but not an event (${message}): ${bytes}`,
        cause: 'it was edited by hand, or another program wrote it',
        repair: 'restore the line from a backup',
        at: `${file}:${line}`,
        data: { line, bytes },
      }),
    )
  }
  if (ledger.groundless && isWhole(ledger) && ledger.state.run) {
    const { line, bytes, message } = ledger.groundless
    found.push(
      problem('ledger_groundless', {
        what: `line ${line} of the ledger of ${run} counts for nothing (${message}): ${bytes}`,
        cause: 'a line before it, which this one follows from, was edited, moved or deleted',
        repair: 'restore the lines before it from a backup',
        at: `${file}:${line}`,
        data: { line, bytes },
      }),
    )
  }
  if (ledger.crlf > 0) {
    found.push(
      warning('ledger_crlf', {
        what: `${ledger.crlf} lines of the ledger of ${run} end in CR LF`,
        cause: 'an editor or a copy changed the line endings; Assay still reads them',
        repair: `do not edit the file; to restore its line ends: sed -i 's/\\r$//' ${shellQuote(file)}`,
        at: file,
      }),
    )
  }
  if (isWhole(ledger) && !ledger.state.run && ledger.bytes !== null && ledger.bytes.length > ledger.tail) {
    found.push(
      problem('ledger_headless', {
        what: `the ledger of ${run} has lines, but no run_started`,
        cause: 'its beginning was cut off',
        repair: 'restore the file from a backup',
        at: file,
      }),
    )
  }
  return found
}

async function tornTail({ run, paths, ledger }: RunScene, scene: Scene): Promise<FixableFinding[]> {
  // A ledger that is only an unfinished line belongs to a run that never began: to end the line would leave a ledger without its first event.
  if (ledger.tail === 0 || ledger.tail === ledger.bytes?.length) return []
  await pause(IN_FLIGHT_MS)
  const now = scanLedger(paths.ledger)
  if (now.tail === 0 || now.bytes?.length !== ledger.bytes?.length) return []
  return [
    warning('ledger_torn', {
      what: `the ledger of ${run} ends in an unfinished line of ${ledger.tail} bytes`,
      cause:
        'its writer was killed, or the disk was full, before the line was whole; it was never acknowledged',
      repair: 'nothing: the next command that writes ends it and says so',
      at: paths.ledger,
      fix: async () => {
        const healed = repairTail(paths.ledger, scene)
        if (!healed.ok) return healed
        return ok(
          healed.value
            ? `ended the unfinished line at byte ${healed.value.offset}`
            : 'a different process had ended it',
        )
      },
    }),
  ]
}
