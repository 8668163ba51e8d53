/** Verbs that decide about an experiment, or remark on it. */
import { FAILURE_CLASSES } from '../../ledger/events.ts'
import type { Flag, Positional, Verb } from '../command.ts'

const ID: Positional = { name: 'ID', required: true }
const REASON: Flag = { type: 'string', value: 'TEXT', summary: 'the reason, kept in the ledger' }
const NEEDS_REASON: Flag = { ...REASON, needed: true }
const CLASS: Flag = { type: 'string', value: 'CLASS', choices: FAILURE_CLASSES, summary: 'what failed' }
const NAME: Flag = { type: 'string', value: 'NAME', summary: 'the name of the gate', needed: true }

export const DECIDE: readonly Verb[] = [
  {
    name: 'confirm',
    group: 'decide',
    summary: 'measure a kept experiment again: lifts a flag, or revokes it',
    positionals: [ID],
    flags: {
      against: { type: 'string', value: 'ID', summary: 'another one than its parent to be better than' },
    },
    example: 'assay confirm exp_0007',
    load: () => import('../confirm.ts'),
  },
  {
    name: 'abort',
    group: 'decide',
    summary: 'stop the judging of an experiment, and say why',
    positionals: [ID],
    flags: {
      reason: NEEDS_REASON,
      'failure-class': { ...CLASS, summary: 'what failed; default environment, which costs no attempt' },
      fix: { type: 'string', value: 'TEXT', summary: 'what has to be mended; told to the next rounds' },
      'if-running': { type: 'boolean', summary: 'no failure when it is not running' },
    },
    example:
      'assay abort exp_0007 --if-running --reason "It hangs in the download" --fix "Cache the fixture"',
    load: () => import('../abort.ts'),
  },
  {
    name: 'prune',
    group: 'decide',
    summary: 'no more children from a kept experiment; its score still counts',
    positionals: [ID],
    flags: { reason: NEEDS_REASON },
    example: 'assay prune exp_0007 --reason "Five children, none better"',
    load: () => import('../prune.ts'),
  },
  {
    name: 'restore',
    group: 'decide',
    summary: 'undo a discard, a prune or a revocation; lift a flag',
    positionals: [ID],
    flags: { reason: REASON },
    example: 'assay restore exp_0007 --reason "The finding was wrong"',
    load: () => import('../restore.ts'),
  },
  {
    name: 'gate',
    group: 'decide',
    summary: 'gates that bind an experiment and everything below it',
    positionals: [],
    flags: {},
    example: 'assay gate list exp_0007',
    subs: [
      {
        name: 'add',
        summary: 'add a gate; it must pass on the parent first',
        positionals: [ID],
        flags: {
          name: NAME,
          command: {
            type: 'string',
            value: 'LINE',
            summary: 'a line for /bin/sh; exit 0 passes',
            needed: true,
          },
          phase: {
            type: 'string',
            value: 'PHASE',
            choices: ['before', 'after'],
            summary: 'before or after the measurement; default before',
          },
          timeout: { type: 'duration', value: 'TIME', max: '24h', summary: 'at most; default 5m' },
          reason: NEEDS_REASON,
        },
        example: 'assay gate add exp_0007 --name order --command "node check-order.js" --reason "Lost twice"',
      },
      {
        name: 'list',
        summary: 'the gates that bind an experiment, and where each comes from',
        positionals: [ID],
        flags: {},
        example: 'assay gate list exp_0007',
      },
      {
        name: 'remove',
        summary: 'end an added gate here and below',
        positionals: [ID],
        flags: { name: NAME, reason: REASON },
        example: 'assay gate remove exp_0007 --name order',
      },
      {
        name: 'check',
        summary: 'run every gate that binds an experiment, free of charge',
        positionals: [ID],
        flags: {},
        example: 'assay gate check exp_0007',
      },
    ],
    load: () => import('../gate.ts'),
  },
  {
    name: 'annotate',
    group: 'decide',
    summary: 'a remark on an experiment, or on one of its tasks',
    positionals: [ID, { name: 'TEXT', required: true }],
    flags: {
      task: { type: 'string', value: 'TASK', summary: 'the task that it is about' },
      tag: { type: 'string', value: 'TAG', summary: 'a word to find it by' },
    },
    example: 'assay annotate exp_0007 "Half of the time is spent in the lexer" --tag profile',
    load: () => import('../annotate.ts'),
  },
]
