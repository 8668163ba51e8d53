/** Verbs that turn the loop. */
import type { Flag, Verb } from '../command.ts'

const ROUND: Flag = {
  type: 'integer',
  value: 'R',
  min: 1,
  max: 1_000_000_000,
  summary: 'the round it belongs to',
}
const TOKEN: Flag = {
  type: 'string',
  value: 'T',
  summary: "the token of that round's last answer",
  needed: true,
}

const TAKE_OVER: Flag = {
  type: 'boolean',
  summary: 'the user said so: the session that drives must give way',
}

export const LOOP: readonly Verb[] = [
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
        name: 'findings',
        summary: 'which findings are proved by what the experiments printed',
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
        summary: 'close a round: improved or not, and whether to stop',
        positionals: [],
        flags: { round: ROUND, token: TOKEN },
        stdin: '{"lanes":[{"lane":1,"learnings":[],"suggestions":[]}]}',
        example: 'assay round close --round 1 --token T --json < lanes.json',
      },
    ],
    load: () => import('../round.ts'),
  },
  {
    name: 'propose',
    group: 'loop',
    summary: 'hand in ideas for later rounds',
    positionals: [],
    flags: { round: ROUND },
    stdin: '{"ideas":[{"hypothesis":"…"}]}',
    example: `echo '{"ideas":[{"hypothesis":"Intern the keys"}]}' | assay propose`,
    load: () => import('../propose.ts'),
  },
  {
    name: 'steer',
    group: 'loop',
    summary: "a person's word to the next round, or to an experiment's next agent; without TEXT: the list",
    positionals: [
      { name: 'ID|TEXT', required: false },
      { name: 'TEXT', required: false },
    ],
    flags: {},
    example: 'assay steer exp_0007 "Leave the parser alone"',
    load: () => import('../steer.ts'),
  },
  {
    name: 'meta',
    group: 'loop',
    summary: 'the controller that steers the rounds: what it would look at, what it changes',
    positionals: [],
    flags: {},
    example: 'assay meta due',
    subs: [
      {
        name: 'due',
        summary: 'whether it is time, and the facts that nobody was asked about yet',
        positionals: [],
        flags: {
          claim: {
            type: 'string',
            value: 'NAME',
            summary: 'take the turn in this name, so that no other does',
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
    load: () => import('../meta.ts'),
  },
  {
    name: 'wait',
    group: 'loop',
    summary: 'wait until an experiment, a round or the loop has ended',
    positionals: [],
    flags: {
      for: { type: 'string', value: 'ID|round|loop', summary: 'what to wait for', needed: true },
      timeout: { type: 'duration', value: 'TIME', max: '24h', summary: 'at most; default 90s' },
    },
    example: 'assay wait --for exp_0007 --timeout 90s',
    load: () => import('../wait.ts'),
  },
  {
    name: 'loop',
    group: 'loop',
    summary: 'run rounds until a stop rule holds; pause, resume or stop the one that runs',
    positionals: [{ name: 'pause|resume|stop', required: false }],
    flags: {
      rounds: { type: 'integer', value: 'N', min: 1, max: 1_000_000, summary: 'at most so many rounds' },
      uncapped: { type: 'boolean', summary: 'yes to agents whose cost nothing bounds' },
      'take-over': TAKE_OVER,
      reason: { type: 'string', value: 'TEXT', summary: 'why it is paused, resumed or stopped' },
      'dry-run': { type: 'boolean', summary: 'tell what it would do and cost, and do nothing' },
    },
    example: 'assay loop --rounds 3',
    load: () => import('../loop.ts'),
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
        summary: 'run a script to its end, in any folder; its agents are a host',
        positionals: [{ name: 'FILE', required: true }],
        flags: {
          args: { type: 'string', value: 'JSON', summary: 'what the script sees as args' },
          host: {
            type: 'string',
            value: 'NAME',
            summary: 'who answers; default: the host of the run around, or the command',
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
        summary: 'what would keep a script from running, here or in a host',
        positionals: [{ name: 'FILE', required: true }],
        flags: {},
        example: 'assay workflow check review.js',
      },
      {
        name: 'list',
        summary: 'the workflows that have a name here',
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
        summary: 'go on with a workflow that was stopped; answers it had are not asked for again',
        positionals: [{ name: 'RUN', required: true }],
        flags: {},
        example: 'assay workflow resume wf_0f3a5c7e9b1d',
      },
    ],
    load: () => import('../workflow.ts'),
  },
]
