/** What makes a candidate better, and what must hold. */
import { boolean, choice, either, keys, later, list, may, need, number, or, text } from '../kind.ts'
import { metricName, threshold } from './text.ts'

const direction = choice(['minimize', 'maximize'])

export const metric = keys(
  {
    name: need(
      metricName,
      'As the benchmark prints it, or one that Assay records: wall_ms, cpu_ms, peak_mb, source_bytes, diff_lines.',
    ),
    direction: need(direction, 'Which way is better.'),
    unit: may(
      text(),
      'The unit of the metric, when neither its name nor the benchmark says it: `ms`, `s`, `MB`.',
    ),
    target: may(number(), 'The loop stops when the best reaches it.'),
    min_improvement: or(
      threshold,
      0,
      'The least gain worth keeping: `1%` of the value of the parent, or `0.5` in the unit of the metric.',
    ),
    floor: may(
      number(),
      'The least value that is possible, with `minimize`: what the hardware allows, or the time of an empty run. A candidate below it stays in doubt until a person clears it.',
    ),
  },
  {
    check: ({ direction, floor }, report) => {
      if (floor !== null && direction === 'maximize')
        report(['floor'], '`floor` is for a metric with `direction: minimize`', 'remove it')
    },
  },
)

export const tasks = keys({
  aggregate: or(
    choice(['mean', 'sum', 'min', 'max']),
    'mean',
    'How the primary metric is computed from the scores of the tasks. If the benchmark also prints the metric, it must agree, up to rounding.',
  ),
  missing: or(choice(['fail']), 'fail', 'What happens to a sample in which a task is missing.'),
  weights: later('How much each task counts.'),
})

const EQUALITY = ['==', '!='] as const

const bound = keys(
  {
    metric: need(metricName, 'Any metric of the sample.'),
    op: need(
      choice(['<=', '>=', '<', '>', ...EQUALITY]),
      'The comparison of the metric with the value that must hold.',
    ),
    value: need(either(number(), boolean), 'In the unit of the metric, or true or false.'),
  },
  {
    check: ({ op, value }, report) => {
      if (typeof value === 'boolean' && op !== '==' && op !== '!=') {
        report(['op'], `\`${op}\` cannot compare with ${value}`, 'use == or !=')
      }
    },
    also: {
      if: { properties: { value: { type: 'boolean' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { op: { enum: EQUALITY } } },
    },
  },
)

export const constraints = list(bound)

export const targets = list(bound)

const allowance = 'The most that it may get worse: `2%` of the value, or `0.5` in the unit of the metric.'

export const protectedMetrics = list(
  keys({
    metric: need(metricName, 'Any metric of the sample, or one that Assay records.'),
    direction: need(direction, 'Which way is better.'),
    max_regression: or(threshold, 0, allowance),
  }),
)

export const controls = list(metricName)

export const holdout = keys({
  max_regression: or(threshold, 0, `On held-out data, against the baseline. ${allowance}`),
})

export const tieBreakers = list(
  keys({
    metric: need(metricName, 'Any metric of the sample, or one that Assay records.'),
    direction: need(direction, 'Which way is better.'),
  }),
)
