/** What the commands of an attempt printed: the last output of the one that ended it, for whoever repairs it, and of the one that runs. */

import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tailOf } from '../evaluate/command.ts'
import { failuresIn } from '../evaluate/failures.ts'
import { DESK } from '../evaluate/stored.ts'
import { namesIn } from '../files.ts'
import type { StepLine } from '../ledger/events.ts'
import type { Attempt } from '../ledger/state.ts'
import { gatesOf, readSteps, samplesOf } from '../ledger/steps.ts'
import { seeLock } from '../lock/inspect.ts'
import { attemptFolder, type Site, slotDesk, slotLock, stepsFile } from '../paths.ts'
import type { RunRecord } from '../run/open.ts'

export interface FailingOutput {
  /** The command as the spec has it. */
  command: string
  /** The failures, when the test runner is known; else the last lines. At most 16 lines. */
  output: string
  /** It printed more than that. */
  more: boolean
}

const LINES = 16

/** Of the gate that did not pass, else of the last sample, else of the setup or build that failed; null if it was silent. */
export function failingOutput(run: RunRecord, experiment: string, attempt: number): FailingOutput | null {
  const folder = attemptFolder(run.paths, experiment, attempt)
  const steps = readSteps(stepsFile(folder))
  const { gates, measure } = run.spec
  const refused = gatesOf(steps).find((gate) => !gate.passed)
  if (refused) {
    const printed = textOf(join(folder, 'gates', `${refused.name}.out`)) || refused.output
    return words(gates.find(({ name }) => name === refused.name)?.command, printed)
  }
  // After a fault the parent is measured as well, to see whether the machine is to blame.
  const samples = samplesOf(steps)
  const ours = samples.filter(({ side }) => side === 'candidate')
  const sample = ours.findLast(({ fault }) => fault !== null) ?? ours.at(-1) ?? samples.at(-1)
  if (sample) {
    const printed = textOf(join(folder, sample.stderr)) || textOf(join(folder, sample.stdout))
    return words(measure.command, printed)
  }
  const failed = failedPreparation(steps)
  return failed && words(run.spec.worktree[failed]?.command, textOf(join(folder, `${failed}.out`)))
}

function failedPreparation(steps: readonly StepLine[]): 'setup' | 'build' | null {
  const ended = steps.findLast((line) => line.step === 'build' && line.state === 'ended')
  const detail = ended && 'detail' in ended ? (ended.detail as { setup?: unknown; build?: unknown }) : {}
  if (detail.setup) return 'setup'
  return detail.build ? 'build' : null
}

function words(command: string | readonly string[] | undefined, printed: string): FailingOutput | null {
  if (command === undefined || printed.trim() === '') return null
  const output = lastLines(printed)
  return {
    command: typeof command === 'string' ? command : command.join(' '),
    output,
    more: output.trim() !== printed.trim(),
  }
}

/** Far more than a test runner prints of its failures. */
const MOST_BYTES = 1024 * 1024

const textOf = (file: string): string => tailOf(file, MOST_BYTES)

/**
 * At most 16 lines: the first that say what failed, else the last. Of a stack trace only the first frame: the message above
 * it says more than the other frames.
 */
export function lastLines(text: string): string {
  const failures = failuresIn(text)
  if (failures !== null) return failures.slice(0, LINES).join('\n')
  return text
    .trimEnd()
    .split('\n')
    .filter((line, index, all) => !(FRAME.test(line) && FRAME.test(all[index - 1] ?? '')))
    .slice(-LINES)
    .join('\n')
}

const FRAME = /^\s+at /

// ---------------------------------------------------------------- the output of the sample that is running now
// The output of the sample that is running now.

/** The output files of the running sample; null when no sample of this attempt is running. */
export function runningOutput(site: Site, { claim }: Attempt): { stdout: string; stderr: string } | null {
  if (claim === null) return null
  const desk = slotsIn(dirname(slotLock(site, 0)))
    .filter((slot) => {
      const { owner } = seeLock(slotLock(site, slot))
      return owner?.pid === claim.owner.pid && owner.started === claim.owner.started
    })
    .map((slot) => slotDesk(site, slot))
    .find((folder) => statSync(folder, { throwIfNoEntry: false }) !== undefined)
  return desk === undefined ? null : { stdout: join(desk, DESK.stdout), stderr: join(desk, DESK.stderr) }
}

const slotsIn = (folder: string): number[] =>
  namesIn(folder).flatMap((name) => (/^\d+\.lock$/.test(name) ? [Number.parseInt(name, 10)] : []))
