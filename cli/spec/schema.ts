/**
 * The one declaration of every key of `assay.yaml`, section by section under `keys/`. Whatever needs to know a
 * key reads it from here: validation, defaults, `references/spec.schema.json`, the key table of the guide, and
 * the bounds of the live knobs.
 */

import { agent } from './keys/agent.ts'
import { checkAroundJudge, judging } from './keys/judge.ts'
import { budget, loop, search } from './keys/loop.ts'
import { gates, measure, noise } from './keys/measure.ts'
import { instructions, scope, worktree } from './keys/scope.ts'
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
import { boolean, keys, later, list, may, need, or, type TypeOf, text, whole } from './kind.ts'

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
  measure: need(measure, 'How one sample is taken.'),
  metric: need(metric, 'The number to improve.'),
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
  protected: or(protectedMetrics, [], 'Metrics that a candidate must not make worse.'),
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
      approved: or(list(text()), [], 'Names of packages that a candidate may add.'),
    }),
    'If it is there, the CLI rejects a candidate that adds a package that is neither approved here nor by `assay backlog approve`, and an idea that needs such a package waits for an approval.',
  ),
  suite: later('Several specs at once.'),
  executor: later('Where samples run.'),
}

export const SPEC = keys(SECTIONS, { check: checkAroundJudge })

/** A spec as it was read, key by key: defaults filled in, quantities in ms, bytes and fractions, absent = null. */
export type ReadSpec = TypeOf<typeof SPEC>
