/**
 * Where our answer is another one, on purpose: what a host says, what we say, and why. `README.md` beside this
 * file has the same list. `at` is the path in what is compared; a row that no longer differs fails the test.
 */

import { runInNewContext } from 'node:vm'

export interface Difference {
  probe: string
  at: string
  theirs: unknown
  ours: unknown
  reason: string
}

const ENGINE = "an error of the JavaScript engine itself, in this engine's words"
const OWN_LIST = 'the workflows that a host brings along are its own'
const CONVERSATION = 'there is no conversation around the run: what its own agents used is counted'
const NESTED_STACK = "the message is thrown on without the stack, whose frames are a host's own"
const STACK = `\n    at <anonymous> (workflow.js:2:7)
    at workflow.js:3:1275
    at runInContext (native)
    at <anonymous> ((host))
    at processTicksAndRejections (native)`
const OWN_NAMES =
  'log phase console budget setTimeout clearTimeout then agent parallel pipeline workflow args'.split(' ')
const ENGINE_NAMES =
  'parseFloat parseInt undefined globalThis decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval isFinite isNaN'.split(
    ' ',
  )
/** Newer engines list what they bring along before what was added to a context. */
const [first] = runInNewContext(
  'Object.defineProperty(globalThis, "added", { value: 1, enumerable: true }); Object.getOwnPropertyNames(globalThis).filter((name) => name === "added" || name === "parseInt")',
) as string[]
const KEYS = first === 'added' ? [...OWN_NAMES, ...ENGINE_NAMES] : [...ENGINE_NAMES, ...OWN_NAMES]
const NOT_OBJECT =
  'THROW TypeError: agent({schema}) received an invalid JSON Schema: schema must be an object'

export const DIFFERENCES: Difference[] = [
  {
    probe: 'meta:import',
    at: 'refused',
    theirs:
      "Workflow script has a syntax error and was not launched:\nSyntaxError: Unexpected identifier 'fs'. import call expects one or two arguments.",
    ours: 'Workflow script has a syntax error and was not launched:\nSyntaxError: Cannot use import statement outside a module',
    reason: ENGINE,
  },
  {
    probe: 'userwf-home',
    at: 'refused',
    theirs: 'Workflow "zzz" not found. Available: deep-research, code-review, user-wf',
    ours: 'Workflow "zzz" not found. Available: user-wf',
    reason: OWN_LIST,
  },
  {
    probe: 'sync-loop',
    at: 'error',
    theirs: 'Error: Script execution timed out after 30000ms',
    ours: 'Error: Script execution timed out after 50ms',
    reason: 'the test sets a shorter limit; the default is 30 s as well',
  },
  {
    probe: 'globals',
    at: 'result.keys',
    theirs:
      'log phase console budget setTimeout clearTimeout then agent parallel pipeline workflow args undefined globalThis isNaN isFinite escape unescape decodeURI decodeURIComponent encodeURI encodeURIComponent eval parseInt parseFloat'.split(
        ' ',
      ),
    ours: KEYS,
    reason: 'the same names; the engine lists its own ones in another order',
  },
  {
    probe: 'boundary',
    at: 'result.instErr',
    theirs: "THROW TypeError: undefined is not an object (evaluating 'e.constructor.name')",
    ours: "THROW TypeError: Cannot read properties of undefined (reading 'name')",
    reason: ENGINE,
  },
  {
    probe: 'boundary',
    at: 'result.freezeMath',
    theirs: 'Attempted to assign to readonly property.',
    ours: "Cannot assign to read only property 'random' of object '#<Object>'",
    reason: ENGINE,
  },
  {
    probe: 'boundary',
    at: 'result.protoPollute',
    theirs: 'Attempting to define property on object that is not extensible.',
    ours: 'Cannot add property zz, object is not extensible',
    reason: ENGINE,
  },
  ...['bool', 'str'].map((name) => ({
    probe: 'schema',
    at: `result.${name}`,
    theirs: 'THROW TypeError: WeakMap keys must be objects or non-registered symbols',
    ours: NOT_OBJECT,
    reason: 'both throw a TypeError; ours says what is wrong with the schema',
  })),
  {
    probe: 'worktree',
    at: 'result',
    theirs: [
      '$W/.claude/worktrees/wf_RUNID-1\n?? newfile\nworktree-wf_RUNID-1',
      '$W/.claude/worktrees/wf_RUNID-2',
    ],
    ours: ['isolation: worktree', 'isolation: worktree'],
    reason: 'the runtime hands the wish to whoever answers its calls',
  },
  {
    probe: 'api500',
    at: 'logs.0',
    theirs:
      '[APIERR] failed: API Error: 529 scripted error. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:34867).',
    ours: '[APIERR] failed: 529 scripted error',
    reason: "the text after `failed:` is the agent program's own",
  },
  {
    probe: 'budget',
    at: 'result',
    theirs: { b0: { t: null, s: 20, r: null }, b1: { s: 40, r: null } },
    ours: { b0: { t: null, s: 0, r: null }, b1: { s: 20, r: null } },
    reason: CONVERSATION,
  },
  { probe: 'budget-exceed', at: 'result.s', theirs: 2440, ours: 2400, reason: CONVERSATION },
  {
    probe: 'workflow-nested',
    at: 'result.unknown',
    theirs:
      "THROW Error: workflow('nope'): no workflow with that name. Available: deep-research, code-review, my-named",
    ours: "THROW Error: workflow('nope'): no workflow with that name. Available: my-named",
    reason: OWN_LIST,
  },
  {
    probe: 'workflow-nested',
    at: 'result.thrower',
    theirs: `THROW Error: Error: child boom${STACK}`,
    ours: 'THROW Error: Error: child boom',
    reason: NESTED_STACK,
  },
  {
    probe: 'workflow-nested',
    at: 'logs.7',
    theirs: `▸ thrower failed: Error: child boom${STACK}`,
    ours: '▸ thrower failed: Error: child boom',
    reason: NESTED_STACK,
  },
]
