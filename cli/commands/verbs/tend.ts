/** Verbs about the run as a whole. */
import type { Flag, Verb } from '../command.ts'

const REASON: Flag = {
  type: 'string',
  value: 'TEXT',
  summary: 'the reason, kept in the ledger',
  needed: true,
}

export const TEND: readonly Verb[] = [
  {
    name: 'note',
    group: 'tend',
    summary: 'something that the next rounds should know; without TEXT: the list',
    positionals: [{ name: 'TEXT', required: false }],
    flags: {
      kind: {
        type: 'string',
        value: 'KIND',
        choices: ['learning', 'infrastructure'],
        summary: 'what it is about',
      },
      limit: {
        type: 'integer',
        value: 'N',
        min: 1,
        max: 10_000,
        summary: 'list at most so many; default 50',
      },
    },
    example: 'assay note --kind learning "The allocator is not the bottleneck"',
    load: () => import('../note.ts'),
  },
  {
    name: 'config',
    group: 'tend',
    summary: 'the knobs and budgets that may change while a run lives',
    positionals: [],
    flags: {},
    example: 'assay config get',
    subs: [
      {
        name: 'get',
        summary: 'one knob, or all',
        positionals: [{ name: 'KEY', required: false }],
        flags: {},
        example: 'assay config get budget.experiments',
      },
      {
        name: 'set',
        summary: 'change a knob; none takes a cap away',
        positionals: [
          { name: 'KEY', required: true },
          { name: 'VALUE', required: true },
        ],
        flags: { reason: REASON },
        example: 'assay config set budget.experiments 200 --reason "It still improves"',
      },
      {
        name: 'autonomous',
        summary: 'whether this session of an agent program goes on by itself until the loop is over',
        positionals: [{ name: 'on|off', required: false }],
        flags: {},
        example: 'assay config autonomous on',
      },
    ],
    load: () => import('../config.ts'),
  },
  {
    name: 'epoch',
    group: 'tend',
    summary: 'scores from before are no longer compared; the baseline is measured anew',
    positionals: [],
    flags: {},
    example: 'assay epoch open --reason "Another machine from here on"',
    subs: [
      {
        name: 'open',
        summary: 'begin an epoch',
        positionals: [],
        flags: { reason: REASON },
        example: 'assay epoch open --reason "Another machine from here on"',
      },
    ],
    load: () => import('../epoch.ts'),
  },
  {
    name: 'env',
    group: 'tend',
    summary: 'which environment variables a benchmark gets, never their values',
    positionals: [],
    flags: {},
    example: 'assay env show',
    subs: [
      {
        name: 'show',
        summary: 'names, and where each comes from',
        positionals: [],
        flags: {},
        example: 'assay env show',
      },
    ],
    load: () => import('../env.ts'),
  },
  {
    name: 'gc',
    group: 'tend',
    summary: 'free what nobody needs: worktrees of settled experiments, trash, old logs',
    positionals: [],
    flags: { 'dry-run': { type: 'boolean', summary: 'only say what would be deleted' } },
    example: 'assay gc --dry-run',
    load: () => import('../gc.ts'),
  },
  {
    name: 'hook',
    group: 'hidden',
    summary: 'what the hooks of an agent program ask',
    positionals: [],
    flags: {},
    example: 'assay hook stop',
    subs: [
      {
        name: 'stop',
        summary: 'whether the session may end its turn',
        positionals: [],
        flags: {},
        stdin: '{"session_id":"…","cwd":"…"}',
        example: 'assay hook stop',
      },
      {
        name: 'pre-tool',
        summary: 'whether a tool may write a file',
        positionals: [],
        flags: {},
        stdin: '{"session_id":"…","cwd":"…","tool_input":{"file_path":"…"}}',
        example: 'assay hook pre-tool',
      },
    ],
    load: () => import('../hook.ts'),
  },
]
