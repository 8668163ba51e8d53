/** A string is a line for `/bin/sh`, a list is program and arguments without a shell. */
export type CommandLine = string | string[]

/** Puts values in place of `{name}`: quoted for the shell in a string, as they are in a list. Others stay. */
export function fillIn(command: CommandLine, values: Record<string, string>): CommandLine {
  const fill = (text: string, quote: (value: string) => string) =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) =>
      Object.hasOwn(values, name) ? quote(values[name] ?? '') : whole,
    )
  return typeof command === 'string'
    ? fill(command, shellQuote)
    : command.map((word) => fill(word, (value) => value))
}

export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
