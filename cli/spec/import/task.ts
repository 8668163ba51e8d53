/** The task file of an artifact loop: which text files may change, how they are run and scored, and when one is better. */

import { commandText, glob, metricName, path } from '../keys/text.ts'
import {
  boolean,
  choice,
  either,
  keys,
  list,
  may,
  need,
  number,
  or,
  type TypeOf,
  text,
  whole,
} from '../kind.ts'
import type { ImportFolder, Mapped, Mapping } from './mapping.ts'

const seconds = number({ above: 0, max: 99 * 3600 })

const tieBreaker = keys(
  {
    lower: may(metricName, 'A metric of which less is better.'),
    higher: may(metricName, 'A metric of which more is better.'),
  },
  {
    check: ({ lower, higher }, report) => {
      if ((lower === null) === (higher === null))
        report([], 'a tie-breaker names one metric', 'write either `lower: NAME` or `higher: NAME`')
    },
  },
)

export const TASK = keys({
  id: need(text(), 'The name of the task.'),
  description: need(text(), 'What the task improves.'),
  artifacts: need(
    keys({
      include: need(list(glob, { least: 1 }), 'Globs of the files that may change.'),
      exclude: or(list(glob), [], 'Globs of files that may not.'),
      max_files_per_iteration: may(whole({ min: 1 }), 'Most files that one candidate changes.'),
    }),
    'The files that may change.',
  ),
  mutation: or(
    keys({
      mode: may(text(), 'How candidates are made.'),
      allowed_file_types: may(
        list(
          text({ noun: 'a file type', pattern: '^\\.?[^/\\s.]+(\\.[^/\\s.]+)*$', hint: 'write it as .md' }),
          { least: 1 },
        ),
        'How the name of a changed file may end.',
      ),
      max_changed_lines: may(whole({ min: 1 }), 'Most lines that one candidate adds and removes.'),
    }),
    {},
    'How large a candidate may be.',
  ),
  runner: need(
    keys({
      command: need(commandText, 'Runs the files.'),
      cwd: or(path, '.', 'Where it runs.'),
      timeout_seconds: may(seconds, 'The longest that it may take.'),
    }),
    'How the files are run.',
  ),
  scorer: need(
    keys({
      type: or(choice(['command']), 'command', 'The kind of scorer.'),
      command: need(commandText, 'Prints the scores.'),
      timeout_seconds: may(seconds, 'The longest that it may take.'),
      parse: or(
        keys({
          format: or(choice(['json']), 'json', 'What the scorer prints.'),
          score_field: or(text(), 'score', 'Where the score stands.'),
          metrics_field: or(text(), 'metrics', 'Where the other metrics stand.'),
        }),
        {},
        'How its output is read.',
      ),
    }),
    'How the files are scored.',
  ),
  objective: need(
    keys({
      primary_metric: need(metricName, 'The metric that decides.'),
      direction: need(choice(['minimize', 'maximize']), 'Which way is better.'),
    }),
    'What is better.',
  ),
  constraints: or(
    list(
      keys({
        metric: need(metricName, 'A metric of the scorer.'),
        op: need(choice(['<=', '>=', '<', '>', '==', '!=']), 'How it must stand to the value.'),
        value: need(either(number(), boolean), 'A number, or true or false.'),
      }),
    ),
    [],
    'What must hold whatever the score.',
  ),
  policy: or(
    keys({
      keep_if: may(text(), 'When a candidate is kept.'),
      tie_breakers: or(list(tieBreaker), [], 'What decides a tie.'),
      on_failure: may(text(), 'What happens to a candidate that fails.'),
    }),
    {},
    'The decision.',
  ),
  budget: or(
    keys({
      max_iterations: may(whole({ min: 1 }), 'Most candidates.'),
      max_failures: may(whole({ min: 1 }), 'Most candidates that could not be judged.'),
    }),
    {},
    'When the search ends.',
  ),
  logging: or(
    keys({
      results_file: may(path, 'One line of JSON for each result.'),
      candidate_dir: may(path, 'Where candidates are stored.'),
    }),
    {},
    'What is written down.',
  ),
})

export type ImportedTask = TypeOf<typeof TASK>

/** Keys that say of a mapping that it is such a file. */
export const TASK_MARKS = ['artifacts', 'runner', 'scorer', 'objective']

/** Texts that agents of this loop read, beside the task file. */
const TASK_TEXTS = ['rubric.md', 'prompt.md']

/**
 * The spec that does the same. A strict climb from the best is a loop of one lane and depth 1 with the policy `argmax`.
 * Every key of the file has a line, in its order.
 */
export function fromTask(task: ImportedTask, beside: ImportFolder): Mapped {
  const { artifacts, mutation, runner, scorer, objective, policy, budget, logging } = task
  const lines: Mapping[] = []
  const became = (from: string, to: string) => lines.push({ from, to, why: null })
  const noEqual = (from: string, why: string) => lines.push({ from, to: null, why })
  const each = <T>(value: T | null, from: string, to: string): T | undefined => {
    if (value === null) return undefined
    became(from, to)
    return value
  }

  const name = slugOf(task.id)
  lines.push({ from: 'id', to: 'name', why: name === task.id ? null : `written as ${name}` })
  became('description', 'goal')
  became('artifacts.include', 'scope.mutable')
  if (artifacts.exclude.length > 0) became('artifacts.exclude', 'scope.immutable')
  const files = each(
    artifacts.max_files_per_iteration,
    'artifacts.max_files_per_iteration',
    'scope.limits.files',
  )
  if (mutation.mode !== null)
    noEqual('mutation.mode', 'the agent edits the files of its worktree; the CLI seals what it finds there')
  const types = each(mutation.allowed_file_types, 'mutation.allowed_file_types', 'scope.limits.types')
  const changed = each(mutation.max_changed_lines, 'mutation.max_changed_lines', 'scope.limits.lines')
  became('runner.command', 'measure.command')
  if (runner.cwd !== '.') became('runner.cwd', 'measure.directory')
  const timeout = each(runner.timeout_seconds, 'runner.timeout_seconds', 'measure.timeout')
  became('scorer.command', 'measure.score')
  const scoreTimeout = each(scorer.timeout_seconds, 'scorer.timeout_seconds', 'measure.score.timeout')
  became('scorer.parse', 'measure.read')
  became('objective', 'metric')
  if (task.constraints.length > 0) became('constraints', 'constraints')
  if (policy.keep_if !== null)
    noEqual(
      'policy.keep_if',
      'a candidate is kept only when it is better: `assay guide verdict` has the rule',
    )
  if (policy.tie_breakers.length > 0) became('policy.tie_breakers', 'tie_breakers')
  if (policy.on_failure !== null)
    noEqual('policy.on_failure', 'a candidate that fails is recorded as failed, and the search continues')
  const iterations = each(budget.max_iterations, 'budget.max_iterations', 'budget.experiments')
  const failures = each(budget.max_failures, 'budget.max_failures', 'budget.failures')
  const results = each(logging.results_file, 'logging.results_file', 'report.jsonl')
  if (logging.candidate_dir !== null)
    noEqual(
      'logging.candidate_dir',
      'candidates are commits in the store of Assay: `assay diff ID` shows one',
    )
  const texts = TASK_TEXTS.filter((name) => beside.has(name))
  for (const name of texts) became(`${name} (beside the file)`, 'instructions.file')

  return {
    lines,
    spec: {
      version: 1,
      name,
      goal: task.description,
      instructions: { file: texts.length === 1 ? texts[0] : texts.length === 0 ? undefined : texts },
      scope: {
        mutable: artifacts.include,
        // What the file itself says, and what agents read, is no part of a candidate.
        immutable: [...artifacts.exclude, beside.file, ...texts],
        limits: {
          files,
          lines: changed,
          types: types?.map((type) => (type.startsWith('.') ? type : `.${type}`)),
        },
      },
      measure: {
        command: runner.command,
        directory: runner.cwd === '.' ? undefined : runner.cwd,
        timeout: durationInWords(timeout),
        score: { command: scorer.command, timeout: durationInWords(scoreTimeout) },
        read: { json: pathOf(scorer.parse.score_field), metrics: pathOf(scorer.parse.metrics_field) },
      },
      metric: { name: objective.primary_metric, direction: objective.direction },
      constraints: task.constraints,
      tie_breakers: policy.tie_breakers.map(({ lower, higher }) => ({
        metric: lower ?? higher,
        direction: lower === null ? 'maximize' : 'minimize',
      })),
      search: { policy: 'argmax' },
      loop: { width: 1, depth: 1 },
      budget: { experiments: iterations, failures },
      report: { jsonl: results },
    },
  }
}

/** Small letters and digits, joined by single hyphens. */
export const slugOf = (id: string): string =>
  id
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'task'

/** A field of the result, or a path of fields (`scores.total`). */
const pathOf = (field: string): string =>
  /^[\w$-]+([.[].*)?$/.test(field) || field.startsWith('/') ? field : `["${field}"]`

/** In the unit that writes it as a whole number, if one does. */
export const durationInWords = (inSeconds: number | undefined): string | undefined =>
  inSeconds === undefined
    ? undefined
    : Number.isInteger(inSeconds)
      ? `${inSeconds}s`
      : `${Math.max(1, Math.round(inSeconds * 1000))}ms`
