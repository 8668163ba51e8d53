/** The spec of an optimisation that works through a backlog of hypotheses in batches. */

import { metricName, path } from '../keys/text.ts'
import { boolean, choice, keys, list, may, need, number, or, type TypeOf, text, whole } from '../kind.ts'
import { BACKLOG_JUDGE, checkJudge, withJudge } from './judged.ts'
import type { ImportFolder, Mapped, Mapping } from './mapping.ts'
import { durationInWords } from './task.ts'

const name = text({
  noun: 'a name',
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  hint: 'small letters and digits, joined by single hyphens: faster-parser',
})
const variable = text({
  noun: 'the name of a variable',
  pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
  hint: 'letters, digits and _',
})
const direction = choice(['maximize', 'minimize'])
const CHECK = /^(>=|<=|==|!=|>|<)\s*(-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|true|false)$/

const gate = keys({
  name: need(metricName, 'The metric.'),
  check: need(
    text({
      noun: 'a check',
      pattern: CHECK.source,
      hint: 'write an operator (>=, <=, >, <, ==, !=) and a number: ">= 0.9"',
    }),
    'How the metric must stand to a number.',
  ),
  description: may(text(), 'Why.'),
})

const objective = keys({
  name: need(metricName, 'The metric.'),
  direction: need(direction, 'Which way is better.'),
  role: or(choice(['required', 'secondary']), 'required', 'Whether it must reach its target.'),
  type: or(choice(['hard']), 'hard', 'Measured.'),
  target: may(number(), 'What it should reach.'),
  max_regression: may(
    keys({
      type: need(choice(['relative', 'absolute']), 'A share of the value, or its unit.'),
      value: need(number({ min: 0 }), 'The most that it may get worse.'),
    }),
    'The most that it may get worse.',
  ),
})

const stability = keys({
  mode: or(choice(['stable', 'repeat', 'ladder']), 'stable', 'How often each candidate is measured.'),
  repeat_count: may(whole({ min: 1 }), 'Samples.'),
  aggregation: may(choice(['median', 'mean', 'min', 'max']), 'How the samples become one value.'),
  noise_threshold: may(number({ min: 0 }), 'A smaller difference does not count.'),
  comparison: or(
    keys({
      method: may(choice(['absolute', 'relative', 'paired']), 'How two candidates are compared.'),
      relative_threshold: may(number({ min: 0 }), 'A smaller share does not count.'),
    }),
    {},
    'How two candidates are compared.',
  ),
  ladder: or(
    keys({
      smoke_command: may(text(), 'A cheap command that must pass first.'),
      exploratory_pairs: may(whole({ min: 1 }), 'Pairs of the first comparison.'),
      confirmation_repeats: may(whole({ min: 1 }), 'Samples of the second comparison.'),
      futility: or(
        keys({
          worse_factor: may(number({ above: 1 }), 'How much worse a candidate must be to be given up.'),
          after_elapsed_seconds: may(number({ above: 0 }), 'Seconds before which no candidate is given up.'),
        }),
        {},
        'When to give up.',
      ),
    }),
    {},
    'Cheap measurements before expensive ones.',
  ),
})

const SECTIONS = {
  name: need(name, 'The name of the optimisation.'),
  description: may(text(), 'What it improves.'),
  metric: need(
    keys({
      primary: need(
        keys({
          type: need(choice(['hard', 'judge']), 'Measured, or judged.'),
          name: need(metricName, 'The metric.'),
          direction: need(direction, 'Which way is better.'),
          baseline: may(number(), 'The value before the search.'),
          target: may(number(), 'Where the search may stop.'),
        }),
        'The metric that decides.',
      ),
      degenerate_gates: need(list(gate, { least: 1, unique: 'name' }), 'What must hold whatever the metric.'),
      objectives: or(list(objective, { unique: 'name' }), [], 'Further metrics.'),
      diagnostics: or(
        list(keys({ name: need(metricName, 'The metric.') })),
        [],
        'Metrics that are only recorded.',
      ),
      judge: may(BACKLOG_JUDGE, 'A model that scores.'),
    }),
    'What is better.',
  ),
  measurement: need(
    keys({
      command: need(text(), 'Prints the metrics as JSON.'),
      timeout_seconds: or(number({ above: 0, max: 99 * 3600 }), 600, 'The longest that it may take.'),
      output_format: or(choice(['json']), 'json', 'What it prints.'),
      working_directory: or(path, '.', 'Where it runs.'),
      per_case: or(boolean, false, 'Whether it also prints which cases passed.'),
      holdout: may(
        keys({ command: need(text(), 'Measures on held-out cases.') }),
        'The same on other cases.',
      ),
      stability: or(stability, {}, 'How often each candidate is measured.'),
    }),
    'How the metrics are measured.',
  ),
  scope: need(
    keys({
      mutable: need(list(path, { least: 1 }), 'Files and folders that may change.'),
      immutable: need(list(path, { least: 1 }), 'Files and folders that may not.'),
    }),
    'What may change.',
  ),
  execution: or(
    keys({
      mode: or(choice(['parallel', 'serial']), 'parallel', 'Whether experiments run side by side.'),
      backend: may(choice(['worktree', 'codex']), 'Who makes candidates.'),
      max_concurrent: or(whole({ min: 1, max: 64 }), 4, 'Experiments at once.'),
      sanctioned_env: or(list(variable), [], 'Variables that commands get.'),
      codex_security: may(choice(['full-auto', 'yolo']), 'What codex may do.'),
    }),
    {},
    'How experiments are made.',
  ),
  parallel: or(
    keys({
      port_strategy: may(choice(['parameterized', 'none']), 'How ports are given.'),
      port_env_var: may(variable, 'The variable that gets the port.'),
      port_base: may(whole({ min: 1, max: 65_535 }), 'The first port.'),
      shared_files: or(list(path), [], 'Files that are copied into each worktree.'),
      exclusive_resources: or(list(text()), [], 'What only one may use at a time.'),
    }),
    {},
    'What experiments share.',
  ),
  dependencies: or(keys({ approved: or(list(text()), [], 'Packages.') }), {}, 'Packages that may be added.'),
  constraints: or(list(text()), [], 'Rules in words.'),
  stopping: or(
    keys({
      max_iterations: or(whole({ min: 1 }), 100, 'Most experiments.'),
      max_hours: or(number({ above: 0 }), 8, 'Most hours.'),
      plateau_iterations: or(whole({ min: 1, max: 1000 }), 10, 'Experiments without a new best.'),
      target_reached: or(boolean, true, 'Whether the target ends the search.'),
    }),
    {},
    'When the search ends.',
  ),
  max_runner_up_merges_per_batch: may(whole(), 'How many runners-up are merged.'),
}

export const BACKLOG_SPEC = keys(SECTIONS, { check: ({ metric }, report) => checkJudge(metric, report) })

export type BacklogSpec = TypeOf<typeof BACKLOG_SPEC>

/** Keys that say of a mapping that it is such a spec. */
export const BACKLOG_MARKS = ['metric', 'measurement', 'stopping', 'execution']

/** The spec that does the same. Every key that the file sets has a line. Its paths count from the root of the repository. */
export function fromBacklog(read: BacklogSpec, beside: ImportFolder): Mapped {
  const { metric, measurement, scope, execution, parallel, dependencies, stopping } = read
  const { primary } = metric
  const { stability } = measurement
  const lines: Mapping[] = []
  const became = (from: string, to: string, why: string | null = null) => lines.push({ from, to, why })
  const noEqual = (from: string, why: string) => lines.push({ from, to: null, why })

  became('name', 'name')
  if (read.description !== null) became('description', 'goal')
  became('metric.primary', 'metric')
  if (primary.baseline !== null) noEqual('metric.primary.baseline', '`init` measures the baseline itself')
  if (primary.target !== null && !stopping.target_reached)
    noEqual('metric.primary.target', 'stopping.target_reached is false, so nothing stops there')
  became('metric.degenerate_gates', 'constraints')
  const others = metric.objectives.filter((one) => one.name !== primary.name)
  // A required one may not get worse either, whatever its target.
  const guarded = others.filter((one) => one.role === 'required' || one.max_regression !== null)
  const aimed = others.filter(
    (one) => one.role === 'required' && one.target !== null && stopping.target_reached,
  )
  for (const one of metric.objectives) {
    const from = `metric.objectives.${one.name}`
    if (one.name === primary.name) became(from, 'metric', 'it is the primary metric')
    else if (aimed.includes(one)) became(from, 'targets, protected', 'the loop stops when every target holds')
    else if (guarded.includes(one)) became(from, 'protected')
    else
      noEqual(
        from,
        'it may get worse by any amount, so nothing protects it; its value is recorded with each sample',
      )
  }
  if (metric.diagnostics.length > 0)
    noEqual('metric.diagnostics', 'every metric that the command prints is recorded with its sample')
  became('measurement.command', 'measure.command')
  became('measurement.timeout_seconds', 'measure.timeout')
  if (measurement.working_directory !== '.') became('measurement.working_directory', 'measure.directory')
  if (stability.mode !== 'stable' || stability.repeat_count !== null)
    became(
      'measurement.stability',
      'noise',
      '`init` learns the noise, and pairs are taken until the evidence is clear',
    )
  for (const [key, value] of [
    ['noise_threshold', stability.noise_threshold],
    ['comparison.relative_threshold', stability.comparison.relative_threshold],
  ] as const)
    if (value !== null)
      noEqual(
        `measurement.stability.${key}`,
        'evidence decides, not a threshold; `metric.min_improvement` asks for more',
      )
  if (measurement.per_case)
    noEqual('measurement.per_case', 'a sample that prints `tasks` (scores by name) is compared task by task')
  if (measurement.holdout !== null)
    noEqual('measurement.holdout', 'data that candidates never see: `assay init --holdout FILE`')
  const smoke = stability.ladder.smoke_command
  if (smoke !== null)
    became('measurement.stability.ladder.smoke_command', 'gates', 'a gate before the measurement')
  became('scope', 'scope')
  const width =
    execution.mode === 'serial' || parallel.exclusive_resources.length > 0 ? 1 : execution.max_concurrent
  became('execution', 'loop.width', `${width} at once`)
  if (execution.backend !== null)
    noEqual('execution.backend', 'the agent that makes candidates is `agent.host`')
  if (execution.sanctioned_env.length > 0) became('execution.sanctioned_env', 'measure.environment.inherit')
  if (execution.codex_security !== null) noEqual('execution.codex_security', 'see `agent.permissions`')
  const port = parallel.port_env_var
  if (port !== null)
    became('parallel.port_env_var', 'measure.command', `a free port for each sample, in ${port}`)
  if (parallel.port_base !== null) noEqual('parallel.port_base', 'each sample gets a port that is free')
  if (parallel.shared_files.length > 0) became('parallel.shared_files', 'worktree.data', 'read-only copies')
  if (parallel.exclusive_resources.length > 0)
    became('parallel.exclusive_resources', 'measure.slots', 'one measurement at a time')
  became(
    'dependencies.approved',
    'dependencies.approved',
    'a candidate that adds another package is rejected',
  )
  if (read.constraints.length > 0) became('constraints', 'instructions.rules')
  became('stopping.max_iterations', 'budget.experiments')
  became('stopping.max_hours', 'budget.hours')
  const stall = Math.max(1, Math.ceil(stopping.plateau_iterations / width))
  became('stopping.plateau_iterations', 'loop.stall', `${stall} rounds of ${width}`)
  const merges = read.max_runner_up_merges_per_batch !== 0
  if (read.max_runner_up_merges_per_batch !== null)
    became(
      'max_runner_up_merges_per_batch',
      'loop.merge',
      merges ? 'the CLI tries all gains together, then halves of them' : 'off',
    )

  const globs = (paths: readonly string[]) => paths.map((one) => globOf(one, beside))
  return withJudge(read, {
    lines,
    spec: {
      version: 1,
      name: read.name,
      goal: read.description ?? `Improve ${primary.name}.`,
      instructions: {
        rules: read.constraints,
      },
      scope: { mutable: globs(scope.mutable), immutable: globs(scope.immutable) },
      worktree: { data: globs(parallel.shared_files) },
      measure: {
        command: port === null ? measurement.command : `export ${port}="$ASSAY_PORT"; ${measurement.command}`,
        directory: measurement.working_directory === '.' ? undefined : measurement.working_directory,
        timeout: durationInWords(measurement.timeout_seconds),
        read: 'json',
        environment: { inherit: execution.sanctioned_env },
      },
      metric: {
        name: primary.name,
        direction: primary.direction,
        target: stopping.target_reached ? (primary.target ?? undefined) : undefined,
      },
      constraints: metric.degenerate_gates.map(({ name: one, check }) => ({
        metric: one,
        ...checkOf(check),
      })),
      targets: aimed.map(({ name: one, direction: way, target }) => ({
        metric: one,
        op: way === 'minimize' ? '<=' : '>=',
        value: target,
      })),
      protected: guarded.map(({ name: one, direction: way, max_regression: most }) => ({
        metric: one,
        direction: way,
        max_regression: most?.type === 'relative' ? percent(most.value) : most?.value,
      })),
      gates: smoke === null ? [] : [{ name: 'smoke', command: smoke, phase: 'before' }],
      loop: { width, depth: 1, stall, merge: merges ? undefined : 'off' },
      budget: { experiments: stopping.max_iterations, hours: stopping.max_hours },
      dependencies: { approved: dependencies.approved },
    },
  })
}

/** The file names folders without a pattern. */
function globOf(path: string, beside: ImportFolder): string {
  const bare = path.replace(/^\.\//, '').replace(/\/+$/, '')
  return path.endsWith('/') || beside.isFolder(bare) ? `${bare}/**` : bare
}

function checkOf(check: string): { op: string; value: number | boolean } {
  const [, op = '', value = ''] = CHECK.exec(check) ?? []
  return { op, value: value === 'true' || value === 'false' ? value === 'true' : Number(value) }
}

/** As a spec writes it, without the errors of binary fractions. */
const percent = (share: number): string => `${Number((share * 100).toFixed(6))}%`
