/** The table of verbs: dispatch, help, checks and suggestions all read it. Only the called verb's module is loaded. */
import type { Flags, Verb } from './command.ts'
import { DECIDE } from './verbs/decide.ts'
import { LOOK } from './verbs/look.ts'
import { LOOP } from './verbs/loop.ts'
import { START } from './verbs/start.ts'
import { TEND } from './verbs/tend.ts'
import { TRY } from './verbs/try.ts'

/** Understood before and after every verb. */
export const GLOBAL_FLAGS: Flags = {
  json: { type: 'boolean', summary: 'answer with one line of JSON on standard output' },
  quiet: { type: 'boolean', short: 'q', summary: 'no progress on standard error' },
  help: { type: 'boolean', short: 'h', summary: 'explain the verb, with an example' },
  run: { type: 'string', value: 'RUN', summary: 'the run to use; default: the only active one' },
  key: { type: 'string', value: 'K', summary: 'repeating a call with the same key returns the first answer' },
  'no-color': { type: 'boolean', summary: 'no colours (so does NO_COLOR)' },
}

/** Besides, of every verb that reads standard input. */
export const INPUT_FLAG: Flags = {
  input: {
    type: 'string',
    value: 'JSON',
    summary:
      'in place of standard input; in a shell: in single quotes, %27 is an apostrophe, %25 a percent sign',
  },
}

/** Known by name, part of a later release. */
export const LATER: readonly string[] = ['dashboard']

export const VERBS: readonly Verb[] = [...START, ...TRY, ...DECIDE, ...LOOK, ...LOOP, ...TEND]
