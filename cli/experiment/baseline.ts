/** The baseline's verdict, as what `init` tells of it. */
import { hollowPaths } from '../git/hollow.ts'
import { BASELINE, lastJudged } from '../ledger/state.ts'
import { fail, ok, type Problem, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { lastWords } from './last-words.ts'
import { submit } from './submit.ts'

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
    hint: await whatIsMissing(run),
    ...(said ? { at: `${said.command}\n${said.output}` } : {}),
  }
}

/** What a checkout of ours lacks and the user's own has: the usual reason why a benchmark works there only. */
async function whatIsMissing(run: OpenRun): Promise<string> {
  const { prefix, base } = run.started
  const lines = [
    'mend the benchmark or the spec and run assay init again',
    'a candidate is measured in a checkout that has only what is committed: files that are not committed come with --include-dirty; what is installed or built, with worktree.setup and worktree.build',
  ]
  if (prefix !== '') lines.push(`commands run in ${prefix}, the folder of the spec`)
  const hollow = await hollowPaths(run.site, base.tree)
  if (!hollow.ok) return lines.join('\n')
  const { submodules, pointers } = hollow.value
  if (submodules.length > 0) {
    lines.push(
      `submodules are empty there (${listed(submodules)}) until worktree.setup fills them: git submodule update --init`,
    )
  }
  if (pointers.length > 0) {
    lines.push(
      `pointers of git-lfs instead of the data: ${listed(pointers)}; install git-lfs, then: git lfs install && git lfs pull`,
    )
  }
  return lines.join('\n')
}

const listed = (paths: readonly string[]): string =>
  paths.length > 3 ? `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(', ')
