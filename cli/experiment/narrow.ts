/** `init --target EXP:TASK`: one task of a suite, from the texts of an experiment, in a run of its own. */
import { lastJudged } from '../ledger/state.ts'
import { judgedCommit } from '../measure/worktree.ts'
import { call, next } from '../next.ts'
import { isExperimentId } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { nodeFor, type OpenRun } from '../run/open.ts'
import type { Preconditions } from '../run/preconditions.ts'
import { frozenHash } from '../spec/hash.ts'
import { noSuite } from './text.ts'

/** Where a run of one task begins. */
export interface NarrowedFrom {
  run: OpenRun
  experiment: string
  task: string
  /** As the experiment was judged. */
  base: { commit: string; tree: string }
}

/** `exp_0003:extract` → its two parts. Problem `bad_arguments`. */
export function readTarget(text: string): Result<Pick<NarrowedFrom, 'experiment' | 'task'>> {
  const at = text.indexOf(':')
  const [experiment, task] = [text.slice(0, at), text.slice(at + 1)]
  if (at > 0 && isExperimentId(experiment) && task !== '') return ok({ experiment, task })
  return fail({
    kind: 'usage',
    code: 'bad_arguments',
    message: `--target needs an experiment and a task of its suite, and is ${text}`,
    hint: next`for example: ${call('init', '--target', 'exp_0003:extract')}`,
  })
}

/** Problems `no_suite`, `unknown_task`, `no_verdict`, or those of an unknown experiment. */
export function narrowedFrom(
  run: OpenRun,
  { experiment, task }: Pick<NarrowedFrom, 'experiment' | 'task'>,
): Result<NarrowedFrom> {
  const node = nodeFor(run, experiment)
  if (!node.ok) return node
  const { suite } = run.spec.measure
  if (suite === undefined) return fail(noSuite(run))
  const names = suite.tasks.map(({ name }) => name)
  if (!names.includes(task))
    return fail({
      kind: 'usage',
      code: 'unknown_task',
      message: `the suite ${suite.name} has no task ${task}`,
      hint: `its tasks are: ${names.join(', ')}`,
    })
  const judged = judgedCommit(run, experiment)
  if (lastJudged(node.value) && judged) return ok({ run, experiment, task, base: judged })
  return fail({
    kind: 'refused',
    code: 'no_verdict',
    message: `${experiment} has no verdict, so its texts were never measured`,
    hint: next`measure it: ${call('run', experiment)}`,
  })
}

/**
 * The ground of the new run: the spec as it is, with this task alone. The suite has a name of its own, so that versions of texts that
 * are learnt for one task are not taken for those of the suite. Problem `spec_changed`.
 */
export function narrowed(ground: Preconditions, from: NarrowedFrom): Result<Preconditions> {
  const { spec } = ground
  const { suite } = spec.measure
  const { started, run } = from.run
  if (suite === undefined || frozenHash(spec) !== started.frozen_hash)
    return fail({
      kind: 'refused',
      code: 'spec_changed',
      message: `the spec says something else than when ${run} began, so its experiments are measured otherwise now`,
      hint: next`put it back as it was: ${call('status')} names what differs; or start from it as it is: ${call('init', '--new')}`,
      at: ground.specFile,
    })
  const tasks = suite.tasks.filter(({ name }) => name === from.task)
  const one = { ...suite, name: `${suite.name}: ${from.task}`, tasks }
  return ok({ ...ground, spec: { ...spec, measure: { ...spec.measure, suite: one } } })
}
