/** What the commands of an attempt printed: the last output of the one that ended it, for the agent that repairs it, and of the one that runs. */

import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tailOf } from '../evaluate/command.ts'
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

// ---------------------------------------------------------------- the failures in the output of a test runner, without what passed

/** Patterns for the lines of one test runner. Each looks at one line. */
interface Runner {
  /** Both are in its output when a test failed: a line with a failure, and a line that only this runner prints. */
  failed: RegExp
  mark: RegExp
  /** A line that is kept. */
  keeps: RegExp
  /** Of the lines behind it, those that are kept with it; ends at the first other one. */
  follows?: RegExp
  /** Never kept: stacks, durations. */
  drops?: RegExp
}

const NOT_OK = /^\s*not ok \d+(?!.*# (?:SKIP|TODO))/

const RUNNERS: readonly Runner[] = [
  // pytest
  {
    failed: /^(?:FAILED|ERROR) /,
    mark: /^=+ (?:FAILURES|ERRORS) =+$/,
    keeps: /^(?:E {2,}|>\s|FAILED |ERROR |_{3,} [^_].* _{3,}$|\S+\.py:\d+: )/,
  },
  // cargo test
  {
    failed: /^test .+ \.\.\. FAILED$/,
    mark: /^test result: FAILED\./,
    keeps: /^test .+ \.\.\. FAILED$|^---- .+ ----$|^test result: FAILED/,
    follows: /^(?!note: |----|failures:|test )\S|^\s+(?:left|right): |^\s*$/,
  },
  // mocha
  {
    failed: /^\s+1\) /,
    mark: /^\s+\d+ failing$/,
    keeps: /^\s+\d+ failing$|^\s+\d+\) /,
    follows: /^(?:[+-]|\s*$|\s*[[\]{}]|\s+(?!\d+\) |✔|✓)\S)/,
    drops: /^\s+at (?:.*\(|async |file:|node:|\/)|^\s+\d+ (?:passing|pending)/,
  },
  // vitest and jest
  {
    failed: /^\s*(?:FAIL|●) {1,2}\S/,
    mark: /^\s*(?:Test Files |Test Suites: |Tests: )/,
    keeps:
      /^\s*(?:FAIL|●) {1,2}\S|^\s*(?:\w*Error|Error): |^\s+(?:Expected|Received):? |^\s*❯ \S+:\d+:\d+$|^\s*[-+] \S/,
  },
  // go test
  {
    failed: /^\s*--- FAIL: /,
    mark: /^FAIL(?:\t|$)/,
    keeps: /^\s*--- FAIL: |^panic: |^FAIL\t/,
    follows: /^\s+(?!--- (?:PASS|SKIP))\S/,
  },
  // TAP, as of node --test: the failures with their YAML.
  {
    failed: NOT_OK,
    mark: /^TAP version \d|^1\.\.\d/,
    keeps: NOT_OK,
    follows: /^\s+(?!ok \d|not ok \d|# |\d+\.\.\d+)\S|^\s*$/,
    drops:
      /^\s+(?:---|\.\.\.|duration_ms:|type:|stack:|failureType:|code:|name:|operator:)|^\s+(?:async )?\S+ \(?(?:file|node):|^\s+(?:new )?[\w.<>]+ \(/,
  },
]

/** A longer line is read as far as that. */
const LONGEST = 1000
/** Most lines that are kept: many more than are shown. */
const MOST = 200

/**
 * The lines that say what failed, in their order, at most 200; null when the text is of no known runner. `text` is without
 * the codes of terminals.
 */
export function failuresIn(text: string): string[] | null {
  const lines = text.split('\n').map((line) => line.slice(0, LONGEST).trimEnd())
  const has = (pattern: RegExp) => lines.some((line) => pattern.test(line))
  const runner = RUNNERS.find(({ failed, mark }) => has(mark) && has(failed))
  if (runner === undefined) return null
  const kept: string[] = []
  let inside = false
  for (const line of lines) {
    inside = runner.keeps.test(line) || (inside && runner.follows?.test(line) === true)
    if (inside && line !== '' && !runner.drops?.test(line)) kept.push(line)
    if (kept.length === MOST) break
  }
  return kept.length === 0 ? null : kept
}
