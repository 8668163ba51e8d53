/**
 * Explains a command that fails because only bash knows a word in it: a command that is a text is run by `/bin/sh`, which is
 * dash on many machines. `init` and `gate` add the hint to their problems. Pure.
 */

/** Commands of bash that sh does not have, and what sh has in their place. */
const COMMANDS: Record<string, string | null> = {
  source: '.',
  '[[': '[ … ]',
  '((': '[ … ] and $((…))',
  pushd: 'cd',
  popd: 'cd',
  function: 'name() { …; }',
  declare: 'name=value',
  typeset: 'name=value',
  let: '$((…))',
  shopt: null,
  mapfile: null,
  readarray: null,
}

/** Errors of the syntax, by the words of dash and of busybox. */
const SYNTAX: readonly [RegExp, string][] = [
  [/Illegal option -o pipefail|invalid option name: pipefail/, '`set -o pipefail`'],
  [/Syntax error: "\(" unexpected/, 'an array, or `function name()`'],
  [/Syntax error: redirection unexpected/, '`<<<` or `<( … )`'],
  [/\bBad substitution|\bbad substitution/, 'a parameter expansion, of an array for example,'],
]

/** `/bin/sh: 1: `, `bench/run.sh: 12: `, `sh: `: the program that prints the message. */
const WHO = String.raw`^(?<who>[^\s:][^:\n]*): (?:(?:line )?\d+: )?`
const NOT_FOUND = new RegExp(String.raw`${WHO}(?<word>[^\s:]+): not found$`, 'gm')
const ANY = new RegExp(`${WHO}.*$`, 'gm')

/** The hint for a command or a script of the user's that sh could not run, from what it printed; null when it is something else. */
export function bashOnly(said: string): { hint: string; word: string } | null {
  for (const { groups = {} } of said.matchAll(NOT_FOUND)) {
    const { who = '', word = '' } = groups
    if (!Object.hasOwn(COMMANDS, word)) continue
    const instead = COMMANDS[word] ?? null
    return { word, hint: hintOf(who, `\`${word}\``, instead) }
  }
  for (const match of said.matchAll(ANY)) {
    const found = SYNTAX.find(([pattern]) => pattern.test(match[0]))
    if (found) return { word: found[1], hint: hintOf(match.groups?.who ?? '', found[1], null) }
  }
  return null
}

function hintOf(who: string, word: string, instead: string | null): string {
  const replace = instead === null ? '' : `write \`${instead}\` in its place, or `
  return /(^|\/)(sh|dash|ash|busybox)$/.test(who)
    ? `/bin/sh runs a command that is given as one text, and ${word} is only known to bash: ${replace}give the command as a list: [bash, -c, "…"]`
    : `sh runs ${who}, and ${word} is only known to bash: ${replace}start the script with bash: bash ${who}`
}
