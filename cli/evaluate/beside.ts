/** What stands in a line around the group of a pattern: the rest of its number, its unit, and where to find both. Pure. */
import { convert, isCounted, isUnit } from './units.ts'

export interface Beside {
  /** The word directly behind the group, as far as it may be a unit; null when there is none. */
  word: string | null
  /** The number or the word that the group cuts in two, whole; null when it cuts none. */
  cut: string | null
  /**
   * The unit that stands near, where none stands directly behind: `12.3 (ms)`, `12.3 ± 0.1 ms`, `time_ms=12.3`,
   * `"value": 12.3, "unit": "ms"`. It may belong to something else, so it is compared and never converted.
   */
  near: string | null
  /** A word in such a place that is no unit we know, or a minus that may be a hyphen: compared as well. */
  words: string | null
  /**
   * Where a different number stands right beside: `85 120` may be one number or two, so this is compared as well. So is
   * what the number is a part of (`9/10`), a word that says in which direction the number counts (`1.2x faster`), and a sign that makes it a bound, an
   * estimate or a number in brackets, which may be below 0: `<4`, `~4`, `4+`, `(4)`.
   */
  numbers: string | null
}

/** What a pattern itself has beside its group: commas, which separate fields, and a slash. */
export interface Fields {
  before: boolean
  behind: boolean
  slash: boolean
}

const NO_FIELDS: Fields = { before: false, behind: false, slash: false }

/** Characters that are looked at on each side. */
const NEAR = 100

/** `upTo` and `rest` are what the line has on both sides of the group. */
export function beside(upTo: string, group: string, rest: string, fields = NO_FIELDS): Beside {
  const [before, behind] = [upTo.slice(-NEAR), rest.slice(0, NEAR)]
  const cut = compound(before, group, behind) ?? halfOf(before, group, behind, fields)
  const nothing = { word: null, cut, near: null, words: null, numbers: null }
  if (cut !== null) return nothing
  // The group has its unit, or is no number at all.
  if (!/[\d.]$/.test(group)) return nothing
  const { word, to } = wordBehind(behind)
  const hasUnit = word !== null && isUnit(word)
  const near = hasUnit ? null : unitNear(before, behind)
  const found = hasUnit ? null : wordNear(before, behind.slice(to), word === null)
  const words = [HYPHEN.test(before) && '-', found !== near && found].filter(Boolean).join(' ') || null
  const numbers = [
    NUMBER_BEFORE.test(before) && 'a number in front',
    NUMBER_BEHIND.test(behind) && 'a number behind',
    !fields.slash && WHOLE_BEHIND.test(behind) && `of ${WHOLE_BEHIND.exec(behind)?.[1]}`,
    (TURN_BEHIND.exec(behind) ?? TURN_BEFORE.exec(before))?.[1]?.toLowerCase(),
    BOUND_BEFORE.test(before) && `${BOUND_BEFORE.exec(before)?.[1]} in front`,
    BOUND_BEHIND.test(behind) && `${BOUND_BEHIND.exec(behind)?.[0]} behind`,
  ].filter(Boolean)
  return { word, cut: null, near, words, numbers: numbers.join(', ') || null }
}

const NUMBER_BEFORE = /\d(?:\s+|[,:]\s*|\s?\/\s?|\s(?:[-–—]|\.\.+|…|to)\s)$/
const NUMBER_BEHIND = /^(?:(?:\s+|[,:]\s*)[+-]?|\s?\/\s?|[-–]|\.\.+|…|\s(?:[-–—]|\.\.+|…|to)\s)\d/
const WHOLE_BEHIND = /^\s?\/\s?(\d[\d.,]*)(?![\d/])/

const BOUND_BEFORE = /((?:[<>≤≥≦≧⩽⩾~∼≈≃≅±∓]|\+\/?-|&[lg][te];)=?|(?<!\p{L})(?:approx|ca|abt)\.|\()\s?$/u
const BOUND_BEHIND = /^[+\-−](?![\p{L}\p{N}+\-−.(/±])/u

const TURN =
  '[↑↓▲▼↗↘]|(?:faster|slower|quicker|higher|lower|larger|bigger|smaller|longer|shorter|more|less|fewer|better|worse|up|down|increased?|decreased?|reduced|reduction|improved|improvement|regressed|regression|gain(?:ed)?|loss|lost|speedup|slowdown|above|below)(?![\\p{L}\\p{N}_])'
const TURN_BEHIND = new RegExp(`^(?:[x×%]|\\s?(?:times|percent)(?![\\p{L}]))?\\s?\\(?(${TURN})`, 'iu')
const TURN_BEFORE = new RegExp(`(?:^|[^\\p{L}\\p{N}_])(${TURN})(?:\\sby)?\\s?[:=(]?\\s?[+\\-]?$`, 'iu')
/** Whether the part of what stands beside a number is such a word. */
export const isTurn = (part: string): boolean => new RegExp(`^(?:${TURN})$`, 'iu').test(part)

// ---------------------------------------------------------------- a number that the group cuts in two

/** What programs put between groups of digits. */
const SEPARATORS = ",_'’`´·٬\\u00a0\\u2007\\u2009\\u200a\\u202f"
const INSIDE = `\\d.${SEPARATORS}`
const BEFORE = new RegExp(`[${INSIDE}]*$`)
const BEHIND = new RegExp(`^[${INSIDE}]*(?:[eE][+-]?\\d+)?`)
const GROUP_OF_THREE = new RegExp(`^[${SEPARATORS}]\\d{3}(?!\\d)`)
/** Digits behind which a separator may stand. */
const LEADING_GROUPS = new RegExp(`(?:^|[^\\d.,])[1-9]\\d{0,2}(?:[${SEPARATORS}]\\d{3})*$`)
/** `2,00,000`: groups of two as far as the last one, as in India. */
const LAKH_BEHIND = /^(?:,\d\d)+,\d{3}(?!\d)/
const LAKH_BEFORE = /(?:^|[^\d.,])\d{1,2}(?:,\d\d)+,$/
/** `1 020`: behind a space, three digits that begin with 0 are no number of their own. */
const SPACED_BEFORE = /(?:^|[^\d.,\p{L}:-])[1-9]\d{0,2}(?: \d{3})* $/u
const SPACED_BEHIND = /^(?: \d{3})* 0\d\d(?: \d{3})*(?![\d:])/
/** `12,5 s` as other languages write it. Without a unit the comma may separate fields. */
const DECIMALS = /^,\d+\s{0,8}(?:%|‰|\p{L})/u
const DASH = '[-−–‐‑﹣-]'
/** Of `p95-12`, where it is no sign, or cannot be known. */
const HYPHEN = new RegExp(`[\\p{L}\\p{N}_)\\]}]${DASH}$`, 'u')
/** A sign only where no word, number or other sign stands in front of it. `= - 5` and `-$5` are below 0, too. */
const SIGN = new RegExp(
  `(?:^|(?<!\\+)/|[^\\p{L}\\p{N}_)\\]}%‰/+\\-−–‐‑﹣-])${DASH}(?:\\p{Sc}\\s?)?$|[=:]\\s*${DASH}\\s+$`,
  'u',
)
/** Signs that do not show, or that take back what stands in front of them. */
const UNSEEN = '[\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\u0008]'
/** What continues behind an unseen sign, in digits of other scripts, or behind their separators. */
const STRANGE_BEHIND = new RegExp(`^(?:\\u0008|${UNSEEN}+[.,]?\\d|[٫٬，．]?(?!\\d)\\p{Nd}|[٫٬，．]\\d)`, 'u')
const STRANGE_BEFORE = new RegExp(`(?:\\u0008|\\d[.,]?${UNSEEN}+|(?!\\d)\\p{Nd}[٫٬，．]?|\\d[٫٬，．])$`, 'u')
/** `13,0` as all that stands there. */
const DECIMALS_ALONE = /^,(?:\d{1,2}|\d{4,})(?:\s|$)/
/** `1.0 × 10^3`, `1.0*10³`. */
const POWER_BEHIND =
  /^[eE][−–]\d+|^(?:\s?[×x*·⋅]\s?| )10(?:(?:\^|\*\*)[+-]?\d+|[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)|^\s?\*\^[+-]?\d+|^[dD][+-]?\d+(?!\p{L})/u
/** `(9.98+/-0.01)e+02`. */
const POWER_OF_BOTH = /^\s?(?:±|\+\/-)\s?[\d.]+\)\s?[eE×x*·⋅]\s?[+\-\d]/
const TIMES_BEFORE = /\d\s?[×x*·⋅]\s?$/
const TEN = /^10(?:\^|[⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹])/
const TEN_BEFORE = /\d\s?[×x*·⋅]\s?10\^[+-]?$/
/** `2:59.5`, `1:02:03` and `2:59 min`. */
const CLOCK_BEFORE = /(?:^|[^\p{L}\d.:-])(?:\d{1,3}:)?\d{1,3}:$/u
/** `2:59` alone may be a ratio as well; of both, one part is not the whole. */
const SECONDS_BEHIND = /^:[0-5]\d(?![\d:.,\p{L}]|\s?:)/u
const MINUTES_BEFORE = /(?:^|[^\p{L}\p{N}.:,/-])\d{1,3}:$/u
const CLOCK_BEHIND =
  /^(?::[0-5]\d)?:[0-5]\d\.\d+(?![\d:])|^(?::[0-5]\d){2}(?![\d:])|^:[0-5]\d(?=\s?(?:min|h|hrs?|hours?|minutes?)(?!\p{L}))/u
const CLOCK_UNIT = /^\s?(?:min|h|hrs?|hours?|minutes?)(?!\p{L})/u

function halfOf(before: string, group: string, behind: string, fields: Fields): string | null {
  const spaced = spacedGroups(before, group, behind)
  if (spaced !== null) return spaced
  const power = POWER_BEHIND.exec(behind)?.[0] ?? POWER_OF_BOTH.exec(behind)?.[0]
  if (power !== undefined && /\d$/.test(group)) return `${group}${power}`
  const tens = TIMES_BEFORE.test(before) && TEN.test(`${group}${behind}`)
  if (tens || (TEN_BEFORE.test(before) && /^\d/.test(group))) return `${lastWord(before)}${group}`
  const clock = CLOCK_BEHIND.exec(behind)?.[0]
  if (clock !== undefined && /^\d{1,2}$/.test(group)) return `${group}${clock}`
  const seconds = SECONDS_BEHIND.exec(behind)?.[0]
  if (seconds !== undefined && /^\d{1,3}$/.test(group) && !/[\p{L}\p{N}.:,/-]$/u.test(before))
    return `${group}${seconds}`
  if (isRestOfClock(before, group, behind)) return `${lastWord(before)}${group}`
  const strange = STRANGE_BEHIND.exec(behind)?.[0]
  if (strange !== undefined) return `${group}${behind.slice(0, strange.length)}`
  if (STRANGE_BEFORE.test(before)) return `${lastWord(before)}${group}`
  if (
    !startsInside(before, group, fields.before) &&
    !stopsInside(before + group, group, behind, fields.behind)
  )
    return null
  const left = /0[xX]$/.exec(before)?.[0] ?? BEFORE.exec(before)?.[0] ?? ''
  const sign = SIGN.test(before.slice(0, before.length - left.length)) ? '-' : ''
  const right = /\p{L}$/u.test(group)
    ? (/^[\p{L}/]*/u.exec(behind)?.[0] ?? '')
    : (BEHIND.exec(behind)?.[0] ?? '').replace(/[^\d]+$/, '')
  return `${sign}${left.replace(/^[^\d.]+/, '')}${group}${right}`
}

/** Seconds, or minutes and seconds, behind their minutes or hours. */
function isRestOfClock(before: string, group: string, behind: string): boolean {
  if (!CLOCK_BEFORE.test(before)) return false
  const whole = `${group}${behind}`
  return (
    /^[0-5]\d(?:\.\d|:[0-5]\d)/.test(whole) ||
    (/^[0-5]\d$/.test(group) && (CLOCK_UNIT.test(behind) || isAlone(before, behind))) ||
    (/\d:\d\d?:$/.test(before) && /^[0-5]\d(?!\d)/.test(whole))
  )
}

const isAlone = (before: string, behind: string): boolean =>
  MINUTES_BEFORE.test(before) && !/^(?:[:.,]?\d|[\p{L}:])/u.test(behind)

const lastWord = (before: string): string => /\S*\s?[×x*·⋅]\s?\S*$|\S*$/.exec(before)?.[0] ?? ''

function spacedGroups(before: string, group: string, behind: string): string | null {
  const left = SPACED_BEFORE.exec(before)?.[0]
  if (left !== undefined && /^0\d\d(?!\d)/.test(group)) return `${left.replace(/^\D+/, '')}${group}`
  const right = SPACED_BEHIND.exec(behind)?.[0]
  return right !== undefined && /^[1-9]\d{0,2}$/.test(group) && !/[\d.]$/.test(before)
    ? `${group}${right}`
    : null
}

function startsInside(before: string, group: string, comma: boolean): boolean {
  if (!/^[\d.,]/.test(group)) return false
  if (comma && before.endsWith(',')) return false
  if (/\d$/.test(before) || /\d\.$/.test(before) || /(?:^|[\s=:([\-−])\.$/.test(before)) return true
  if (/(?:^|[^\p{L}\d])0[xX]$/u.test(before)) return true
  if (LAKH_BEFORE.test(before) && /^\d{3}(?!\d)/.test(group)) return true
  if (LEADING_GROUPS.test(before.slice(0, -1)) && GROUP_OF_THREE.test(before.slice(-1) + group)) return true
  return SIGN.test(before)
}

function stopsInside(upTo: string, group: string, behind: string, comma: boolean): boolean {
  if (/\p{L}$/u.test(group)) return /\d/.test(group) && /^[\p{L}/]/u.test(behind)
  if (!/[\d.,]$/.test(group)) return false
  if (/^\d/.test(behind) || (/\d$/.test(group) && /^\.\d/.test(behind))) return true
  if (/^[eE][+-]?\d/.test(behind) || (/^[+-]?0$/.test(group) && /^[xX][\da-fA-F]/.test(behind))) return true
  if (comma && behind.startsWith(',')) return false
  if (LAKH_BEHIND.test(behind) && /(?:^|[^\d.,])\d{1,2}$/.test(upTo)) return true
  if ((DECIMALS.test(behind) || DECIMALS_ALONE.test(behind)) && /(?:^|[^\d.,;])\d+$/.test(upTo)) return true
  return GROUP_OF_THREE.test(behind) && LEADING_GROUPS.test(upTo)
}

// ---------------------------------------------------------------- a time or a size in two units: `2m 40s`, `1 MB 20 KB`

const SIZE = '[kKMGT]i?(?:B|[bB]ytes?)|B|[bB]ytes?'
const TIME = `(?:d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?|ms|msecs?|milliseconds?|us|µs|μs|usecs?|microseconds?|ns|${SIZE})`
const AND = '(?:[:+]|\\.?(?:,|\\sand)?\\s?)'
const LARGER = new RegExp(`(?:^|[^\\p{L}\\d.,])((?:\\d+\\s?${TIME}${AND}){0,3}\\d+\\s?(${TIME})${AND})$`, 'u')
const SMALLER = new RegExp(`^\\s?(${TIME})${AND}(\\d+(?:\\.\\d+)?)\\s?(${TIME})(?![\\p{L}\\d])`, 'u')
const OWN = new RegExp(`^\\s?(${TIME})(?![\\p{L}\\d])`, 'u')
/** `PT1H2M3.5S` of ISO 8601, of which the group holds one part. */
const ISO_BEFORE = /(?:^|[^\p{L}\p{N}])P(?=[\dT])(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?)?$/u
const ISO_BEHIND = /^(?:DT|[HM])(?:\d+[HMS]?|[\d.]+S)(?:[\d.]+[MS])*/
/** How much of the smaller unit the larger one is; 0 when they are not of one kind. */
const timesIn = (larger: string, smaller: string): number =>
  secondsIn(larger) / secondsIn(smaller) || (convert(1, larger, smaller) ?? 0)
/** In minutes and days the letters mean something else than in a unit of its own. 0 = no time. */
const secondsIn = (word: string): number =>
  word === 'm' ? 60 : /^d/.test(word) ? 86_400 : (convert(1, word, 's') ?? 0)

function compound(before: string, group: string, behind: string): string | null {
  const iso = ISO_BEFORE.exec(before)?.[0]
  const parts = ISO_BEHIND.exec(behind)?.[0] ?? ''
  if (
    iso !== undefined &&
    /^\d/.test(group) &&
    (parts !== '' || (/[1-9]/.test(iso) && /^[HMS]/.test(behind)))
  )
    return `${lastWord(before)}${group}${parts || behind.slice(0, 1)}`
  const [, figure = group, unit = ''] = /^(.*?\d)\s?(\p{L}+)$/u.exec(group) ?? []
  const own = unit || (OWN.exec(behind)?.[1] ?? '')
  const left = LARGER.exec(before)
  if (
    /^\d/.test(figure) &&
    left?.[2] !== undefined &&
    // `0m12.3s` are 12.3 s.
    /[1-9]/.test(left[1] ?? '') &&
    timesIn(left[2], own) > 1
  )
    return `${left[1]}${group}${unit === '' ? own : ''}`
  const right = SMALLER.exec(`${unit}${behind}`)
  if (!/^\d+$/.test(figure) || right === null) return null
  return timesIn(right[1] ?? '', right[3] ?? '') > 1 ? `${figure}${right[0]}` : null
}

// ---------------------------------------------------------------- the unit

/** Before `=` or `:` it is a name: `n=1 m=2`. */
const WORD =
  /^(?:%|‰|\p{Sc}|\p{L}{1,16}(?:(?:\s?\/\s?| per )\p{L}{1,16})?|\/\p{L}{1,16})(?![\p{L}\p{N}_]|\s*[=:](?!=))/u
/** Tables put more than one space between a number and its unit, prose does not. */
const SPACES = /^[ \t\u00a0\u2009\u202f]{0,8}/
const LETTERS = '\\p{L}{1,16}(?:\\/\\p{L}{1,16})?'
const UNIT = `%|‰|${LETTERS}`
/** Behind deviations, further numbers, brackets and bars. */
const NEAR_BEHIND = new RegExp(
  `^(?:[\\s\\d.,;/|\\-–+±~%()[\\]{}<>*_"'\`]|sd|std)*?(${LETTERS})(?![\\p{L}\\d]|\\s*[=:](?!=))`,
  'u',
)
/** `12 total MB`, `12 of memory in MB` */
const SECOND_BEHIND = new RegExp(
  `^\\s?\\p{L}{1,16}\\s(?:[^\\d,;.:=]*\\bin )?(${LETTERS})(?![\\p{L}\\d]|\\s*[=:](?!=))`,
  'u',
)
/** At the end of a name, or in brackets behind it. */
const NEAR_BEFORE = new RegExp(
  `(?:^|[^\\p{L}\\d])(${UNIT})["')\\]}>]{0,2}\\s{0,8}[:=|]?\\s{0,8}["'([|]?$`,
  'u',
)
/** In brackets anywhere in front, as of a whole line or table: `clat (usec): min=5, avg=9`, `Mean [ms]`, `(time in us)`. */
const IN_BRACKETS = new RegExp(`[([](?:\\p{L}+ in )?(${UNIT})[)\\]]|(?<=\\bin )(${UNIT})(?=:|\\s*$)`, 'gu')
/** Letters that stand for grades, names and counts more often than for a unit, unless they are directly behind a number. */
const RARELY = /^(?:[BkKMGThm]|[KMGT]i|mins?|%|percent)$/
const FIELD = new RegExp(`\\b\\w*units?["']?\\s{0,3}[:=]\\s{0,3}["']?(${UNIT})`, 'iu')

function wordBehind(behind: string): { word: string | null; to: number } {
  const spaces = SPACES.exec(behind)?.[0].length ?? 0
  const found = WORD.exec(behind.slice(spaces))?.[0]
  if (found === undefined) return { word: null, to: 0 }
  const to = spaces + found.length
  let word = found.replace(/\s?\/\s?| per /, '/')
  // `1.2 M ops/s`
  const next =
    /^[kKMGT]$/.test(word) && /^\s(\p{L}{1,16}(?:\/\p{L}{1,16})?)(?![\p{L}\p{N}_])/u.exec(behind.slice(to))
  if (next && isUnit(`${word}${next[1]}`)) word += next[1]
  // `avg 120 min 100`: the least, not minutes.
  if (word === 'min' && /^\s*min\s+[\d.]/.test(behind)) return { word: null, to: 0 }
  return spaces <= 1 || isUnit(word) ? { word, to } : { word: null, to: 0 }
}

const known = (word: string | undefined): word is string =>
  word !== undefined && isUnit(word) && !RARELY.test(word) && !isCounted(word)

/** `MFLOPS measured : 1234`: a name of several words, one of which is a unit. */
function unitInName(before: string): string | null {
  const name = /([^:=,;|\t]*)[:=]\s{0,8}["'([]?$/.exec(before)?.[1] ?? ''
  return (
    (name.match(/(?<![\p{L}/])\p{L}{2,16}(?:\/\p{L}{1,16})?(?![\p{L}/])/gu) ?? []).findLast(known) ?? null
  )
}

function unitNear(before: string, behind: string): string | null {
  // Of several objects on a line, the field of the own one is the nearest.
  const fields = [FIELD.exec(behind.split('}')[0] ?? ''), FIELD.exec(before.split('{').at(-1) ?? '')]
  const places = [NEAR_BEHIND.exec(behind), SECOND_BEHIND.exec(behind), NEAR_BEFORE.exec(before), ...fields]
  const near = places.map((match) => match?.[1])
  return near.find(known) ?? unitsInBrackets(before).at(-1) ?? unitInName(before)
}

const unitsInBrackets = (line: string): string[] =>
  [...line.matchAll(IN_BRACKETS)].map((match) => match[1] ?? match[2]).filter(known)

/** The units in brackets of the line that names the columns of a table: whose column it is, cannot be known. null = none. */
export const unitsOfHeader = (line: string): string | null => unitsInBrackets(line).join(' ') || null

// ---------------------------------------------------------------- a word that may be a unit, in the places where a unit stands

const ANY = '(?:#|\\p{Sc}|\\p{L}{1,16})(?:\\s?/\\s?(?:#|\\p{L}{1,16}))?'
const DEVIATION = '(?:\\s?(?:±|\\+/-|\\+-)\\s?[\\d.,]+%?|\\s?[([][\\d.,;:%\\s±+\\-–/]+[)\\]])'
const END = '(?![\\p{L}\\p{N}_]|\\s*[=:](?!=))'
/** In brackets, behind a deviation, in the next cell of a table, or joined by a hyphen. */
const WORD_BEHIND = new RegExp(
  `^(?:${DEVIATION}*\\s?[([<{]\\s?["']?(${ANY})["']?\\s?[)\\]>}]|${DEVIATION}+\\s{0,8}(${ANY})${END}|\\s*\\|\\s*(${ANY})\\s*(?:\\||$)|[,;](${ANY})(?:[,;]|$)|[-_](${ANY})(?![\\p{L}\\p{N}_-]))`,
  'u',
)
/** The end of a name, which `=` or `:` may close. */
const WORD_BEFORE = new RegExp(
  `(?:^|[^\\p{L}\\p{N}])(${ANY})["')\\]}>]{0,2}\\s{0,8}[:=]\\s{0,8}["'([|]?$`,
  'u',
)
const JUST_BEFORE = new RegExp(`(?:^|[^\\p{L}\\p{N}])(${ANY})["')\\]}>]{0,2}\\s{0,8}$`, 'u')
const BRACKETS_BEFORE = new RegExp(
  `[([](?:\\p{L}+ in )?(${ANY})[)\\]]\\s*[:=|]|(?<=\\bin )(${ANY})(?=:)`,
  'gu',
)
const ANY_FIELD = /\b\w*units?["']?\s{0,3}[:=]\s{0,3}["']?([^\s"',;}]{1,20})/iu

/** `alone`: no word stands directly behind, so one in front without a sign between them may be the unit. */
function wordNear(before: string, behind: string, alone: boolean): string | null {
  const matches = [
    WORD_BEHIND.exec(behind),
    ANY_FIELD.exec(behind.split('}')[0] ?? ''),
    ANY_FIELD.exec(before.split('{').at(-1) ?? ''),
    [...before.matchAll(BRACKETS_BEFORE)].at(-1),
    WORD_BEFORE.exec(before),
    alone ? JUST_BEFORE.exec(before) : null,
  ]
  const found = matches.map((match) => match?.slice(1).find((word) => word !== undefined))
  return found.find((word) => word !== undefined)?.replace(/\s/g, '') ?? null
}

/** What a line says that only names a unit: `"unit": "ms",` of JSON on many lines, `Time unit: ms`. */
export const unitOfLine = (line: string): string | null =>
  /^["']?(?:\p{L}{1,16}\s)?\w*units?["']?\s*[:=]\s*["']?([^\s"',;]{1,20})["']?,?$/iu.exec(line)?.[1] ?? null

/** Of a line of prose in front of the numbers or behind them: `All times are in milliseconds.`, `(ms)`, `ms`. */
export function unitOfProse(line: string): string | null {
  const found = [...line.matchAll(PROSE)].map((match) => match[1] ?? match[2])
  return found.find(known) ?? null
}
const PROSE = new RegExp(
  `(?<![\\p{L}\\p{N}])in (${LETTERS})(?=[.,;)\\]]|\\s|$)|^[([]?(${LETTERS})[)\\]]?$`,
  'gu',
)

/**
 * Words that may be the units of columns, of a line in columns without a number: those in brackets, rates, and units at
 * the end of a name (`mean_ms`, `mean ms`). The line names the columns of a table as long as every line behind it has a
 * digit, or no letter.
 */
export function wordsOfHeader(line: string, before: string | null): string | null {
  const names = line.replace(/[([][^)\]]*[)\]]/g, '').replace(/\p{L}[\p{L}\p{N}]*/gu, '')
  if (/\d/.test(names) || !/\p{L}/u.test(line)) return before
  if (!/\S(?:\s{2,}|\s*[|\t,;]\s*)\S|\p{L}_\p{L}/u.test(line)) return null
  const found = [...line.matchAll(HEADER_WORD)]
    .map(([, word, rate, unit]) => word ?? rate ?? (known(unit) ? unit : undefined))
    .flatMap((word) => word?.replace(/\s/g, '') ?? [])
  return found.join(' ') || null
}
const HEADER_WORD = new RegExp(
  `[([](${ANY})[)\\]]|(?<![\\p{L}/])(\\p{L}{1,16}/\\p{L}{1,16})(?![\\p{L}/])|(?<![\\p{L}\\p{N}])(\\p{L}{1,16})(?![\\p{L}\\p{N}_])`,
  'gu',
)

// ---------------------------------------------------------------- what the pattern itself says of its group

export function fieldsOf(pattern: string): Fields {
  const group = groupOf(pattern)
  if (group === null) return NO_FIELDS
  const behind = pattern.slice(group.to)
  return {
    before: pattern.slice(0, group.from).endsWith(','),
    behind: /^,(?![?*{])/.test(behind),
    slash: /^(?:(?:\\s| )[?*]?)?\\?\//.test(behind),
  }
}

/** Of the first capturing group, its brackets included. */
function groupOf(pattern: string): { from: number; to: number } | null {
  let open = 0
  let inClass = false
  let group = -1
  let from = -1
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at++
    else if (inClass) inClass = char !== ']'
    else if (char === '[') inClass = true
    else if (char === '(') {
      open++
      const rest = pattern.slice(at + 1)
      if (group < 0 && (!rest.startsWith('?') || /^\?<[^=!]/.test(rest))) {
        group = open
        from = at
      }
    } else if (char === ')') {
      if (open === group) return { from, to: at + 1 }
      open--
    }
  }
  return null
}

/** The words that the pattern spells out: its author knows that they stand beside the number. */
export function spelledBy(pattern: string): string[] {
  const letters = pattern.replace(/\(\?<\w+>|\\[a-zA-Z]|\[(?:\\.|[^\]])*\]/g, ' ')
  return [...letters.matchAll(/\p{L}+(?:\/\p{L}+)?(\?)?/gu)].flatMap(([word, optional]) =>
    optional ? [word.slice(0, -1), word.slice(0, -2)] : [word],
  )
}

/** Whether the group itself asks for groups of three digits behind commas: `(\d{1,3}(?:,\d{3})*)`. */
export function groupsByComma(pattern: string): boolean {
  const group = groupOf(pattern)
  return (
    group !== null &&
    /,\)?(?:\\d|\[0-9\])(?:\{3\}|\\d\\d|\[0-9\]\[0-9\])/.test(pattern.slice(group.from, group.to))
  )
}
