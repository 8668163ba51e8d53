/** The judged metric of a spec with a backlog: a rubric with grades, sampled outputs, money. */

import { choice, keys, list, may, need, number, or, type Report, type TypeOf, text, whole } from '../kind.ts'
import type { Mapped, Mapping } from './mapping.ts'

export const BACKLOG_JUDGE = keys({
  rubric: need(text(), 'What each grade stands for.'),
  scoring: need(
    keys({
      primary: need(text(), 'The grade that decides.'),
      secondary: or(list(text()), [], 'Further grades.'),
    }),
    'Which grade decides.',
  ),
  model: or(choice(['haiku', 'sonnet']), 'haiku', 'The model that judges.'),
  sample_size: or(whole({ min: 1 }), 10, 'How many outputs are judged.'),
  stratification: or(
    list(
      keys({
        bucket: need(text(), 'The kind of output.'),
        count: need(whole({ min: 1 }), 'How many of it are judged.'),
      }),
      { unique: 'bucket' },
    ),
    [],
    'How many outputs of each kind are judged.',
  ),
  singleton_sample: or(whole({ min: 0 }), 0, 'How many singletons are judged.'),
  singleton_rubric: may(text(), 'What the grades of a singleton stand for.'),
  sample_seed: or(whole({ min: 0 }), 42, 'Of the draw.'),
  batch_size: or(whole({ min: 1 }), 5, 'Outputs in one call.'),
  minimum_improvement: or(number({ min: 0 }), 0.3, 'A smaller difference does not count.'),
  max_total_cost_usd: may(number({ above: 0 }), 'Most dollars.'),
})

const HOST = 'claude-code'
const ITEMS = 'items.jsonl'
/** Of the spec's own keys. */
const BATCH = { least: 2, most: 64 }
/** Batches of items that are asked for: two for the comparison, two for its confirmation. */
const BATCHES = 4

interface Judged {
  description: string | null
  metric: {
    primary: { type: string; name: string; target: number | null }
    judge: TypeOf<typeof BACKLOG_JUDGE> | null
  }
}

/** Whether the type of the primary metric and the judge go together. */
export function checkJudge({ primary, judge }: Judged['metric'], report: Report): void {
  if (primary.type === 'judge' && judge === null)
    report(
      ['metric', 'primary', 'type'],
      'a judged metric needs `metric.judge`',
      'add judge: {rubric, scoring}, or write type: hard',
    )
  if (primary.type !== 'judge' && judge !== null)
    report(
      ['metric', 'judge'],
      '`metric.judge` has no effect with `type: hard`',
      'write type: judge, or remove it',
    )
}

/** Adds the judge, if there is one, to what the rest of the file became. */
export function withJudge({ description, metric: { primary, judge } }: Judged, mapped: Mapped): Mapped {
  if (judge === null) return mapped
  const { spec, lines } = mapped
  const batch = Math.min(BATCH.most, Math.max(BATCH.least, judge.sample_size))
  const became = (key: string, to: string, why: string | null = null): Mapping => ({
    from: `metric.judge${key}`,
    to,
    why,
  })
  const noEqual = (key: string, why: string): Mapping => ({ from: `metric.judge${key}`, to: null, why })
  const more = [
    became(
      '',
      'judge',
      `write ${ITEMS}, one JSON object a line with the id of what is answered, and let the command write the answers that the file $ASSAY_ITEMS names into $ASSAY_ITEMS_DIR`,
    ),
    became(
      '.rubric',
      'judge.rubric',
      'the form of the answer is that of Assay, whatever the rubric says of it',
    ),
    ...(judge.scoring.primary === primary.name
      ? []
      : [noEqual('.scoring.primary', `one grade is given, and it is called ${primary.name}`)]),
    ...(judge.scoring.secondary.length === 0
      ? []
      : [
          noEqual(
            '.scoring.secondary',
            'one grade is given; with `mode: criteria` there may be several questions',
          ),
        ]),
    became('.model', 'judge.model', `asked by ${HOST}`),
    became('.sample_size', 'judge.batch', `each pair judges ${batch} items, of both sides in one call`),
    ...(judge.stratification.length === 0
      ? []
      : [
          became(
            '.stratification',
            'judge.strata',
            `${BATCHES} times as many of each, since no item is judged twice before all were`,
          ),
        ]),
    ...(judge.singleton_sample > 0 || judge.singleton_rubric !== null
      ? [noEqual('.singleton_sample', 'all items have one rubric; give singletons a stratum of their own')]
      : []),
    became('.sample_seed', 'judge.seed'),
    noEqual('.batch_size', 'each call judges one item, so that no answer colours the next one'),
    became('.minimum_improvement', 'metric.min_improvement'),
    became(
      '.max_total_cost_usd',
      'budget.judge_usd',
      judge.max_total_cost_usd === null ? 'the file sets none, so it is 5 dollars' : null,
    ),
    ...(primary.target === null
      ? []
      : [
          {
            from: 'metric.primary.target',
            to: null,
            why: 'a judged metric is the sum of gains against the baseline, and no grade that could be reached',
          },
        ]),
  ]
  const { metric, scope, budget } = spec as Record<'metric' | 'scope' | 'budget', Record<string, unknown>>
  return {
    lines: [...lines, ...more],
    spec: {
      ...spec,
      metric: { ...metric, target: undefined, min_improvement: judge.minimum_improvement },
      scope: { ...scope, immutable: [...(scope.immutable as string[]), ITEMS] },
      budget: { ...budget, judge_usd: judge.max_total_cost_usd ?? undefined },
      judge: {
        host: HOST,
        model: judge.model,
        items: ITEMS,
        task: description ?? `Improve ${primary.name}.`,
        mode: 'rubric',
        rubric: judge.rubric,
        batch,
        seed: judge.sample_seed,
        strata: judge.stratification.map(({ bucket, count }) => ({
          stratum: bucket,
          count: BATCHES * count,
        })),
      },
    },
  }
}
