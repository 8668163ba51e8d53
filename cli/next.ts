/**
 * What to do next, as data: words with commands of this CLI among them. Only the edge (`main`) knows whether a command has
 * to name its run, so a command becomes text there and nowhere else.
 */
import { plain, shellWord, UNSAFE } from './text.ts'

/** One command of this CLI. `verb` has the sub-verb, if there is one: `gate list`. */
export interface Call {
  verb: string
  args: readonly string[]
}

/** A command in a `next`…``. Words in capitals stand for what the user fills in: `call('restore', id, '--reason', 'TEXT')`. */
export const call = (verb: string, ...args: readonly string[]): Call => ({ verb, args })

/** Words and commands in the order in which they are read. As a string, and as JSON, no command names a run. */
export class Next {
  constructor(readonly parts: readonly (string | Call)[]) {}

  /** `run` is put behind the verb of each command that `takesRun`; null: behind none. */
  say(run: string | null, takesRun: (verb: string) => boolean = () => true): string {
    return this.parts
      .map((part) => (typeof part === 'string' ? part : commandLine(part, takesRun(part.verb) ? run : null)))
      .join('')
  }

  /** With `value` where `placeholder` stands, a word in capitals. */
  fill(placeholder: string, value: string): Next {
    const filled = (text: string) => text.replaceAll(placeholder, value)
    return new Next(
      this.parts.map((part) =>
        typeof part === 'string' ? filled(part) : { ...part, args: part.args.map(filled) },
      ),
    )
  }

  toString(): string {
    return this.say(null)
  }

  toJSON(): string {
    return this.toString()
  }
}

/** A hint, or a line of an answer. */
export type Said = string | Next

/** A `Next` as a template: `` next`judge it first: ${call('run', id)}` ``. */
export function next(words: TemplateStringsArray, ...values: readonly (number | Call | Said)[]): Next {
  return new Next(
    words.flatMap((text, at) => {
      const value = values[at]
      if (value === undefined) return [text]
      if (value instanceof Next) return [text, ...value.parts]
      return [text, typeof value === 'number' ? String(value) : value]
    }),
  )
}

function commandLine({ verb, args }: Call, run: string | null): string {
  const named = run === null || args.includes('--run') ? [] : ['--run', run]
  return ['assay', verb, ...named, ...args.map(asWord)].join(' ')
}

/** As a shell takes it; words of a sentence in double quotes, as people write them. */
const asWord = (word: string): string =>
  /^[\w ,]+$/.test(word) && word.includes(' ')
    ? `"${word}"`
    : shellWord(UNSAFE.test(word) ? plain(word) : word)
