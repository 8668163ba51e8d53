/** JSON of a benchmark, read strictly. */
import { isRecord, type JsonObject } from '../json.ts'
import { losesDigits, tooManyDigits, underflows } from './number.ts'

export type ReadJson = { ok: true; object: JsonObject } | { ok: false; reason: string }

export const isJsonObject = (value: unknown): value is JsonObject =>
  isRecord(value) && !(value instanceof NoNumber)

/** Some editors and shells put a byte order mark in front of a file; it says nothing. */
export const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text)

/**
 * Refuses what `JSON.parse` refuses, anything but an object, an object that has a key twice (which one counts?), and a
 * number that would be read as 0 and is none. A number of too many digits is a `NoNumber`: it may be an id that nobody
 * asks for.
 */
export function readJsonObject(written: string): ReadJson {
  const text = withoutMark(written)
  if (text.trim() === '') return refuse('it is empty')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (/[:[,]\s*-?(?:NaN|Infinity)\b/.test(text))
      return refuse('it has NaN or Infinity, which is neither JSON nor a result')
    return refuse(`it is not JSON: ${(error as Error).message}`)
  }
  if (!isJsonObject(value)) return refuse('it is not a JSON object')
  const twice = duplicateKey(text)
  if (twice !== null) return refuse(`it has the key ${JSON.stringify(twice)} twice`)
  const numbers = (text.match(TOKENS) ?? []).filter((token) => NUMERIC.test(token))
  const small = numbers.find(underflows)
  if (small !== undefined) return refuse(`it has ${small}, which is too small for a number`)
  if (!numbers.some(losesDigits)) return { ok: true, object: value }
  return { ok: true, object: parseMarked(text, losesDigits) as JsonObject }
}

const refuse = (reason: string): ReadJson => ({ ok: false, reason })

/** A text that is never closed reaches to the end; to search its end again from each quote would take quadratic time. */
const TOKENS = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|-?\d[\d.eE+-]*|-?\b(?:NaN|nan|Infinity|inf)\b/g
const NUMERIC = /^-?\d/

/** What a program wrote where a number should be, and none can hold it: `NaN`, `-Infinity`, `1e-400`, `9007199254740993`. */
export class NoNumber {
  readonly written: string
  constructor(written: string) {
    this.written = written
  }
  get isTooLong(): boolean {
    return losesDigits(this.written)
  }
  /** What is wrong with it, as a clause without its subject. */
  get why(): string {
    return this.isTooLong ? tooManyDigits(this.written) : `is ${this.written}, which is no number`
  }
}

/** The number that a tool printed as these digits, of which no other text is left. */
export const numberOr = (digits: string): number | NoNumber =>
  losesDigits(digits) || underflows(digits) ? new NoNumber(digits) : Number(digits)

const MARK = '\u0000assay:'

/**
 * Any JSON value of a tool's output, or why it is none. Numbers that JavaScript cannot hold become `NoNumber`, so that
 * such a number matters only where it is asked for.
 */
export function readToolJson(written: string): { value: unknown } | { reason: string } {
  try {
    return { value: parseMarked(withoutMark(written), isNoNumber) }
  } catch (error) {
    return { reason: `it is not JSON: ${(error as Error).message}` }
  }
}

/** Of a token that is no text. */
function isNoNumber(token: string): boolean {
  if (!NUMERIC.test(token)) return true
  const value = Number(token)
  return !Number.isNaN(value) && (!Number.isFinite(value) || underflows(token) || losesDigits(token))
}

function parseMarked(text: string, isNone: (token: string) => boolean): unknown {
  const marked = text.replace(TOKENS, (token) =>
    !token.startsWith('"') && isNone(token) ? JSON.stringify(MARK + token) : token,
  )
  return JSON.parse(marked, (_, member: unknown) =>
    typeof member === 'string' && member.startsWith(MARK) ? new NoNumber(member.slice(MARK.length)) : member,
  )
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g

/** The first key that one object of a *valid* JSON text has twice. */
export function duplicateKey(text: string): string | null {
  const open: (Set<string> | null)[] = []
  let string: string | null = null
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':' && string !== null) {
      const key = JSON.parse(string) as string
      const keys = open.at(-1)
      if (keys?.has(key)) return key
      keys?.add(key)
    }
    string = token.startsWith('"') ? token : null
  }
  return null
}

/** The beginning of JSON, which may be written on many lines, so that more than a brace is shown. */
export const onOneLine = (text: string): string => text.slice(0, 3000).replace(/\s+/g, ' ').slice(0, 300)

/**
 * Where a text, which need not be JSON, has one of the names as the key of a member, or `open` as the key of an object;
 * -1 when it has none.
 */
export function keyFinder(names: readonly string[], open?: string): (text: string) => number {
  const keys = names.flatMap((name) => [JSON.stringify(name), inAscii(JSON.stringify(name))])
  const pattern = keys.map((key) => `${key.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}\\s*:`)
  const regex = new RegExp([...pattern, ...(open ? [`"${open}"\\s*:\\s*\\{`] : [])].join('|'))
  return (text) => text.search(regex)
}

/** As some programs write other letters. */
const inAscii = (text: string): string =>
  text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

// ---------------------------------------------------------------- where a value stands in JSON: `/results/0/mean` (RFC 6901), or `results[0].mean`

/** A pointer, or names and `[index]` joined by dots; a name with other characters is quoted: `a["b.c"]`. */
export const POINTER = '^(?:(?:/[^/]*)+|[^/.\\[\\]"\\s]+(?:\\.[^/.\\[\\]"\\s]+|\\[\\d+\\]|\\["[^"]+"\\])*)$'

const PART = /\.?([^/.[\]"\s]+)|\[(\d+)\]|\["([^"]+)"\]/g

export function partsOf(path: string): string[] {
  if (path.startsWith('/'))
    return path
      .slice(1)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  return [...path.matchAll(PART)].map(([, name, index, quoted]) => name ?? index ?? quoted ?? '')
}

/** undefined when there is nothing at that place. */
export function valueAt(value: unknown, path: string): unknown {
  return partsOf(path).reduce<unknown>(memberOf, value)
}

function memberOf(at: unknown, part: string): unknown {
  if (typeof at !== 'object' || at === null || at instanceof NoNumber) return undefined
  if (Array.isArray(at) ? !/^(?:0|[1-9]\d*)$/.test(part) : !Object.hasOwn(at, part)) return undefined
  return (at as Record<string, unknown>)[part]
}

const UNIT_KEY = /^(?:time|value)?_?units?$/i
/** In other words, where no second one stands beside it. */
const UNIT_WORD = /(?:^|_)(?:units?|uom)(?:_?(?:name|text|label))?$|[a-z]Units?$|^unit(?:Name|Text|Label)$/i

/**
 * What an object says of the unit of one of its numbers: `{"mean": 12.3, "mean_unit": "ms"}`, `{"units": {"mean": "ms"}}`, or
 * of all: `{"value": 12.3, "unit": "ms"}`. null when it says nothing.
 */
export function unitNamed(object: JsonObject, key: string): string | null {
  const own = [`${key}_unit`, `${key}_units`, `${key}Unit`].map((name) => object[name])
  const { units } = object
  if (isJsonObject(units)) own.push(units[key])
  const texts = Object.entries(object).map(([name, one]) => [name, unitText(one)] as const)
  const all = texts.find(([name, one]) => UNIT_KEY.test(name) && one !== null)
  const words = texts.filter(([name, one]) => UNIT_WORD.test(name) && one !== null)
  const only = words.length === 1 ? words[0]?.[1] : undefined
  const unit = own.map(unitText).find((one) => one !== null) ?? all?.[1] ?? only
  return unit?.slice(0, 40) ?? null
}

/** Also of a list: whose number each unit is, nobody knows, so that all of them count. */
const unitText = (value: unknown): string | null => {
  if (typeof value === 'string') return value
  if (!Array.isArray(value) || value.length > 20) return null
  return value.filter((one) => typeof one === 'string').join(' ') || null
}

/** Of the object in which the path ends, or else of those around it. */
export function unitAt(value: unknown, path: string): string | null {
  const parts = partsOf(path)
  for (let depth = parts.length - 1; depth >= 0; depth--) {
    const pointer = parts
      .slice(0, depth)
      .map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('')
    const object = valueAt(value, pointer)
    const unit = isJsonObject(object) ? unitNamed(object, parts[depth] ?? '') : null
    if (unit !== null) return unit
  }
  return null
}

/** Of a result of JMH around the number: in another mode, or with more threads, it is another number. null = it is none. */
export function modeAt(value: unknown, path: string): string | null {
  const parts = partsOf(path)
  const at = parts.lastIndexOf('primaryMetric')
  const result = at < 0 ? undefined : parts.slice(0, at).reduce<unknown>(memberOf, value)
  if (!isJsonObject(result) || typeof result.mode !== 'string') return null
  const { mode, threads } = result
  return [`mode ${mode}`, ...(typeof threads === 'number' && threads > 1 ? [`${threads} threads`] : [])].join(
    ', ',
  )
}

const LOOKED_AT = 20_000
const DEEPEST = 12

/** Pointers to the first numbers in a value, with the number; breadth first, so that totals come before details. */
export function numbersIn(value: unknown, most: number): { pointer: string; value: number }[] {
  const found: { pointer: string; value: number }[] = []
  const queue: { at: unknown; pointer: string; depth: number }[] = [{ at: value, pointer: '', depth: 0 }]
  for (let next = 0; next < queue.length && next < LOOKED_AT && found.length < most; next++) {
    const { at, pointer, depth } = queue[next] ?? { at: null, pointer: '', depth: 0 }
    if (typeof at === 'number') found.push({ pointer, value: at })
    if (typeof at !== 'object' || at === null || at instanceof NoNumber || depth === DEEPEST) continue
    for (const [key, member] of Object.entries(at).slice(0, 100)) {
      const escaped = key.replaceAll('~', '~0').replaceAll('/', '~1')
      queue.push({ at: member, pointer: `${pointer}/${escaped}`, depth: depth + 1 })
    }
  }
  return found
}
