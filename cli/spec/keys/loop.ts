/** How parents are picked, how rounds go, and when it ends. All of it but the seed may change while a run lives. */
import { BRIEF_SOURCES } from '../../ledger/events.ts'
import { policyNames } from '../../search/policies.ts'
import { boolean, choice, keys, map, may, number, or, text, whole } from '../kind.ts'
import { durationMs } from '../units.ts'

/** Not shorter than a second: each look is a call. */
const interval = text({
  noun: 'an interval',
  pattern: '^([1-9][0-9]{0,4}s|[1-9][0-9]{0,3}m|[1-9][0-9]?h)$',
  hint: 'write a whole number with its unit: 90s, 5m or 1h',
  parse: durationMs,
})

export const search = keys({
  policy: or(
    choice(policyNames),
    'auto',
    'How parents are picked from the frontier: `auto` means `open_only`.',
  ),
  k: or(
    whole({ min: 1, max: 1000 }),
    1,
    'Parents that a policy picks at once; the lanes of a round are spread over them.',
  ),
  seed: or(whole({ min: 0, max: 4_294_967_295 }), 1, 'The seed of every random choice of the search.'),
  max_attempts: or(whole({ min: 1, max: 100 }), 3, 'How often one experiment may be judged.'),
})

/** For what the loop asks agents. */
export const ROLES = [
  'step',
  'scan',
  'ideate',
  'brief',
  'implement',
  'revise',
  'verify',
  'audit',
  'collect',
  'meta',
  'gradient',
] as const

const words = keys({
  before: may(text(), 'Text before the prompt of this role.'),
  after: may(text(), 'Text after the prompt of this role.'),
})

/** What a user may also say for all projects. */
export const PREFERRED = {
  driver: may(
    choice(['workflow', 'loop', 'prose']),
    "Who drives the rounds when the skill `optimize` is started: the host's workflow tool, `assay loop`, or the session itself. Absent: as `~/.config/assay/config.yaml` says, else the first of these that is there.",
  ),
  autonomous: may(
    boolean,
    'Whether a session that drives the rounds itself continues until the loop is over. Absent: as `~/.config/assay/config.yaml` says, else false.',
  ),
}

export const loop = keys({
  workflow: or(
    text(),
    'optimize',
    '`optimize`: the CLI itself drives the rounds. Else the name or the path of a workflow script of your own.',
  ),
  width: or(whole({ min: 1, max: 64 }), 4, 'How many lanes a round has.'),
  depth: or(whole({ min: 1, max: 20 }), 3, 'Experiments in a row that a lane may make.'),
  stall: or(whole({ min: 1, max: 1000 }), 5, 'Rounds without a new best after which the loop ends.'),
  briefs: or(
    choice(BRIEF_SOURCES),
    'both',
    'Where the briefs of a round come from: from an agent that writes them (`author`), from the backlog of ideas without asking an agent (`backlog`), or from an agent that sees the backlog (`both`).',
  ),
  ideate: or(
    keys({
      stall: or(
        whole({ min: 1, max: 1000 }),
        3,
        'Rounds without a new best after which new directions are sought.',
      ),
      keeps: or(
        whole({ min: 1, max: 10_000 }),
        5,
        'Kept experiments after which new directions are sought as well.',
      ),
    }),
    {},
    'When fresh hypotheses are asked for.',
  ),
  scan: or(
    keys({
      batch: or(whole({ min: 1, max: 1000 }), 6, 'Experiments that one scanner reads.'),
      max: or(whole({ min: 1, max: 10_000 }), 24, 'The most experiments that a round reads.'),
    }),
    {},
    'How much of the past each round reads.',
  ),
  revise: or(
    whole({ min: 0, max: 100 }),
    3,
    'Repairs of one candidate that its lane may try before it is judged.',
  ),
  merge: or(
    choice(['on', 'off']),
    'on',
    'Whether the CLI finds out, when the lanes of a round have ended, if the gains of kept experiments add up. It asks no agent; each attempt counts in the budget.',
  ),
  quiet: or(boolean, false, 'If true, the loop starts no agent while a sample is taken.'),
  meta: or(
    keys({
      on: or(boolean, true, 'Whether it is asked at all.'),
      every: or(interval, '5m', 'How often the CLI checks whether there are new facts.'),
    }),
    {},
    'A controller that steers the rounds: knobs, phases, prompts, steps of its own. Its agent is asked only when there are facts that it has not seen.',
  ),
  prompts: or(
    map(words, `^(${ROLES.join('|')})$`, `one of: ${ROLES.join(', ')}`),
    {},
    `Your own text around the prompts of a role: ${ROLES.map((role) => `\`${role}\``).join(', ')}.`,
  ),
  ...PREFERRED,
  baseline_arm: or(
    number({ min: 0, max: 0.9 }),
    0,
    'Share of the lanes that start from the baseline and know nothing about the search. The report compares them with the other lanes, so you see whether the search helped.',
  ),
})

export const budget = keys({
  experiments: may(whole({ min: 1 }), 'Most attempts that are judged.'),
  hours: may(number({ above: 0 }), 'Most hours that the loop is active.'),
  failures: may(whole({ min: 1 }), 'Most attempts that could not be judged.'),
  tokens: may(whole({ min: 1 }), 'Most tokens that agents use, as their hosts report them.'),
  usd: may(number({ above: 0 }), 'Most dollars that agents cost, as their hosts report them.'),
  judge_usd: may(
    number({ above: 0 }),
    'Most dollars that the judge of `judge` costs, as its host reports them; absent = 5 when there is a judge.',
  ),
  unknown: or(
    choice(['refuse', 'allow'] as const),
    'refuse',
    'A cap on tokens or dollars with a host that reports none: `refuse` the loop, or `allow` it.',
  ),
})
