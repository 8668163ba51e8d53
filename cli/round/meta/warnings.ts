/** Warnings that the newest samples printed to standard error, and that nobody may have read. */
import { join } from 'node:path'
import { tailOf } from '../../evaluate/tail.ts'
import { BASELINE, type Experiment, lastAttempt } from '../../ledger/state.ts'
import { readSteps, samplesOf } from '../../ledger/steps.ts'
import { attemptFolder, stepsFile } from '../../paths.ts'
import type { OpenRun } from '../../run/open.ts'
import type { Fact } from './fact.ts'

const NEWEST = { experiments: 4, bytes: 16_384, lines: 3, characters: 200 }
const WARNING =
  /\bwarn(?:ing)?s?\b|\bdeprecat|\berror\b|\bout of memory\b|\boverflow|\bnan\b|\bfall(?:ing)? back\b/i

/** What the baseline prints too is a habit of the benchmark. */
export function warningFacts(run: OpenRun): Fact[] {
  const nodes = [...run.ledger.state.experiments.values()]
  const recent = nodes
    .filter((node) => node.id !== BASELINE && lastAttempt(node)?.claim)
    .slice(-NEWEST.experiments)
  if (recent.length === 0) return []
  const baseline = run.ledger.state.experiments.get(BASELINE)
  const habits = new Set(baseline ? warningsOf(run, baseline).map(shape) : [])
  return recent.flatMap((node) => {
    const lines = [...new Set(warningsOf(run, node))].filter((line) => !habits.has(shape(line)))
    if (lines.length === 0) return []
    const shown = lines.slice(-NEWEST.lines).map((line) => line.slice(0, NEWEST.characters))
    return [
      {
        name: `warning:${node.id}:${lastAttempt(node)?.attempt}`,
        message: `${node.id} printed to standard error: ${shown.join(' | ')}`,
        experiments: [node.id],
      },
    ]
  })
}

/** Of the newest sample of the newest attempt. */
function warningsOf(run: OpenRun, node: Experiment): string[] {
  const attempt = lastAttempt(node)
  if (!attempt) return []
  const folder = attemptFolder(run.paths, node.id, attempt.attempt)
  const sample = samplesOf(readSteps(stepsFile(folder))).findLast(({ side }) => side === 'candidate')
  if (!sample) return []
  return tailOf(join(folder, sample.stderr), NEWEST.bytes)
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => WARNING.test(line))
}

/** Times, counts and addresses differ from run to run. */
const shape = (line: string): string => line.replace(/0x[0-9a-f]+|\d+/gi, '0')
