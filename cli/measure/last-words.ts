/** What the command that ended an attempt printed at its end: for people who have to mend it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StepLine } from '../ledger/events.ts'
import { gatesOf, readSteps, samplesOf } from '../ledger/steps.ts'
import { attemptFolder, stepsFile } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'

export interface LastWords {
  /** The command as the spec has it. */
  command: string
  /** At most 16 lines. */
  output: string
}

const LINES = 16

/** Of the gate that did not pass, else of the last sample, else of the setup or build that failed; null if it was silent. */
export function lastWords(run: OpenRun, experiment: string, attempt: number): LastWords | null {
  const folder = attemptFolder(run.paths, experiment, attempt)
  const steps = readSteps(stepsFile(folder))
  const { gates, measure } = run.spec
  const refused = gatesOf(steps).find((gate) => !gate.passed)
  if (refused) {
    return words(gates.find(({ name }) => name === refused.name)?.command, lastLines(refused.output))
  }
  // After a fault the parent is measured as well, to see whether the machine is to blame.
  const samples = samplesOf(steps)
  const ours = samples.filter(({ side }) => side === 'candidate')
  const sample = ours.findLast(({ fault }) => fault !== null) ?? ours.at(-1) ?? samples.at(-1)
  if (sample) {
    const output = tail(join(folder, sample.stderr)) || tail(join(folder, sample.stdout))
    return words(measure.command, output)
  }
  const failed = failedPreparation(steps)
  return failed && words(run.spec.worktree[failed]?.command, tail(join(folder, `${failed}.out`)))
}

function failedPreparation(steps: readonly StepLine[]): 'setup' | 'build' | null {
  const ended = steps.findLast((line) => line.step === 'build' && line.state === 'ended')
  const detail = ended && 'detail' in ended ? (ended.detail as { setup?: unknown; build?: unknown }) : {}
  if (detail.setup) return 'setup'
  return detail.build ? 'build' : null
}

const words = (command: string | readonly string[] | undefined, output: string): LastWords | null =>
  command === undefined || output === ''
    ? null
    : { command: typeof command === 'string' ? command : command.join(' '), output }

function tail(file: string): string {
  try {
    return lastLines(readFileSync(file, 'utf8'))
  } catch {
    return ''
  }
}

/** At most 16; of a stack its first frame: the message above it is worth more than the way that led there. */
export const lastLines = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .filter((line, index, all) => !(FRAME.test(line) && FRAME.test(all[index - 1] ?? '')))
    .slice(-LINES)
    .join('\n')

const FRAME = /^\s+at /
