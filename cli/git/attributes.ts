/**
 * The one text of attributes that decides how git converts files in Assay's checkouts. It goes into `info/attributes`,
 * which wins over every `.gitattributes` of a checkout, so a candidate's own have no say. Pure.
 */

/** What decides how bytes of a blob become bytes of a file, and back. */
const CONVERSION = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding']

/** This filter moves large files into the user's annex, and works nowhere else. See `annexedPaths`. */
const NOT_CARRIED = ['filter=annex']

/** git itself ignores a longer line. */
const LONGEST = 2048

export interface AttributeSources {
  /** `core.attributesFile` of the user. */
  global: string
  /** Every `.gitattributes` of the base; `folder` is `''` for the root. */
  inTree: readonly { folder: string; text: string }[]
  /** `info/attributes` of the user. */
  info: string
}

/**
 * The sources as one text, the one that wins last. Of the attributes only those of conversion are in it, and the macros
 * that set them. Texts and folders are bytes (latin1), so that names in any encoding stay as they are.
 */
export function composeAttributes({ global, inTree, info }: AttributeSources): string {
  const folders = [...inTree].sort(
    (a, b) => depth(a.folder) - depth(b.folder) || (a.folder < b.folder ? -1 : 1),
  )
  const rules = [
    ...rulesIn(global, '', true),
    ...folders.flatMap(({ folder, text }) => rulesIn(text, folder, folder === '')),
    ...rulesIn(info, '', true),
  ]
  const macros = new Set(rules.flatMap(({ macro }) => macro ?? []))
  const counts = new Set([...CONVERSION, 'binary', ...macros])
  return [
    // A candidate could name a macro like an attribute that is set below; a name is a macro by its first definition only.
    ...CONVERSION.filter((name) => !macros.has(name)).map((name) => `[attr]${name}`),
    ...(macros.has('binary') ? [] : ['[attr]binary -text']),
    `* ${CONVERSION.map((name) => `!${name}`).join(' ')}`,
    ...rules.flatMap((rule) => {
      const states = rule.states.filter((state) => counts.has(nameIn(state)) && !NOT_CARRIED.includes(state))
      if (rule.macro !== null) return [`[attr]${[rule.macro, ...states].join(' ')}`]
      return states.length === 0 ? [] : [[quoted(rule.pattern), ...states].join(' ')]
    }),
    '',
  ].join('\n')
}

/** Whether a composed text lets a filter run on any file. */
export const namesFilter = (composed: string): boolean => /^(?!\* !).*[ \t]filter=/m.test(composed)

interface Rule {
  /** The name that this line defines; null = the line is about files. */
  macro: string | null
  pattern: string
  states: string[]
}

function rulesIn(text: string, folder: string, mayDefine: boolean): Rule[] {
  return text.split('\n').flatMap((line) => {
    const rule = line.length > LONGEST ? null : ruleIn(line.replace(/^[ \t\r]+/, '').replace(/\r$/, ''))
    if (rule === null || (rule.macro !== null && !mayDefine)) return []
    if (rule.macro !== null) return [rule]
    // Nothing below a folder pattern is meant by git, and `!` is not allowed.
    if (rule.pattern.startsWith('!') || rule.pattern.endsWith('/')) return []
    return [{ ...rule, pattern: below(folder, rule.pattern) }]
  })
}

function ruleIn(line: string): Rule | null {
  if (line === '' || line.startsWith('#')) return null
  const inQuotes = /^"((?:[^"\\]|\\.)*)"(.*)$/s.exec(line)
  const bare = /^(\S+)(.*)$/s.exec(line)
  const [, raw = '', rest = ''] = inQuotes ?? bare ?? []
  const pattern = inQuotes ? unquoted(raw) : raw
  const states = rest.split(/[ \t\r]+/).filter(Boolean)
  const macro = /^\[attr\](.+)$/.exec(pattern)?.[1] ?? null
  return pattern === '' ? null : { macro, pattern, states }
}

/** As the pattern is read in the root: one without a slash means files at any depth below its folder. */
function below(folder: string, pattern: string): string {
  if (folder === '') return pattern
  const place = folder.replace(/[\\*?[\]]/g, '\\$&')
  if (!pattern.includes('/')) return `${place}/**/${pattern}`
  return `${place}/${pattern.replace(/^\//, '')}`
}

/** `-text`, `!text`, `text=auto` → `text`. */
const nameIn = (state: string): string => state.replace(/^[-!]/, '').replace(/=.*$/s, '')

const depth = (folder: string): number => (folder === '' ? 0 : folder.split('/').length)

const ESCAPES: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

const unquoted = (raw: string): string =>
  raw.replace(/\\([0-3][0-7]{2}|.)/gs, (_, code: string) =>
    /^\d{3}$/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  )

/** A pattern of plain characters stays as it is; in quotes, only octal escapes are needed. */
function quoted(pattern: string): string {
  if (/^[^\s"#[!\x7f-\xff][^\s"\x7f-\xff]*$/.test(pattern)) return pattern
  const octal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`
  return `"${pattern.replace(/[\\"]|[^ -~]/g, (one) => (one === '\\' || one === '"' ? `\\${one}` : octal(one)))}"`
}
