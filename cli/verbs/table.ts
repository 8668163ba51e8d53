/** The table of verbs, as data: dispatch, help, checks and suggestions all read it. */
import { FAILURE_CLASSES } from '../ledger/events.ts'
import { call, next } from '../next.ts'
import type { Flag, Flags, Parsed, Positional, Verb } from '../terminal/command.ts'

const WHERE = {
  user: { type: 'boolean', summary: 'for all projects of this user (the default)' },
  project: { type: 'boolean', summary: 'for the checkout around this folder only' },
} as const satisfies Flags
const ONLY_SAY = { type: 'boolean', summary: 'only say what would be done' } as const satisfies Flag
const ID = { name: 'ID', required: true } as const satisfies Positional
const TASK = { name: 'TASK', required: true } as const satisfies Positional
const MESSAGE = {
  type: 'string',
  short: 'm',
  value: 'TEXT',
  summary: 'the hypothesis, in one sentence',
} as const satisfies Flag
const REASON = {
  type: 'string',
  value: 'TEXT',
  summary: 'the reason, kept in the ledger',
} as const satisfies Flag
const NEEDS_REASON = {
  ...REASON,
  needed: { code: 'no_reason', what: 'a reason, which the ledger keeps' },
} as const satisfies Flag
const ROUND = {
  type: 'integer',
  value: 'R',
  min: 1,
  max: 1_000_000_000,
  summary: 'the round it belongs to',
} as const satisfies Flag
const CLASS = {
  type: 'string',
  value: 'CLASS',
  choices: FAILURE_CLASSES,
  summary: 'what failed',
} as const satisfies Flag
const NAME = {
  type: 'string',
  value: 'NAME',
  summary: 'the name of the gate',
  needed: { code: 'missing_argument', what: '--name' },
} as const satisfies Flag
const LIMIT = {
  type: 'integer',
  value: 'N',
  min: 1,
  max: 100_000,
  summary: 'list at most N',
} as const satisfies Flag
const AFTER = {
  type: 'string',
  value: 'ID',
  summary: 'list those behind this one: `next` of the answer before',
} as const satisfies Flag
const TOKEN = {
  type: 'string',
  value: 'T',
  summary: "the token of that round's last answer",
  needed: {
    code: 'no_token',
    what: 'the token of the round',
    hint: next`pass the token of the last answer: --token T; ${call('round open')} answers with it again`,
  },
} as const satisfies Flag
const TAKE_OVER = {
  type: 'boolean',
  summary: 'take the run from the session that drives it; only if the user said so',
} as const satisfies Flag

const START = [
  {
    name: 'init',
    group: 'start',
    summary: 'start a run from a spec and judge the baseline',
    positionals: [{ name: 'SPEC', required: false }],
    flags: {
      template: { type: 'boolean', summary: 'print a spec to begin with, and do nothing else' },
      benchmark: {
        type: 'string',
        value: 'LANGUAGE',
        choices: ['node', 'python'],
        summary: 'print a benchmark that times the candidate from outside, and do nothing else',
      },
      from: {
        type: 'string',
        value: 'FILE',
        summary:
          'read the specification of a different program: write assay.yaml, say what each key became, and continue',
      },
      run: {
        type: 'string',
        value: 'COMMAND',
        summary: 'with --from and a suite: what runs once for each task',
      },
      target: {
        type: 'string',
        value: 'ID:TASK',
        summary: 'a new run of one task of a suite, with the texts of that experiment (its run: --run)',
      },
      print: { type: 'boolean', summary: 'with --from: only print the spec and what each key became' },
      prepare: { type: 'boolean', summary: 'open exp_0000 first, to build the benchmark in its worktree' },
      'include-dirty': {
        type: 'boolean',
        summary: 'use the working tree as it is, with uncommitted changes',
      },
      'no-canary': {
        type: 'boolean',
        summary: 'do not test whether the benchmark reads the mutable files',
      },
      holdout: {
        type: 'string',
        value: 'FILE',
        summary: 'data outside of the repository that only new bests are measured on ($ASSAY_HOLDOUT)',
      },
      new: { type: 'boolean', summary: 'start a new run although there is one already' },
    },
    example: 'assay init assay.yaml',
  },
  {
    name: 'doctor',
    group: 'start',
    summary: 'look for what is broken or in the way, with cause and repair',
    positionals: [],
    flags: {
      fix: { type: 'boolean', summary: 'apply the repairs that need no guess, and report each one' },
      parallel: {
        type: 'boolean',
        summary: 'find what makes it unsafe to measure several samples at once; propose measure.slots',
      },
      hosts: {
        type: 'boolean',
        summary: 'also make one trivial call to each agent program that is installed; it may cost something',
      },
    },
    example: 'assay doctor --fix',
  },
  {
    name: 'demo',
    group: 'start',
    summary: 'the whole job on an example, in a fresh folder: no model, no key, a minute or two',
    positionals: [{ name: 'FOLDER', required: false }],
    flags: {
      seed: {
        type: 'integer',
        value: 'N',
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
        summary: 'the seed of the search; the same seed gives the same tree',
      },
    },
    example: 'assay demo --seed 7',
  },
  {
    name: 'guide',
    group: 'start',
    summary: 'print a reference page, or one key of the spec; without TOPIC: the list of pages',
    positionals: [
      { name: 'TOPIC', required: false },
      { name: 'KEY', required: false },
    ],
    flags: {},
    example: 'assay guide spec metric.direction',
  },
  {
    name: 'install',
    group: 'start',
    summary: 'install the skills into an agent program; without HOST: list the programs',
    positionals: [{ name: 'HOST', required: false }],
    flags: { ...WHERE, 'dry-run': ONLY_SAY },
    example: 'assay install claude-code',
  },
  {
    name: 'uninstall',
    group: 'start',
    summary: 'remove what install made, and nothing else',
    positionals: [{ name: 'HOST', required: true }],
    flags: { ...WHERE, 'dry-run': ONLY_SAY },
    example: 'assay uninstall claude-code',
  },
] as const satisfies readonly Verb[]

const TRY = [
  {
    name: 'new',
    group: 'try',
    summary: 'open an experiment with its own worktree',
    positionals: [],
    flags: {
      parent: { type: 'string', short: 'p', value: 'ID', summary: 'a kept experiment; default: the best' },
      message: {
        ...MESSAGE,
        needed: { code: 'no_hypothesis', what: 'a hypothesis: say what you expect of the change' },
      },
      'from-artifact': {
        type: 'string',
        value: 'ID[:LABEL]',
        summary: 'start from an artifact of a different experiment, whatever its verdict',
      },
      round: ROUND,
      lane: { type: 'integer', value: 'N', min: 1, max: 10_000, summary: 'the lane of that round' },
      depth: {
        type: 'integer',
        value: 'N',
        min: 1,
        max: 10_000,
        summary: 'its place in that lane, from 1 on',
      },
    },
    example: 'assay new --parent exp_0000 -m "Cache the parsed header"',
  },
  {
    name: 'seal',
    group: 'try',
    summary: 'record the candidate as a commit, without judging it',
    positionals: [ID],
    flags: {
      message: MESSAGE,
      'if-changed': {
        type: 'boolean',
        summary: 'only if the files differ from the last judged attempt; if there is none, from the parent',
      },
    },
    example: 'assay seal exp_0007',
  },
  {
    name: 'check',
    group: 'try',
    summary: 'check a candidate for what would reject it, free of charge',
    positionals: [ID],
    flags: {},
    example: 'assay check exp_0007',
  },
  {
    name: 'run',
    group: 'try',
    summary: 'seal, measure and judge an experiment',
    positionals: [ID],
    flags: {
      detach: { type: 'boolean', summary: 'answer at once; then: assay wait --for ID' },
      sealed: { type: 'boolean', summary: 'judge the last seal, even if the worktree has changed since' },
      check: {
        type: 'boolean',
        summary: 'only try whether it can be measured: one sample, no attempt, no charge',
      },
      'take-over': {
        type: 'boolean',
        summary:
          'free the slots that other machines and containers hold; only if the user said that they are gone',
      },
    },
    example: 'assay run exp_0007',
  },
  {
    name: 'audit',
    group: 'try',
    summary: 'record findings about a judged experiment; checked evidence revokes it',
    positionals: [ID],
    flags: {},
    stdin: '{"findings":[{"code":"hash|task_set|path|opinion","message":"…","path":"…"}]}',
    example: `echo '{"findings":[]}' | assay audit exp_0007`,
  },
  {
    name: 'discard',
    group: 'try',
    summary: 'give up an experiment; its record and candidates stay',
    positionals: [ID],
    flags: {
      reason: REASON,
      'failure-class': CLASS,
    },
    example: 'assay discard exp_0007 --failure-class hypothesis --reason "No hot path left there"',
  },
] as const satisfies readonly Verb[]

const DECIDE = [
  {
    name: 'confirm',
    group: 'decide',
    summary: 'measure a kept experiment again: clears a doubt about it, or revokes it',
    positionals: [ID],
    flags: {
      against: {
        type: 'string',
        value: 'ID',
        summary: 'the experiment to compare with; default: the parent',
      },
    },
    example: 'assay confirm exp_0007',
  },
  {
    name: 'attribute',
    group: 'decide',
    summary: 'find out which parts of a kept experiment pay; judge the smaller diff',
    positionals: [{ name: 'ID', required: false }],
    flags: {
      pairs: {
        type: 'integer',
        value: 'N',
        min: 1,
        max: 100_000,
        summary: 'pairs that the tests may take in all; default: ten for each part, and 40',
      },
      careful: { type: 'boolean', summary: 'keep a part when the noise hides whether it pays' },
      interactions: { type: 'boolean', summary: 'also test what each two parts that pay are worth together' },
      'dry-run': { type: 'boolean', summary: 'only list the parts, and what the tests would cost' },
    },
    example: 'assay attribute exp_0007',
  },
  {
    name: 'merge',
    group: 'decide',
    summary: 'merge kept experiments, and judge the result; default: all that are in no other one',
    positionals: [{ name: 'ID', required: false, many: true }],
    flags: {},
    example: 'assay merge',
  },
  {
    name: 'abort',
    group: 'decide',
    summary: 'stop the judging of an experiment, and say why',
    positionals: [ID],
    flags: {
      reason: NEEDS_REASON,
      'failure-class': { ...CLASS, summary: 'what failed; default environment, which costs no attempt' },
      fix: {
        type: 'string',
        value: 'TEXT',
        summary: 'what has to be repaired; the next rounds are given this text',
      },
      'if-running': { type: 'boolean', summary: 'succeed also if it is not running' },
    },
    example:
      'assay abort exp_0007 --if-running --reason "It hangs in the download" --fix "Cache the fixture"',
  },
  {
    name: 'prune',
    group: 'decide',
    summary: 'allow no more children of a kept experiment; its score still counts',
    positionals: [ID],
    flags: { reason: NEEDS_REASON },
    example: 'assay prune exp_0007 --reason "Five children, none better"',
  },
  {
    name: 'pin',
    group: 'decide',
    summary: 'offer a kept experiment as the first parent in each round, until it is unpinned or pruned',
    positionals: [ID],
    flags: { reason: NEEDS_REASON },
    example: 'assay pin exp_0007 --reason "Its index allows what nobody tried yet"',
  },
  {
    name: 'unpin',
    group: 'decide',
    summary: 'leave it to the policy again whether an experiment becomes a parent',
    positionals: [ID],
    flags: { reason: REASON },
    example: 'assay unpin exp_0007 --reason "Two rounds brought nothing"',
  },
  {
    name: 'revoke',
    group: 'decide',
    summary: 'take back a keep that was gained by a trick; no measurement brings it back',
    positionals: [ID],
    flags: { reason: NEEDS_REASON },
    example: 'assay revoke exp_0007 --reason "It caches the answer between samples"',
  },
  {
    name: 'restore',
    group: 'decide',
    summary: 'undo a discard, a prune or a revocation; clear a doubt',
    positionals: [ID],
    flags: { reason: REASON },
    example: 'assay restore exp_0007 --reason "The finding was wrong"',
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
        summary: 'add a gate; it must pass on a kept experiment itself, else on its parent',
        positionals: [ID],
        flags: {
          name: NAME,
          command: {
            type: 'string',
            value: 'LINE',
            summary: 'a line for /bin/sh; exit 0 passes',
            needed: { code: 'missing_argument', what: '--command' },
          },
          phase: {
            type: 'string',
            value: 'PHASE',
            choices: ['before', 'after'],
            summary: 'before or after the measurement; default before',
          },
          timeout: { type: 'duration', value: 'TIME', max: '24h', summary: 'its time limit; default 5m' },
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
        summary: 'remove an added gate from an experiment and everything below it',
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
  },
  {
    name: 'annotate',
    group: 'decide',
    summary: 'add a remark to an experiment, or to one of its tasks; without TEXT: list the remarks',
    positionals: [
      { name: 'ID', required: false },
      { name: 'TEXT', required: false },
    ],
    flags: {
      task: { type: 'string', value: 'TASK', summary: 'the task that it is about' },
      tag: { type: 'string', value: 'TAG', summary: 'a word to find it by; in a list: only remarks with it' },
    },
    example: 'assay annotate exp_0007 "Half of the time is spent in the lexer" --tag profile',
  },
] as const satisfies readonly Verb[]

const LOOK = [
  {
    name: 'status',
    group: 'look',
    summary: 'where the run stands: baseline, best, counts, budget',
    positionals: [],
    flags: {},
    example: 'assay status --json',
  },
  {
    name: 'tree',
    group: 'look',
    summary: 'the experiments as a tree',
    positionals: [],
    flags: { limit: LIMIT },
    example: 'assay tree --limit 200',
  },
  {
    name: 'frontier',
    group: 'look',
    summary: 'the parents that the next round would offer',
    positionals: [],
    flags: {
      k: { type: 'integer', short: 'k', value: 'N', min: 1, max: 1000, summary: 'how many parents' },
      policy: { type: 'string', value: 'NAME', summary: 'the policy; default: the configured one' },
      explain: { type: 'boolean', summary: 'say why each was picked' },
    },
    example: 'assay frontier -k 3 --explain',
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
  },
  {
    name: 'diff',
    group: 'look',
    summary: "an experiment's candidate against its parent, or against another experiment",
    positionals: [ID, { name: 'AGAINST', required: false }],
    flags: { stat: { type: 'boolean', summary: 'only the numbers of lines' } },
    example: 'assay diff exp_0007',
  },
  {
    name: 'path',
    group: 'look',
    summary: 'the experiments from the baseline to this one, and its worktree',
    positionals: [ID],
    flags: { limit: LIMIT, after: AFTER },
    example: 'assay path exp_0007',
  },
  {
    name: 'traces',
    group: 'look',
    summary: 'the traces that the benchmark wrote for the tasks of an experiment, or for one task',
    positionals: [ID, { name: 'TASK', required: false }],
    flags: { limit: { ...LIMIT, max: 500 } },
    example: 'assay traces exp_0007 case-12',
  },
  {
    name: 'log',
    group: 'look',
    summary:
      'what the commands of an experiment printed; without PART: the one that failed, or the last sample',
    positionals: [ID, { name: 'PART', required: false }, { name: 'NAME', required: false }],
    flags: {
      stderr: { type: 'boolean', summary: 'standard error of a sample, in place of standard output' },
      follow: { type: 'boolean', summary: 'print what the running attempt prints, until its verdict' },
    },
    example: 'assay log exp_0007 gate unit-tests',
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
  },
  {
    name: 'context',
    group: 'look',
    summary: 'what an agent reads first: goal, state, what not to try; always short',
    positionals: [{ name: 'ID', required: false }],
    flags: {},
    example: 'assay context exp_0007',
  },
  {
    name: 'report',
    group: 'look',
    summary: 'the run as a chart, with the numbers under it',
    positionals: [],
    flags: {
      all: { type: 'boolean', summary: 'every run of this repository, one chart each' },
      watch: { type: 'boolean', summary: 'repaint as results come in, until the driver stops or Ctrl-C' },
      csv: { type: 'boolean', summary: 'one line of comma-separated values for each experiment' },
      html: {
        type: 'string',
        value: 'FILE',
        summary: 'write the page of the run as one file, for any browser',
      },
      full: { type: 'boolean', summary: 'with --html: details and diffs of every experiment' },
      width: { type: 'integer', value: 'N', min: 40, max: 1000, summary: 'columns; default: the terminal' },
      height: { type: 'integer', value: 'N', min: 10, max: 500, summary: 'rows of the chart; default 20' },
      limit: { ...LIMIT, summary: 'with --json: at most N of each list; default 1000' },
      after: { ...AFTER, summary: 'with --json: experiments behind this one: `next` of the answer before' },
    },
    example: 'assay report',
  },
  {
    name: 'artifact',
    group: 'look',
    summary: 'the texts of a suite and its passes; with NAME: the history of one text, with diffs',
    positionals: [{ name: 'NAME', required: false }],
    flags: {
      restore: {
        type: 'string',
        value: 'VERSION|ID',
        summary:
          'measure that version of NAME, or its text in that experiment, once more; it is active if it is kept',
      },
    },
    example: 'assay artifact preamble --restore 1',
  },
  {
    name: 'loss',
    group: 'look',
    summary: 'the loss of a run of a task, with its parts, from what the run left',
    positionals: [{ name: 'FILE', required: true, many: true }],
    flags: {
      weights: {
        type: 'string',
        value: 'PART=WEIGHT,…',
        summary: 'in the place of the default weights: eval=0.5,critique=0',
      },
      crashed: { type: 'boolean', summary: 'the process of the run failed' },
    },
    example: 'assay loss result.json runs/2',
  },
  {
    name: 'serve',
    group: 'look',
    summary: 'a page in the browser: every run of this repository, live',
    positionals: [],
    flags: {
      port: {
        type: 'integer',
        value: 'N',
        min: 1,
        max: 65_535,
        summary: 'default: the port of the last time, else a free one',
      },
      open: { type: 'boolean', summary: 'open it in the browser' },
      'read-only': { type: 'boolean', summary: 'serve a page without actions' },
      stop: { type: 'boolean', summary: 'end the server of this repository' },
    },
    example: 'assay serve --open',
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
      squash: { type: 'boolean', summary: 'one commit; default: one for each kept step' },
      reduced: { type: 'boolean', summary: 'the smaller diff with the same gain, which `attribute` found' },
    },
    example: 'assay finish --branch faster-parser',
  },
] as const satisfies readonly Verb[]

const LOOP = [
  {
    name: 'round',
    group: 'loop',
    summary: 'one turn of the loop: open, findings, briefs, close',
    positionals: [],
    flags: {},
    example: 'assay round open --json',
    subs: [
      {
        name: 'open',
        summary: 'open a round: parents, and what is known',
        positionals: [],
        flags: { 'take-over': TAKE_OVER },
        example: 'assay round open --json',
      },
      {
        name: 'next',
        summary:
          'do what needs no agent, and list the tasks that agents must do now; opens a round if none is open',
        positionals: [],
        flags: {
          lane: { type: 'integer', value: 'N', min: 1, max: 10_000, summary: 'only the tasks of this lane' },
          wait: {
            type: 'duration',
            value: 'TIME',
            max: '24h',
            summary: 'how long to wait for a task; default: not at all',
          },
          until: {
            type: 'integer',
            value: 'R',
            min: 1,
            max: 1_000_000_000,
            summary: 'open no round after this one',
          },
          'take-over': TAKE_OVER,
        },
        example: 'assay round next --wait 90s --json',
      },
      {
        name: 'findings',
        summary: 'say which findings are proved by what the experiments printed',
        positionals: [],
        flags: {},
        stdin:
          '{"findings":[{"kind":"wall","message":"…","evidence":[{"experiment":"exp_0003","quote":"…"}]}]}',
        example: 'assay round findings --json < findings.json',
      },
      {
        name: 'briefs',
        summary: 'hand in the briefs, get the lanes',
        positionals: [],
        flags: { round: ROUND, token: TOKEN },
        stdin: '{"briefs":[{"parent":"exp_0000","kind":"…","objective":"…"}]}',
        example: 'assay round briefs --round 1 --token T --json < briefs.json',
      },
      {
        name: 'close',
        summary: 'close a round; says whether it improved and whether the loop is over',
        positionals: [],
        flags: { round: ROUND, token: TOKEN },
        stdin: '{"lanes":[{"lane":1,"learnings":[],"suggestions":[]}]}',
        example: 'assay round close --round 1 --token T --json < lanes.json',
      },
    ],
  },
  {
    name: 'task',
    group: 'loop',
    summary: 'the whole prompt of an open task: what its agent reads first',
    positionals: [TASK],
    flags: {},
    example: 'assay task r1/l1/d1/implement',
  },
  {
    name: 'answer',
    group: 'loop',
    summary: 'hand in the answer to a task; does what follows, and says what comes next',
    positionals: [TASK],
    flags: {
      none: { type: 'boolean', summary: 'the agent ended without an answer; its edits count' },
    },
    stdin: '{"summary":"…"} as the task says',
    example: `echo '{"summary":"Interned the keys"}' | assay answer r1/l1/d1/implement`,
  },
  {
    name: 'propose',
    group: 'loop',
    summary: 'add ideas to the backlog, for later rounds',
    positionals: [],
    flags: { round: ROUND },
    stdin: '{"ideas":[{"hypothesis":"…"}]}',
    example: `echo '{"ideas":[{"hypothesis":"Intern the keys"}]}' | assay propose`,
  },
  {
    name: 'backlog',
    group: 'loop',
    summary: 'the ideas that are left, and those that wait for your approval',
    positionals: [],
    flags: { all: { type: 'boolean', summary: 'also those that are done or dropped' } },
    example: 'assay backlog --all',
    alone: true,
    subs: [
      {
        name: 'approve',
        summary: 'let ideas be tried, with the packages that they need',
        positionals: [{ name: 'ID', required: true, many: true }],
        flags: {},
        example: 'assay backlog approve idea_0003 idea_0007',
      },
      {
        name: 'drop',
        summary: 'take ideas that nobody has begun out of the backlog',
        positionals: [{ name: 'ID', required: true, many: true }],
        flags: { reason: NEEDS_REASON },
        example: 'assay backlog drop idea_0003 --reason "It would change the format"',
      },
    ],
  },
  {
    name: 'steer',
    group: 'loop',
    summary: 'instruct the next round, or the next agent of an experiment; without TEXT: the list',
    positionals: [
      { name: 'ID|TEXT', required: false },
      { name: 'TEXT', required: false },
    ],
    flags: {},
    example: 'assay steer exp_0007 "Leave the parser alone"',
  },
  {
    name: 'meta',
    group: 'loop',
    summary: 'the meta controller, which steers the rounds: the facts for it, and its edits',
    positionals: [],
    flags: {},
    example: 'assay meta due',
    subs: [
      {
        name: 'due',
        summary: 'whether it is time to ask it, and the facts that it has not answered yet',
        positionals: [],
        flags: {
          claim: {
            type: 'string',
            value: 'NAME',
            summary: 'record that NAME asks now, so that no other driver does',
          },
        },
        example: 'assay meta due --json',
      },
      {
        name: 'apply',
        summary: 'hand in edits: knobs, phases, prompts, steps, undo; they hold from the next round on',
        positionals: [],
        flags: {},
        stdin: '{"edits":[{"kind":"knob","knob":"width","value":2,"rationale":"…","evidence":"exp_0007"}]}',
        example: `echo '{"edits":[{"kind":"undo","edit":"edit_0001","rationale":"…","evidence":"exp_0009"}]}' | assay meta apply`,
      },
    ],
  },
  {
    name: 'wait',
    group: 'loop',
    summary: 'wait until an experiment, a round or the loop has ended',
    positionals: [],
    flags: {
      for: {
        type: 'string',
        value: 'ID|round|loop',
        summary: 'what to wait for',
        needed: { code: 'wait_for', what: 'to know what to wait for: an experiment, round or loop' },
      },
      timeout: { type: 'duration', value: 'TIME', max: '24h', summary: 'at most; default 90s' },
    },
    example: 'assay wait --for exp_0007 --timeout 90s',
  },
  {
    name: 'loop',
    group: 'loop',
    summary: 'run rounds until a stop rule applies; or pause, resume or stop the running loop',
    positionals: [{ name: 'pause|resume|stop', required: false }],
    flags: {
      rounds: { type: 'integer', value: 'N', min: 1, max: 1_000_000, summary: 'run at most N rounds' },
      serve: {
        type: 'boolean',
        summary: 'serve its page, too; it stays when the loop is over (assay serve --stop)',
      },
      uncapped: { type: 'boolean', summary: 'allow agents that have no cost limit' },
      'take-over': TAKE_OVER,
      reason: { type: 'string', value: 'TEXT', summary: 'why it is paused, resumed or stopped' },
      'dry-run': { type: 'boolean', summary: 'say what it would do and cost, and do nothing' },
    },
    example: 'assay loop --rounds 3',
  },
  {
    name: 'workflow',
    group: 'loop',
    summary: 'workflow scripts: run, check, list, eject, resume',
    positionals: [],
    flags: {},
    example: 'assay workflow run review.js --command ./my-agent',
    subs: [
      {
        name: 'run',
        summary: 'run a script to its end, in any folder; a host answers its agent calls',
        positionals: [{ name: 'FILE', required: true }],
        flags: {
          args: { type: 'string', value: 'JSON', summary: 'what the script sees as args' },
          host: {
            type: 'string',
            value: 'NAME',
            summary: 'the host that answers; default: command with --command, else the host of the run here',
          },
          command: {
            type: 'string',
            value: 'CMD',
            summary: 'for the host command: gets each prompt on stdin, its output is the answer',
          },
          concurrency: { type: 'integer', value: 'N', min: 1, max: 64, summary: 'agents at once' },
        },
        example: 'assay workflow run review.js --args [1,2] --host command --command ./my-agent',
      },
      {
        name: 'check',
        summary: 'what would prevent a script from running, here or in a host',
        positionals: [{ name: 'FILE', required: true }],
        flags: {},
        example: 'assay workflow check review.js',
      },
      {
        name: 'list',
        summary: 'list the workflows that can be run by name here',
        positionals: [],
        flags: {},
        example: 'assay workflow list',
      },
      {
        name: 'eject',
        summary: 'copy a workflow, to adapt it',
        positionals: [{ name: 'NAME', required: true }],
        flags: {
          to: { type: 'string', value: 'FILE', summary: 'default: .claude/workflows, where hosts look' },
        },
        example: 'assay workflow eject optimize --to workflows/ours.js',
      },
      {
        name: 'resume',
        summary: 'resume a workflow that was stopped; it asks for no answer twice',
        positionals: [{ name: 'RUN', required: true }],
        flags: {},
        example: 'assay workflow resume wf_0f3a5c7e9b1d',
      },
    ],
  },
] as const satisfies readonly Verb[]

const TEND = [
  {
    name: 'note',
    group: 'tend',
    summary: 'record something that the next rounds should know; without TEXT: list the notes',
    positionals: [{ name: 'TEXT', required: false }],
    flags: {
      kind: {
        type: 'string',
        value: 'KIND',
        choices: ['learning', 'infrastructure', 'objection'],
        summary:
          'what it is about; an objection (the benchmark is wrong) is for people, and agents do not get it',
      },
      experiment: { type: 'string', value: 'ID', summary: 'the experiment that shows it' },
      limit: {
        type: 'integer',
        value: 'N',
        min: 1,
        max: 10_000,
        summary: 'list at most N; default 50',
      },
    },
    example: 'assay note --kind learning "The allocator is not the bottleneck"',
  },
  {
    name: 'config',
    group: 'tend',
    summary: 'the keys of the spec that may change while a run lives',
    positionals: [],
    flags: {},
    example: 'assay config get',
    subs: [
      {
        name: 'get',
        summary: 'one key of the spec, or all that may change, and where each value comes from',
        positionals: [{ name: 'KEY', required: false }],
        flags: {},
        example: 'assay config get budget.experiments',
      },
      {
        name: 'set',
        summary: 'change a key; the value none removes a cap, or what else may be absent',
        positionals: [
          { name: 'KEY', required: true },
          { name: 'VALUE', required: true },
        ],
        flags: { reason: NEEDS_REASON },
        example: 'assay config set budget.experiments 200 --reason "It still improves"',
      },
      {
        name: 'sync',
        summary: 'take what was edited in the spec file, or refuse all of it',
        positionals: [],
        flags: { reason: REASON },
        example: 'assay config sync --reason "A stronger model for hard briefs"',
      },
      {
        name: 'autonomous',
        summary: 'whether this session of an agent program continues by itself until the loop is over',
        positionals: [{ name: 'on|off', required: false }],
        flags: {},
        example: 'assay config autonomous on',
      },
    ],
  },
  {
    name: 'epoch',
    group: 'tend',
    summary: 'begin an epoch: earlier scores are no longer compared, and the baseline is measured again',
    positionals: [],
    flags: {},
    example: 'assay epoch open --reason "A different machine from here on"',
    subs: [
      {
        name: 'open',
        summary: 'begin an epoch',
        positionals: [],
        flags: { reason: NEEDS_REASON },
        example: 'assay epoch open --reason "A different machine from here on"',
      },
    ],
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
  },
  {
    name: 'gc',
    group: 'tend',
    summary: 'delete what is no longer needed: worktrees of settled experiments, trash, old logs',
    positionals: [],
    flags: { 'dry-run': { type: 'boolean', summary: 'only say what would be deleted' } },
    example: 'assay gc --dry-run',
  },
  {
    name: 'worker',
    group: 'hidden',
    summary: 'what a job of an executor does on its node: measures the attempt of a folder',
    positionals: [{ name: 'FOLDER', required: true }],
    flags: {},
    example: 'assay worker /shared/assay/assay-0123456789abcdef',
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
  },
] as const satisfies readonly Verb[]

/** Known by name, part of a later release. */
export const LATER: readonly string[] = ['dashboard']

const ALL = [...START, ...TRY, ...DECIDE, ...LOOK, ...LOOP, ...TEND] as const

export const VERBS: readonly Verb[] = ALL

/** The entries with their literal types: which flags a verb takes, and of which values, is known to the compiler. */
export type VerbEntry = (typeof ALL)[number]

/** Verbs that change nothing. */
const READING: readonly string[] = [
  ...['status', 'tree', 'frontier', 'show', 'diff', 'traces', 'log', 'discards', 'context', 'report', 'loss'],
  ...[
    'guide',
    'env',
    'env show',
    'wait',
    'config get',
    'gate list',
    'meta due',
    'task',
    'workflow check',
    'workflow list',
  ],
]

/** `round open`. */
export const fullName = ({ verb, sub }: Pick<Parsed, 'verb' | 'sub'>): string =>
  sub === null ? verb : `${verb} ${sub}`

/** Whether a call changes nothing. */
export const onlyReads = (args: Parsed): boolean =>
  READING.includes(fullName(args)) ||
  (args.verb === 'artifact' && args.text('restore') === null) ||
  (args.verb === 'doctor' && !args.on('fix') && !args.on('hosts'))
