/** Verbs that change an experiment. */
import { FAILURE_CLASSES } from '../../ledger/events.ts'
import type { Flag, Positional, Verb } from '../command.ts'

const ID: Positional = { name: 'ID', required: true }
const MESSAGE: Flag = {
  type: 'string',
  short: 'm',
  value: 'TEXT',
  summary: 'the hypothesis, in one sentence',
}
const REASON: Flag = { type: 'string', value: 'TEXT', summary: 'the reason, kept in the ledger' }
const ROUND: Flag = {
  type: 'integer',
  value: 'R',
  min: 1,
  max: 1_000_000_000,
  summary: 'the round it belongs to',
}

export const TRY: readonly Verb[] = [
  {
    name: 'new',
    group: 'try',
    summary: 'open an experiment with its own worktree',
    positionals: [],
    flags: {
      parent: { type: 'string', short: 'p', value: 'ID', summary: 'a kept experiment; default: the best' },
      message: { ...MESSAGE, needed: true },
      'from-artifact': {
        type: 'string',
        value: 'ID[:LABEL]',
        summary: 'start from an artifact of another experiment, whatever its verdict; parent: its sibling',
      },
      round: ROUND,
      lane: { type: 'integer', value: 'N', min: 1, max: 10_000, summary: 'the lane of that round' },
      depth: { type: 'integer', value: 'N', min: 1, max: 10_000, summary: 'how deep in that lane' },
    },
    example: 'assay new --parent exp_0000 -m "Cache the parsed header"',
    load: () => import('../new.ts'),
  },
  {
    name: 'seal',
    group: 'try',
    summary: 'pin the candidate as a commit, without judging it',
    positionals: [ID],
    flags: {
      message: MESSAGE,
      'if-changed': {
        type: 'boolean',
        summary: 'only if the files differ from the last judged attempt, or from the parent without one',
      },
    },
    example: 'assay seal exp_0007',
    load: () => import('../seal.ts'),
  },
  {
    name: 'check',
    group: 'try',
    summary: 'check a candidate for what would reject it, free of charge',
    positionals: [ID],
    flags: {},
    example: 'assay check exp_0007',
    load: () => import('../check.ts'),
  },
  {
    name: 'run',
    group: 'try',
    summary: 'seal, measure and judge an experiment',
    positionals: [ID],
    flags: {
      detach: { type: 'boolean', summary: 'answer at once; then: assay wait --for ID' },
      sealed: { type: 'boolean', summary: 'judge the last seal, whatever its worktree holds by now' },
      check: { type: 'boolean', summary: 'only try the wiring: one sample, no attempt, no charge' },
      'take-over': {
        type: 'boolean',
        summary: 'a person says that other machines and containers which hold a slot are gone',
      },
    },
    example: 'assay run exp_0007',
    load: () => import('../run.ts'),
  },
  {
    name: 'audit',
    group: 'try',
    summary: 'record findings about a judged experiment; checked evidence revokes it',
    positionals: [ID],
    flags: {},
    stdin: '{"findings":[{"code":"hash|task_set|path|opinion","message":"…","path":"…"}]}',
    example: `echo '{"findings":[]}' | assay audit exp_0007`,
    load: () => import('../audit.ts'),
  },
  {
    name: 'discard',
    group: 'try',
    summary: 'give up an experiment; its record and candidates stay',
    positionals: [ID],
    flags: {
      reason: REASON,
      'failure-class': { type: 'string', value: 'CLASS', choices: FAILURE_CLASSES, summary: 'what failed' },
    },
    example: 'assay discard exp_0007 --failure-class hypothesis --reason "No hot path left there"',
    load: () => import('../discard.ts'),
  },
]
