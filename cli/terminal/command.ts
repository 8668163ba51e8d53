/** What every verb's module is, what it is given, and what it answers. */

import type { Next, Said } from '../next.ts'
import type { Result } from '../result.ts'
import type { Surroundings } from '../run/open.ts'

/** The world as a verb may see it. Verbs read no globals: what is not here, they do not use. */
export interface Context extends Omit<Surroundings, 'heldOut'> {
  /** Standard input as UTF-8 up to its end; the empty string when it is a terminal. */
  stdin: () => Promise<string>
  /** Whether standard output is a terminal. */
  tty: boolean
  /** Width of that terminal; 80 when there is none. */
  columns: number
  /** Whether text for people may carry colour. */
  colour: boolean
  quiet: boolean
  /** From now on the first Ctrl-C calls this and aborts nothing: the verb ends at its next boundary. The second aborts. */
  onLeave: (act: () => void) => void
  /** The commands of the answer name this run. */
  foundByName: (run: string) => void
  /** Another verb, as if it were called in that world; for a verb that shows others. */
  call: (argv: readonly string[], world: Context) => Promise<Result<VerbAnswer>>
}

export interface VerbAnswer {
  /** The `data` of `--json`: only what JSON can carry; a `Next` becomes text. */
  data: unknown
  /** Lines for people, in which commands name the run that the call named; called only without `--json`. A list is joined with newlines; a final newline is added. */
  text: () => Said | Said[]
  /** Sentences: a terminal shows them in lines of its width, broken at spaces. */
  wrap?: true
  /** Default 0; 4 when an attempt could not be judged. */
  exit?: number
}

export interface VerbModule {
  run: (context: Context, args: Parsed) => Promise<Result<VerbAnswer>>
}

/** Arguments as checked against the verb's flag table. An accessor throws when the table has no such flag: that is a bug. */
export interface Parsed {
  verb: string
  /** `open` of `assay round open`; null when the verb has none or none was given. */
  sub: string | null
  positionals: string[]
  /** The verb's own flags: false, [] or null where one was not given; a duration in milliseconds. */
  flags: Readonly<Record<string, FlagValue | null>>
  /** `--run`. */
  run: string | null
  /** `--key`. */
  key: string | null
  json: boolean
  on: (flag: string) => boolean
  text: (flag: string) => string | null
  integer: (flag: string) => number | null
  /** Milliseconds. */
  duration: (flag: string) => number | null
  /** Of a repeatable flag, in the order given. */
  list: (flag: string) => string[]
}

/** A duration is in milliseconds. */
export type FlagValue = boolean | string | number | string[]

/** Refused when it is missing or blank: `code` is the problem's, and `what` ends the sentence "assay VERB needs …". */
export interface NeededFlag {
  code: string
  what: string
  /** Default: the verb's example. */
  hint?: Next
}

export type Flag = { summary: string; short?: string; needed?: NeededFlag } & (
  | { type: 'boolean' }
  | { type: 'string'; value: string; repeat?: true; choices?: readonly string[] }
  | { type: 'integer'; value: string; min: number; max: number }
  /** `90s`, `5m`, `1500ms`, `2h`. */
  | { type: 'duration'; value: string; max: string }
)
export type Flags = Readonly<Record<string, Flag>>

export interface Positional {
  /** As shown in usage: `ID`. */
  name: string
  required: boolean
  /** Takes all that are left; only of the last one. */
  many?: true
  /** For a text that is there and blank. */
  needed?: NeededFlag
}

export interface Verb {
  name: string
  /** `hidden`: for programs, and in no list. */
  group: 'start' | 'try' | 'decide' | 'look' | 'loop' | 'tend' | 'hidden'
  summary: string
  positionals: readonly Positional[]
  flags: Flags
  example: string
  /** What it reads from standard input, if anything. */
  stdin?: string
  subs?: readonly SubVerb[]
  /** It may be called without a sub-verb. */
  alone?: true
}

export type SubVerb = Pick<Verb, 'name' | 'summary' | 'positionals' | 'flags' | 'example' | 'stdin'>

/** Understood before and after every verb. */
export const GLOBAL_FLAGS: Flags = {
  json: { type: 'boolean', summary: 'answer with one line of JSON on standard output' },
  quiet: { type: 'boolean', short: 'q', summary: 'no progress on standard error' },
  help: { type: 'boolean', short: 'h', summary: 'explain the verb, with an example' },
  run: { type: 'string', value: 'RUN', summary: 'the run to use; default: the only active one' },
  key: { type: 'string', value: 'K', summary: 'repeating a call with the same key returns the first answer' },
  'no-color': { type: 'boolean', summary: 'no colours (so does NO_COLOR)' },
}

/** Added to the flags of every verb that reads standard input. */
export const INPUT_FLAG: Flags = {
  input: {
    type: 'string',
    value: 'JSON',
    summary:
      'in place of standard input; in a shell: in single quotes, %27 is an apostrophe, %25 a percent sign',
  },
}
