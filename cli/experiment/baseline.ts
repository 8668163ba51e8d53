/** The baseline's verdict, as what `init` tells of it. */
import { BASELINE, lastJudged } from '../ledger/state.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { lastWords } from './last-words.ts'
import { submit } from './submit.ts'
import { whatCheckoutsLack } from './what-checkouts-lack.ts'

export interface BaselineAnswer {
  experiment: string
  value: number | null
  samples: number
  noise: 'deterministic' | 'paired'
}

/** Judges exp_0000. A baseline that does not hold is a problem of the spec or the benchmark, shown with its output. */
export async function judgeBaseline(run: OpenRun): Promise<Result<BaselineAnswer>> {
  const answer = await submit(run, BASELINE)
  if (!answer.ok) return answer
  if (answer.value.status === 'kept') return ok(describeBaseline(run))
  return fail(await baselineProblem(run, answer.value.message, answer.value.attempt))
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

async function baselineProblem(run: OpenRun, message: string, attempt: number): Promise<Problem> {
  const said = lastWords(run, BASELINE, attempt)
  return {
    kind: 'usage',
    code: 'baseline_failed',
    message: `the baseline failed: ${message}`,
    hint: `mend the benchmark or the spec and run assay init again\n${await whatCheckoutsLack(run)}`,
    ...(said ? { at: `${said.command}\n${said.output}` } : {}),
  }
}
