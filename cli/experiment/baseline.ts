/** The baseline's verdict, as what `init` tells of it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BASELINE, lastJudged } from '../ledger/state.ts'
import { attemptFolder } from '../paths.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { recordedSamples } from './samples.ts'
import { submit } from './submit.ts'

export interface BaselineAnswer {
  experiment: string
  value: number | null
  samples: number
  noise: 'deterministic' | 'paired'
}

const LINES = 12

/** Judges exp_0000. A baseline that does not hold is a problem of the spec or the benchmark, shown with its output. */
export async function judgeBaseline(run: OpenRun): Promise<Result<BaselineAnswer>> {
  const answer = await submit(run, BASELINE)
  if (!answer.ok) return answer
  if (answer.value.status === 'kept') return ok(describeBaseline(run))
  return fail(baselineProblem(run, answer.value.message, answer.value.attempt))
}

export function describeBaseline(run: OpenRun): BaselineAnswer {
  const node = run.ledger.state.experiments.get(BASELINE)
  const judged = node ? lastJudged(node) : null
  return {
    experiment: BASELINE,
    value: judged?.value ?? null,
    samples: judged?.samples ?? 0,
    noise: 'deterministic',
  }
}

function baselineProblem(run: OpenRun, message: string, attempt: number): Problem {
  const folder = attemptFolder(run.paths, BASELINE, attempt)
  const last = recordedSamples(run, BASELINE, attempt).at(-1)
  const output = last ? tail(join(folder, last.stderr)) || tail(join(folder, last.stdout)) : ''
  return {
    kind: 'usage',
    code: 'baseline_failed',
    message: `the benchmark does not work on the base: ${message}`,
    hint: 'mend the benchmark or the spec and run assay init again; files that are not committed are not on the base (--include-dirty adds them)',
    ...(output === '' ? {} : { at: `${String(run.spec.measure.command)}\n${output}` }),
  }
}

function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LINES).join('\n')
  } catch {
    return ''
  }
}
