/**
 * The one declaration of every key of `assay.yaml`, section by section under `keys/`. Whatever needs to know a
 * key reads it from here: validation, defaults, `references/spec.schema.json`, the key table of the guide, and
 * the bounds of the live knobs.
 */

import { agent } from './keys/agent.ts'
import { executor } from './keys/executor.ts'
import { checkAroundJudge, judging } from './keys/judge.ts'
import { budget, loop, search } from './keys/loop.ts'
import { gates, measure, noise } from './keys/measure.ts'
import { instructions, scope, worktree } from './keys/scope.ts'
import { gradient, suite } from './keys/suite.ts'
import { path } from './keys/text.ts'
import {
  constraints,
  controls,
  holdout,
  metric,
  protectedMetrics,
  targets,
  tasks,
  tieBreakers,
} from './keys/verdict.ts'
import {
  boolean,
  keys,
  list,
  may,
  need,
  needUnless,
  or,
  type Report,
  type TypeOf,
  text,
  whole,
} from './kind.ts'
import { scopeOf } from './rules.ts'

interface Suited {
  scope: TypeOf<typeof scope>
  measure: Pick<TypeOf<typeof measure>, 'command' | 'score'>
  suite: TypeOf<typeof suite> | null
  gradient: TypeOf<typeof gradient> | null
  judge: object | null
  metric: Pick<TypeOf<typeof metric>, 'name' | 'direction'> | null
  tasks: Pick<TypeOf<typeof tasks>, 'aggregate'>
  noise: Pick<TypeOf<typeof noise>, 'mode'>
}

/** What a suite, which measures a loss of its own, has to do with the other sections. */
function checkSuite(spec: Suited, report: Report): void {
  const { suite, gradient, metric } = spec
  if (suite === null) {
    if (spec.noise.mode === 'single')
      report(
        ['noise', 'mode'],
        '`single` is for a suite: noise would decide what is kept',
        'write paired or auto',
      )
    if (gradient !== null)
      report(['gradient'], '`gradient` needs a `suite`', 'remove it, or declare a suite with its artifacts')
    return
  }
  if (spec.measure.command !== null)
    report(['measure', 'command'], '`suite.run` and `measure.command` both say what is measured', 'keep one')
  if (spec.measure.score !== null)
    report(['measure', 'score'], 'a suite computes its loss itself, so there is no scorer', 'remove it')
  if (metric !== null && (metric.name !== LOSS || metric.direction !== 'minimize'))
    report(
      ['metric'],
      'the metric of a suite is `loss`, with `direction: minimize`',
      'write that, or remove `metric`',
    )
  if (spec.judge !== null)
    report(
      ['judge'],
      'a suite has a loss that is computed, so there is nothing to judge',
      'keep one of the two',
    )
  if (spec.tasks.aggregate !== 'mean')
    report(['tasks', 'aggregate'], 'the loss of a suite is the mean of its tasks', 'write mean, or remove it')
  const areaOf = scopeOf(spec.scope, '')
  for (const [index, { name, file }] of suite.artifacts.entries())
    if (areaOf(file) !== 'mutable')
      report(
        ['suite', 'artifacts', index, 'file'],
        `${file} is not mutable, so ${name} could not be learnt`,
        'name it in scope.mutable',
      )
  const names = suite.artifacts.map(({ name }) => name)
  for (const [index, name] of (gradient?.candidates ?? []).entries())
    if (!names.includes(name))
      report(
        ['gradient', 'candidates', index],
        `\`${name}\` is no text of the suite`,
        `the artifacts are: ${names.join(', ')}`,
      )
}

/** The metric of every suite. */
export const LOSS = 'loss'

const SECTIONS = {
  version: need(whole({ min: 1, max: 1 }), 'Of this format: 1.'),
  name: need(
    text({
      noun: 'a name',
      pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
      hint: 'small letters and digits, joined by single hyphens: faster-parser',
    }),
    'What the run is called, in kebab-case.',
  ),
  goal: need(text(), 'What to achieve, in a sentence or two that every agent reads.'),
  instructions: or(instructions, {}, 'More that every agent reads.'),
  scope: need(scope, 'What a candidate may change.'),
  worktree: or(worktree, {}, 'How a checkout is made ready.'),
  measure: needUnless('suite', measure, {}, 'How one sample is taken.'),
  suite: may(
    suite,
    'Tasks that are run in the place of `measure.command`, and the texts that they start from. The metric is then `loss`, to be minimized.',
  ),
  metric: needUnless('suite', metric, null, 'The number to improve.'),
  judge: may(
    judging,
    'A model that compares the answers of candidate and parent, where the quality of what the benchmark writes must be read. `metric.name` is then the name of its score, and the benchmark does not print it.',
  ),
  tasks: or(tasks, {}, 'For benchmarks that print a score for each task.'),
  constraints: or(constraints, [], 'Predicates on metrics, checked before any comparison.'),
  targets: or(
    targets,
    [],
    'What the best must meet, beside `metric.target`: the loop stops when all of them hold.',
  ),
  protected: or(
    protectedMetrics,
    [],
    'Metrics that a candidate must not make worse, compared with its parent and with the baseline.',
  ),
  controls: or(
    controls,
    [],
    'Metrics that no change within the scope can touch. When one moves in the same pairs as the metric, a keep is in doubt.',
  ),
  holdout: or(holdout, {}, 'How a new best must do on the data of `assay init --holdout FILE`.'),
  tie_breakers: or(tieBreakers, [], 'Metrics that decide, in order, when the comparison is a tie.'),
  gates: or(
    gates,
    [],
    'Commands that must exit 0, in this order; the first that does not rejects the candidate. Those of phase `before` are the cheap stages before the measurement: put the cheapest first.',
  ),
  noise: or(noise, {}, 'How a gain is told apart from noise.'),
  search: or(search, {}, 'How parents are picked.'),
  loop: or(loop, {}, 'How rounds go.'),
  budget: or(budget, {}, 'Caps, checked before each step. A cap that is absent is not set.'),
  agent: may(agent, 'Who proposes candidates in `assay loop`.'),
  skills: or(
    list(text()),
    [],
    'Names of skills, each for a category of tasks, that an agent loads before it edits.',
  ),
  report: or(
    keys({
      jsonl: may(
        path,
        'A file in your checkout that the CLI rewrites at each verdict: one line of JSON for each judged experiment, with its metrics, decision and diff summary.',
      ),
    }),
    {},
    'What the run writes down beside its ledger.',
  ),
  gradient: may(
    gradient,
    'With a suite: the loop asks agents for better texts, and tries the best one. Absent: it repeats the suite.',
  ),
  attribute: or(
    keys({
      pairs: may(
        whole({ min: 1, max: 100_000 }),
        'Pairs that the tests of one `assay attribute` may take in all. Absent: ten for each part of the diff, and 40.',
      ),
      careful: or(boolean, false, 'Keep a part when the noise hides whether it pays; else it is left out.'),
    }),
    {},
    'How `assay attribute` finds out which parts of a diff pay.',
  ),
  dependencies: may(
    keys({
      approved: or(
        list(text()),
        [],
        'Names of packages that a candidate may add; of a file that the CLI cannot read, its path.',
      ),
    }),
    'If it is there, the CLI rejects a candidate that adds a package that is neither approved here nor by `assay backlog approve`, and an idea that needs such a package waits for an approval.',
  ),
  executor: may(
    executor,
    'Where attempts are measured: by jobs of an engine, such as Slurm. Absent: in a slot of this machine.',
  ),
}

export const SPEC = keys(SECTIONS, {
  check(spec, report) {
    checkSuite(spec, report)
    if (spec.executor !== null && spec.judge !== null)
      report(
        ['executor'],
        'a judge is asked on this machine, beside the samples, so jobs cannot measure',
        'remove `executor`',
      )
    const { metric, suite } = spec
    if (metric !== null && suite === null) checkAroundJudge({ ...spec, metric }, report)
  },
  also: {
    if: { required: ['suite'] },
    else: {
      required: ['measure', 'metric'],
      properties: { measure: { required: ['command'] } },
    },
  },
})

/** A spec as it was read, key by key: defaults filled in, quantities in ms, bytes and fractions, absent = null. */
export type ReadSpec = TypeOf<typeof SPEC>
