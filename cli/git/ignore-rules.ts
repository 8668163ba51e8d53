/** Which untracked files are no part of a candidate although no `.gitignore` names them: one text of rules. Pure. */

/** Files that editors and desktops leave. A `.gitignore` of the project may take one back with `!`. */
const DROPPINGS = [
  '.DS_Store',
  '._*',
  'Thumbs.db',
  'desktop.ini',
  '*.swp',
  '.*.sw[a-p]',
  '*~',
  '.#*',
  '\\#*\\#',
  '.~lock.*#',
]

export interface IgnoreSources {
  /** What a person calls the file. */
  name: string
  /** Bytes (latin1). */
  text: string
}

/** In `info` of the rules: for each line of `exclude`, where the rule is written. */
export const ORIGINS = 'exclude-origins.json'

export const WELL_KNOWN = 'well-known droppings'

/** The text, and for each line of it the rule as a person finds it: `~/.gitignore:3`. The source that wins is last. */
export function composeIgnores(sources: readonly IgnoreSources[]): { text: string; origins: string[] } {
  const lines = DROPPINGS.map((rule) => ({ rule, origin: `${WELL_KNOWN} (${rule})` }))
  for (const { name, text } of sources) {
    const own = text.split('\n')
    if (own.at(-1) === '') own.pop()
    for (const [at, rule] of own.entries()) lines.push({ rule, origin: `${name}:${at + 1}` })
  }
  return {
    text: lines.map(({ rule }) => `${rule}\n`).join(''),
    origins: lines.map(({ origin }) => origin),
  }
}
