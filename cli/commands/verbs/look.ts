/** Verbs that only read. */
import type { Flag, Positional, Verb } from '../command.ts'

const ID: Positional = { name: 'ID', required: true }
const LIMIT = {
  type: 'integer',
  value: 'N',
  min: 1,
  max: 100_000,
  summary: 'at most so many entries',
} satisfies Flag

export const LOOK: readonly Verb[] = [
  {
    name: 'status',
    group: 'look',
    summary: 'where the run stands: baseline, best, counts, budget',
    positionals: [],
    flags: {},
    example: 'assay status --json',
    load: () => import('../status.ts'),
  },
  {
    name: 'tree',
    group: 'look',
    summary: 'the experiments as a tree',
    positionals: [],
    flags: { limit: LIMIT },
    example: 'assay tree --limit 200',
    load: () => import('../tree.ts'),
  },
  {
    name: 'frontier',
    group: 'look',
    summary: 'the parents that the policy would pick now',
    positionals: [],
    flags: {
      k: { type: 'integer', short: 'k', value: 'N', min: 1, max: 1000, summary: 'how many' },
      policy: { type: 'string', value: 'NAME', summary: 'another policy than the configured one' },
      seed: { type: 'integer', value: 'N', min: 0, max: Number.MAX_SAFE_INTEGER, summary: 'another seed' },
      explain: { type: 'boolean', summary: 'say why each was picked' },
    },
    example: 'assay frontier -k 3 --explain',
    load: () => import('../frontier.ts'),
  },
  {
    name: 'show',
    group: 'look',
    summary: 'everything about one experiment',
    positionals: [ID],
    flags: {
      recompute: {
        type: 'boolean',
        summary: 'compute the verdict again from what was recorded, and compare it with the ledger',
      },
    },
    example: 'assay show exp_0007',
    load: () => import('../show.ts'),
  },
  {
    name: 'diff',
    group: 'look',
    summary: "an experiment's candidate against its parent, or against another experiment",
    positionals: [ID, { name: 'AGAINST', required: false }],
    flags: { stat: { type: 'boolean', summary: 'only the numbers of lines' } },
    example: 'assay diff exp_0007',
    load: () => import('../diff.ts'),
  },
  {
    name: 'path',
    group: 'look',
    summary: 'how an experiment came about, from the baseline on; and its worktree',
    positionals: [ID],
    flags: {},
    example: 'assay path exp_0007',
    load: () => import('../path.ts'),
  },
  {
    name: 'traces',
    group: 'look',
    summary: 'what the benchmark wrote of the tasks of an experiment, or of one',
    positionals: [ID, { name: 'TASK', required: false }],
    flags: { limit: { ...LIMIT, max: 500 } },
    example: 'assay traces exp_0007 case-12',
    load: () => import('../traces.ts'),
  },
  {
    name: 'discards',
    group: 'look',
    summary: 'what was rejected or discarded, and why',
    positionals: [],
    flags: {
      like: { type: 'string', value: 'TEXT', summary: 'the ideas most similar to this one first' },
      limit: LIMIT,
    },
    example: 'assay discards --like "Cache the parsed header"',
    load: () => import('../discards.ts'),
  },
  {
    name: 'context',
    group: 'look',
    summary: 'what an agent reads first: goal, state, what not to try; always short',
    positionals: [{ name: 'ID', required: false }],
    flags: {},
    example: 'assay context exp_0007',
    load: () => import('../context.ts'),
  },
  {
    name: 'report',
    group: 'look',
    summary: 'the run as a chart, with the numbers under it',
    positionals: [],
    flags: {
      all: { type: 'boolean', summary: 'every run of this repository, one chart each' },
      watch: { type: 'boolean', summary: 'repaint as results come in, until the driver stops or Ctrl-C' },
      csv: { type: 'boolean', summary: 'one line of comma-separated values an experiment' },
      width: { type: 'integer', value: 'N', min: 40, max: 1000, summary: 'columns; default: the terminal' },
      height: { type: 'integer', value: 'N', min: 10, max: 500, summary: 'rows of the chart; default 20' },
    },
    example: 'assay report',
    load: () => import('../report.ts'),
  },
  {
    name: 'finish',
    group: 'look',
    summary: 'the winner, measured again, as a branch with the text of its pull request',
    positionals: [],
    flags: {
      branch: {
        type: 'string',
        value: 'NAME',
        summary: 'the new branch; default: assay/ and the name in the spec',
      },
      squash: { type: 'boolean', summary: 'one commit; default: one for each step of the way' },
    },
    example: 'assay finish --branch faster-parser',
    load: () => import('../finish.ts'),
  },
]
