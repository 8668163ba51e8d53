/** A model that reads the answers of the benchmark and compares them: what it is, and by what it judges. */
import { hostNames } from '../../hosts/registry.ts'
import {
  boolean,
  choice,
  keys,
  list,
  may,
  need,
  number,
  or,
  type Report,
  type TypeOf,
  text,
  whole,
} from '../kind.ts'
import { commandText, durationText, path } from './text.ts'

const criterion = keys({
  name: need(text(), 'Named in reports; must be unique.'),
  ask: need(text(), 'The question that the judge answers about the two answers.'),
  weight: may(
    number({ above: 0, max: 1 }),
    'How much it counts. The weights sum to 1; absent in all = they are equal.',
  ),
  kind: or(
    choice(['compare', 'pass']),
    'compare',
    'compare: which answer is better; pass: whether each answer does it.',
  ),
})

/** Weights such as three times 0.333 are meant to sum to 1. */
const ROUNDING = 0.002

export const judging = keys(
  {
    host: need(
      choice(hostNames.filter((name) => name !== 'tune')),
      '`command` is any program that reads a prompt on standard input and answers on standard output; the others are agent programs, which must be installed and logged in.',
    ),
    command: may(commandText, 'The program of `host: command`; it starts in the folder of the spec.'),
    model: may(text(), 'The model that judges; absent = the default of the program.'),
    effort: may(text(), 'The reasoning effort of the model.'),
    timeout: or(durationText, '5m', 'The longest that one judgement may take.'),
    items: need(
      path,
      'A file with one JSON object a line: `id`, and if wanted `input` (what is to be answered, as the judge reads it) and `stratum`. The benchmark gets the ids that are wanted in the file `$ASSAY_ITEMS`, one a line, and writes each answer to `$ASSAY_ITEMS_DIR/<id>.txt`.',
    ),
    task: need(text(), 'What the answers are for, in a sentence or two that the judge reads.'),
    mode: or(
      choice(['criteria', 'rubric']),
      'criteria',
      'criteria: a verdict for each criterion, from which Assay computes a score from -1 to 1; rubric: a grade from 1 to 5 for each of the two answers.',
    ),
    criteria: or(list(criterion, { unique: 'name' }), [], 'What the judge looks at, with `mode: criteria`.'),
    rubric: may(text(), 'What each grade from 1 to 5 stands for, with `mode: rubric`.'),
    batch: may(
      whole({ min: 2, max: 64 }),
      'How many items one pair judges; absent = 8, or 16 when there are 128 items or more.',
    ),
    seed: or(whole({ min: 0 }), 0, 'Of the draw of the items.'),
    strata: or(
      list(
        keys({
          stratum: need(text(), 'As the items say it.'),
          count: need(whole({ min: 1 }), 'How many of its items take part.'),
        }),
        { unique: 'stratum' },
      ),
      [],
      'How many items of each stratum take part; empty = all items.',
    ),
    holdout: or(
      number({ min: 0, max: 0.5 }),
      0.2,
      'The share of the items on which only a new best is tried, as far as the two other sets have a batch each.',
    ),
    swap: or(
      boolean,
      false,
      'Ask twice for each item, with the sides swapped. It doubles the price, and pays only for a judge that mostly prefers a place.',
    ),
    max_length: or(
      number({ min: 1 }),
      1.3,
      'The most that the answers may be longer than those of the parent, as a ratio of medians and of means; a judge likes long answers.',
    ),
    writer: may(text(), 'The model that writes the answers, if a model does.'),
    same_model: or(
      choice(['refuse', 'allow']),
      'refuse',
      'Whether the model that writes the answers may judge them: models prefer their own words.',
    ),
  },
  {
    check: (value, report) => {
      const { host, command, mode, criteria, rubric, model, writer, same_model } = value
      if (host === 'command' && command === null)
        report(['host'], '`host: command` has no command', 'add `command: …` to `judge`')
      if (mode === 'criteria' && criteria.length === 0)
        report(
          ['criteria'],
          '`mode: criteria` has no criteria',
          'add `criteria: [{name, ask}]`, or use mode: rubric',
        )
      if (mode === 'rubric' && rubric === null)
        report(['rubric'], '`mode: rubric` has no rubric', 'add `rubric`, or use mode: criteria')
      if (mode === 'rubric' && rubric !== null && !(/\b1\b/.test(rubric) && /\b5\b/.test(rubric)))
        report(
          ['rubric'],
          'the rubric does not say what the grades 1 and 5 stand for',
          'say it in words: "5: every fact is right … 1: it misleads"',
        )
      const weights = criteria.flatMap(({ weight }) => weight ?? [])
      const sum = weights.reduce((total, weight) => total + weight, 0)
      if (weights.length > 0 && (weights.length < criteria.length || Math.abs(sum - 1) > ROUNDING))
        report(
          ['criteria'],
          weights.length < criteria.length
            ? 'some criteria have a weight and some have none'
            : `the weights of the criteria sum to ${Number(sum.toFixed(4))}, not to 1`,
          'give each criterion a weight so that all sum to 1, or none',
        )
      if (writer !== null && writer === model && same_model === 'refuse')
        report(
          ['model'],
          `${model} would judge the answers that it writes`,
          'name another model, or write same_model: allow',
        )
    },
    also: {
      allOf: [
        {
          oneOf: [
            { properties: { host: { const: 'command' } }, required: ['command'] },
            { properties: { host: { not: { const: 'command' } } } },
          ],
        },
        {
          oneOf: [
            { properties: { mode: { const: 'rubric' } }, required: ['mode', 'rubric'] },
            {
              properties: { mode: { const: 'criteria' }, criteria: { minItems: 1 } },
              required: ['criteria'],
            },
          ],
        },
      ],
    },
  },
)

export type ReadJudge = TypeOf<typeof judging>

interface Around {
  judge: ReadJudge | null
  metric: { direction: string; min_improvement: { relative: number } | { absolute: number } }
  noise: { mode: string }
}

/** What the rest of a spec must be where a judge scores. */
export function checkAroundJudge({ judge, metric, noise }: Around, report: Report): void {
  if (judge === null) return
  if (metric.direction === 'minimize')
    report(
      ['metric', 'direction'],
      'a judged metric says how much better an answer is: more is better',
      'write maximize',
    )
  if ('relative' in metric.min_improvement && metric.min_improvement.relative > 0)
    report(
      ['metric', 'min_improvement'],
      'a judged metric is a difference, and has no value of which a percentage could be taken',
      'write a number: 0.2 of a score from -1 to 1, or of a grade',
    )
  if (noise.mode === 'deterministic')
    report(['noise', 'mode'], 'a judge is never the same twice', 'remove noise.mode')
}
