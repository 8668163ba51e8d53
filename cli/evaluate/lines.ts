/** Metrics in a stream of output: METRIC lines, JSON between other lines, and the groups of a pattern with their units. Pure. */

import { redact } from '../redact.ts'
import {
  type Beside,
  beside,
  type Fields,
  fieldsOf,
  unitOfLine,
  unitOfProse,
  unitsOfHeader,
  wordsOfHeader,
} from './beside.ts'
import { keyFinder } from './json.ts'
import { type ReadValue, readValue } from './number.ts'
import { convert, isUnit } from './units.ts'

// ---------------------------------------------------------------- finds JSON objects among the lines of a log, on one line or on many

/** A longer object is not a benchmark's answer on a stream of text. */
const LONGEST = 1024 * 1024
/** Places in one line where an object could begin that are tried. */
const MOST_BEGINS = 20
/** One that is never closed reaches to the end, so that the time is linear. */
const STRING = /"(?:[^"\\]|\\.)*(?:"|\\?$)/g
/** What a line inside of an object consists of beside its strings. */
const SIGNS = /^[\s\d.+\-{}[\]:,A-Za-z]*$/
const WORDS = new Set(['e', 'E', 'true', 'false', 'null', 'NaN', 'nan', 'Infinity', 'inf'])
const BRACKETS = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\]]/g

export interface Documents {
  /**
   * One line without its end, trimmed. Lines of other text are allowed between objects, and end one that was begun.
   * `indented`: it began with a space.
   */
  line(text: string, indented: boolean): void
  /** A part of a line that is too long to be looked at whole. */
  part(text: string): void
  /** Text that a carriage return overwrote: whole objects in it count. */
  over(text: string): void
  /** Something else has answered: from now on objects in the midst of lines count. */
  answered(): void
  /** Counts an object that never ended too. Call it once. */
  end(): void
}

/**
 * `found` gets the text of each object: whole, or as far as it went when it was never closed. Behind the first object,
 * one that begins in the midst of a line counts as well, when it is whole: a program that ends its output without
 * an end of line could hide what the next one says. For the same reason `found` then gets each text outside of an object
 * that has the wanted key: the object may have begun in an unfinished text of the other program. For the same reason an
 * object that begins at the start of a line within another one counts at the end, if there was another answer: a
 * program that runs before and after the benchmark may open and close an object around what the benchmark says.
 */
export function documents(found: (text: string) => void, keyAt: (text: string) => number): Documents {
  let open = ''
  let depth = 0
  let any = false
  let hidden = false
  /** Something else has answered, or so many objects have the key. */
  let elsewhere = false
  let keyed = 0
  const within: string[] = []
  let inner = ''

  const give = (text: string) => {
    const counts = !hidden || text.includes('\n') || keyAt(text) >= 0 || isWhole(text)
    if (keyAt(text) >= 0) keyed++
    any = true
    hidden = false
    if (counts) found(text)
  }
  const close = () => {
    const text = open
    open = ''
    depth = 0
    inner = ''
    if (text !== '') give(text)
  }
  const lookWithin = (text: string, indented: boolean) => {
    if (inner === '' && (indented || !text.startsWith('{'))) return
    inner += `\n${text}`
    if (depthOf(inner) > 0) return
    if (keyAt(inner) >= 0 && within.length < MOST_JSON) within.push(inner.trim())
    inner = ''
  }
  const part = (text: string) => {
    if (any && keyAt(text) >= 0) found(text)
  }
  const begin = (text: string) => {
    const over = depthOf(text)
    if (over <= 0 || !isPart(text)) return give(text)
    open = text
    depth = over
  }
  return {
    line(text, indented) {
      if (open !== '' && (!isPart(text) || open.length + text.length > LONGEST)) close()
      if (open === '') {
        if (text.startsWith('{')) return begin(text)
        const at = beginOf(text)
        if (!any) {
          // What stands in front may be the end of an unfinished line of something else.
          if (at >= 0 && isWhole(text.slice(at))) found(text.slice(at))
          return
        }
        part(at < 0 ? text : text.slice(0, at + 1))
        if (at < 0) return
        hidden = true
        return begin(text.slice(at))
      }
      lookWithin(text, indented)
      open += `\n${text}`
      depth += depthOf(text)
      if (depth <= 0) close()
    },
    part,
    over(text) {
      const at = beginOf(text)
      if (at >= 0 && isWhole(text.slice(at))) found(text.slice(at))
    },
    answered() {
      any = true
      elsewhere = true
    },
    end() {
      close()
      if (elsewhere || keyed > 1) for (const text of within) found(text)
    },
  }
}

/** Of the object that ends the line, or else of what may continue behind it; -1 = none. */
function beginOf(text: string): number {
  let at = text.length
  for (let tries = 0; tries < MOST_BEGINS && at > 0; tries++) {
    at = text.lastIndexOf('{', at - 1)
    if (at < 0) break
    if (isWhole(text.slice(at))) return outermost(text, at)
  }
  return text.indexOf('{')
}

/** The object around the one at `at`, as far as it is whole as well. */
function outermost(text: string, at: number): number {
  let best = at
  for (let tries = 0, before = at; tries < MOST_BEGINS && before > 0; tries++) {
    before = text.lastIndexOf('{', before - 1)
    if (before < 0) break
    if (isWhole(text.slice(before))) best = before
  }
  return best
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** How many more brackets it opens than it closes. */
function depthOf(text: string): number {
  let depth = 0
  for (const [token] of text.matchAll(BRACKETS)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
  }
  return depth
}

function isPart(text: string): boolean {
  // What is not closed on its line is no part.
  const rest = text.replace(STRING, (string) => (/."$/.test(string) ? '' : "'"))
  return SIGNS.test(rest) && (rest.match(/[A-Za-z]+/g) ?? []).every((word) => WORDS.has(word))
}

interface Said {
  value: number | boolean
  unit: string | null
  raw: string
}

/** What was found in a stream of output. Names are in order of appearance. */
export interface ParsedLines {
  metrics: Map<string, Said>
  /** Lines that are a metric but cannot be read. */
  refused: { name: string | null; raw: string; reason: string }[]
  /** Lines that look like one and are none; told when the metric is missing. */
  near: { raw: string; reason: string }[]
  /** JSON objects, on one line or on many, with the metric, or that try to be; no text twice. */
  json: string[]
  /** By name, the first METRIC in the midst of a line, where no line of its own came before. */
  hidden: Map<string, Said>
  /** Matches of the user's own pattern: the first of each value. */
  matches: Match[]
  /** Units that lines of their own name, beside a pattern; no more than a few. */
  units: string[]
}

export interface Match extends Beside {
  raw: string
  /** What the group holds. */
  text: string
}

export interface LineParser {
  push(chunk: string): void
  /** Counts an unfinished last line too. Call it once. */
  end(): ParsedLines
}

export interface LineParserOptions {
  /** Name of the primary metric: which JSON objects count. */
  metric: string
  /** The user's pattern; its group 1 (or `value`) holds the number. */
  regex?: RegExp
  /** Something else has answered already, so objects in the midst of lines count from the start. */
  answered?: boolean
}

/** A longer line is not a metric: it is dropped while it streams, so memory stays bounded. */
const LONGEST_LINE = 64 * 1024
/** Of a line that was dropped, what is looked at. */
const LAST_OF_LINE = 2000
/** A line that begins with a brace may carry the scores of many tasks. */
const LONGEST_JSON = 1024 * 1024
const MOST_METRICS = 10_000
const MOST_REMARKS = 20
const RAW_SHOWN = 300
/** Two different ones already contradict each other; more would say nothing new. */
const MOST_SAID = 2
/** JSON objects that name the metric: each is read and compared. */
export const MOST_JSON = 50
const MOST_UNITS = 10

/** All with `s`: some characters end a line for `.` and for nobody else (U+2028). */
const METRIC = /^(?:\[[^\]]*\]\s*)*METRIC\b\s*(.*)$/s
/** In the midst of a line: what ran before may have ended its output without an end of line. */
const HIDDEN = /^.*(METRIC[ \t]+[\p{L}\p{M}\p{N}_\-./]{1,200}[ \t]*=.*)$/su
/** Not quite the word: `metric t=1.5`, `METRICS t=1.5`. */
const ALMOST = /^(?:\[[^\]]*\]\s*)*metrics?\b.*=/is
const NAME = /^[\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}_\-./]*$/u
/**
 * The codes that tools print: colours, erasing, moving the cursor, titles and links of one line, a bell. Of anything else only the
 * escape itself goes: a code that a program left unfinished would otherwise take in the first letters of what the next one
 * says, such as the `M` of METRIC or the brace of an object.
 */
const ANSI =
  /\u001b(?:\[(?:[\d;:]*[mJK]|\d[\d;]*[A-H]|\?[\d;]+[hl]|(?![\d;:?]))|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)|\([AB0]|[78](?!\d)|\\)?|\u0007/g

export const stripAnsi = (text: string): string =>
  /[\u0007\u001b]/.test(text) ? text.replace(ANSI, '') : text

/** Whatever a title or a link holds: a program that left one open would take in what the next one says, up to a bell. */
const HELD = /\u001b\]([^\u0007\u001b\n]*)(?:\u0007|\u001b\\)/g

const heldIn = (text: string): string[] =>
  text.includes('\u001b]') ? [...text.matchAll(HELD)].map(([, held = '']) => held).filter(Boolean) : []

/** Without codes, and with what they hold as lines of its own at the end. */
export const withoutCodes = (text: string): string => [stripAnsi(text), ...heldIn(text)].join('\n')

/**
 * What a line says when a code in it was left unfinished by another program, and its end is the beginning of what the
 * next one says: `mean 100` of `ESC[mean 100`, `12ms` of `ESC[12ms`.
 */
function takenIn(line: string): string[] {
  if (!line.includes('\u001b')) return []
  return [...line.matchAll(ANSI)].flatMap(({ index, 0: code }) => {
    const end = /\d*[A-Za-z\d]$/.exec(code.slice(1))?.[0] ?? ''
    const [behind, letter] = [index + code.length, end.replace(/^\d+(?=\D)/, '')]
    return [...new Set([end, letter])].filter(Boolean).map((one) => one + stripAnsi(line.slice(behind)))
  })
}

/**
 * Reads output chunk by chunk; any chunking gives the same answer. Of a line with carriage returns (a progress bar)
 * the text after the last one counts, as on a terminal, and METRIC lines and objects before it, which no bar has. `\r\n` ends a line.
 */
export function lineParser(options: LineParserOptions): LineParser {
  const parsed: ParsedLines = {
    metrics: new Map(),
    hidden: new Map(),
    refused: [],
    near: [],
    json: [],
    matches: [],
    units: [],
  }
  const { metric, regex } = options
  const pattern = regex && {
    // Every match of a line, with the place of its group.
    regex: new RegExp(regex.source, [...new Set(`${regex.flags}gd`)].join('')),
    fields: fieldsOf(regex.source),
    header: null,
    words: null,
  }
  const keyAt = keyFinder([metric], 'tasks')
  const objects = documents((text) => takeJson(text, { metric, keyAt }, parsed), keyAt)
  if (options.answered) objects.answered()
  let line = ''
  let returned = false
  let dropped = false
  let last = ''
  /** Of a line that was dropped, from the key of the metric on; empty when it has none. */
  let keyed = ''

  const add = (piece: string) => {
    const body = piece.replace(/\r+$/, '')
    if (body === '') {
      returned ||= piece !== ''
      return
    }
    const start = body.lastIndexOf('\r') + 1
    if (returned || start > 0) {
      const parts = start > 0 ? body.slice(0, start - 1).split('\r') : []
      overwrite(
        dropped ? `…${last}${returned ? '' : (parts[0] ?? '')}` : line + (returned ? '' : (parts[0] ?? '')),
      )
      for (const part of returned ? parts : parts.slice(1)) overwrite(part)
      line = ''
      dropped = false
      keyed = ''
    }
    returned = body.length < piece.length
    if (dropped) return drop(last + body)
    line += start > 0 ? body.slice(start) : body
    if (line.length > LONGEST_LINE && (line.length > LONGEST_JSON || !line.trimStart().startsWith('{'))) {
      drop(line)
      line = ''
      dropped = true
    }
  }
  /** A program could write over the answer of a benchmark that did not end its line. */
  const overwrite = (written: string) => {
    const text = stripAnsi(written).trim()
    const rest = METRIC.exec(text)?.[1]
    if (rest === undefined) takeHidden(text, parsed)
    else takeMetric(text, rest, parsed)
    if (keyAt(text) >= 0) objects.over(text)
  }
  const drop = (text: string) => {
    const at = keyed === '' ? keyAt(text) : -1
    if (at >= 0) keyed = text.slice(at, at + RAW_SHOWN)
    last = text.slice(-LAST_OF_LINE)
  }
  const flush = () => {
    // Behind one character more, so that nothing stands at the start of the line.
    const taking = { metric, pattern, objects }
    const whole = dropped ? `…${last}` : line
    take(stripAnsi(whole), taking, parsed)
    for (const held of heldIn(whole)) take(stripAnsi(held), taking, parsed)
    if (pattern) takeTakenIn(whole, pattern, parsed)
    if (dropped) remark(shown(last, RAW_SHOWN), 'its line is longer than 64 KiB', parsed)
    if (keyed !== '') objects.part(keyed)
    line = ''
    keyed = ''
    returned = false
    dropped = false
  }
  return {
    push(chunk) {
      let from = 0
      for (let at = chunk.indexOf('\n'); at >= 0; at = chunk.indexOf('\n', from)) {
        add(chunk.slice(from, at))
        flush()
        from = at + 1
      }
      add(chunk.slice(from))
    },
    end() {
      flush()
      objects.end()
      return parsed
    },
  }
}

interface Taking {
  metric: string
  pattern: Pattern | undefined
  objects: Documents
}

interface Pattern {
  regex: RegExp
  fields: Fields
  /** The units in brackets of the last line that had one and did not match; null = none. */
  header: string | null
  /** Words that may be units, of the line that names the columns; null = none. */
  words: string | null
}

function take(line: string, { metric, pattern, objects }: Taking, parsed: ParsedLines): void {
  const text = line.trim()
  if (text === '') return
  if (pattern) takeMatches(text, pattern, parsed)
  objects.line(text, /^\s/.test(line))
  const rest = METRIC.exec(text)?.[1]
  if (rest !== undefined) takeMetric(text, rest, parsed)
  else takeHidden(text, parsed)
  if (rest === undefined && ALMOST.test(text))
    remark(text.slice(0, RAW_SHOWN), 'begins with another word than METRIC', parsed)
  if (parsed.metrics.has(metric)) objects.answered()
}

/**
 * A METRIC in the midst of a line counts when it contradicts a line of its own, before or behind it: what ran before may
 * have ended its output without an end of line.
 */
function takeHidden(text: string, parsed: ParsedLines): void {
  const found = HIDDEN.exec(text.slice(-LAST_OF_LINE))?.[1]
  if (found === undefined) return
  const at = found.indexOf('=')
  const name = found.slice('METRIC'.length, at).trim()
  const read = readValue(found.slice(at + 1))
  if (!read.ok) return
  const raw = shown(found, RAW_SHOWN)
  const before = parsed.metrics.get(name)
  if (before !== undefined) refuseTwice(name, before, { ...read, raw }, parsed)
  else if (!parsed.hidden.has(name) && parsed.hidden.size < MOST_METRICS)
    parsed.hidden.set(name, { ...read, raw })
}

function refuseTwice(name: string, before: Said, after: Said, { refused }: ParsedLines): void {
  if (sameValue(before, after) || refused.length >= MOST_REMARKS) return
  refused.push({ name, raw: after.raw, reason: `it contradicts an earlier line: ${before.raw}` })
}

/** A cut would leave half a secret, which nothing recognises later. */
const shown = (text: string, most: number): string => redact(text.slice(0, 4 * RAW_SHOWN)).slice(0, most)

function takeMetric(text: string, rest: string, parsed: ParsedLines): void {
  const raw = shown(text, RAW_SHOWN)
  const equals = rest.indexOf('=')
  if (equals < 0) {
    remark(raw, 'has no "name = value"', parsed)
    return
  }
  const name = rest.slice(0, equals).trim()
  const problem = checkName(name) ?? keep(name, readValue(rest.slice(equals + 1)), raw, parsed)
  if (problem !== null && parsed.refused.length < MOST_REMARKS)
    parsed.refused.push({ name: NAME.test(name) ? name : null, raw, reason: problem })
}

function remark(raw: string, reason: string, { near }: ParsedLines): void {
  if (near.length < MOST_REMARKS) near.push({ raw, reason })
}

function checkName(name: string): string | null {
  if (NAME.test(name) && name.length <= 200) return null
  return `a name has letters, digits and _ - . / only: ${JSON.stringify(shown(name, 40))}`
}

function keep(name: string, read: ReadValue, raw: string, { metrics, hidden }: ParsedLines): string | null {
  if (!read.ok) return read.reason
  const before = metrics.get(name)
  if (before === undefined) {
    if (metrics.size >= MOST_METRICS) return `there are more than ${MOST_METRICS} metrics`
    metrics.set(name, { value: read.value, unit: read.unit, raw })
    const early = hidden.get(name)
    return early === undefined || sameValue(early, read)
      ? null
      : `it contradicts a METRIC in the midst of an earlier line: ${early.raw}`
  }
  if (sameValue(before, read)) return null
  return `it contradicts an earlier line: ${before.raw}`
}

/** `1 s` and `1000 ms` are one value. */
function sameValue(
  before: { value: number | boolean; unit: string | null },
  after: { value: number | boolean; unit: string | null },
): boolean {
  if (before.value === after.value && before.unit === after.unit) return true
  return typeof after.value === 'number' && convert(after.value, after.unit, before.unit) === before.value
}

function takeMatches(text: string, pattern: Pattern, { matches, units }: ParsedLines): void {
  const named = unitOfLine(text)
  if (named !== null && units.length < MOST_UNITS) units.push(named)
  const { regex, fields, header, words } = pattern
  let any = false
  for (const match of text.matchAll(regex)) {
    if (matches.length >= MOST_SAID) return
    const group = match.groups?.value ?? match[1] ?? ''
    const [start, end] = match.indices?.groups?.value ?? match.indices?.[1] ?? [0, text.length]
    const found = beside(text.slice(0, start), group, text.slice(end), fields)
    any = true
    // Of a table, the line above names the unit.
    const none = found.near !== null || (found.word !== null && isUnit(found.word))
    const columns = words?.split(' ').filter((word) => !header?.split(' ').includes(word)) ?? []
    const around = none
      ? found
      : { ...found, near: header, words: [found.words, ...columns].filter(Boolean).join(' ') || null }
    const known = { ...around, raw: shown(text, RAW_SHOWN), text: group }
    if (matches.every((other) => saidBy(other) !== saidBy(known))) matches.push(known)
  }
  if (any) return
  const prose = unitOfProse(text)
  if (prose !== null && units.length < MOST_UNITS) units.push(prose)
  pattern.header = unitsOfHeader(text) ?? header
  pattern.words = wordsOfHeader(text, words)
}

/** Matches that begin in what was taken for the end of a code. A number there needs a unit, or it is the code's own. */
function takeTakenIn(line: string, { regex, fields }: Pattern, parsed: ParsedLines): void {
  for (const text of takenIn(line)) {
    const match = text.matchAll(regex).next().value
    if (match === undefined || match.index > 0 || match[0].length < 2) continue
    const { word } = beside('', /^\d+/.exec(text)?.[0] ?? '', text.replace(/^\d+/, ''))
    if (/^\d/.test(text) && !(word !== null && isUnit(word))) continue
    takeMatches(text, { regex, fields, header: null, words: null }, parsed)
  }
}

/** Equal for what is one value, however it is written. */
function saidBy({ text, word, cut, near }: Match): string {
  const read = readValue(text, { grouped: true })
  const unit = (read.ok ? read.unit : null) ?? (word !== null && isUnit(word) ? word : null)
  return JSON.stringify([read.ok ? read.value : text, unit ?? near, cut])
}

interface Asked {
  metric: string
  keyAt: (text: string) => number
}

function takeJson(text: string, asked: Asked, { json }: ParsedLines): void {
  // One too many is enough to refuse them.
  if (json.length <= MOST_JSON && triesToAnswer(text, asked) && !json.includes(text)) json.push(text)
}

/** An unreadable object that names the metric counts: it must be refused, not replaced by an earlier one. */
function triesToAnswer(text: string, { metric, keyAt }: Asked): boolean {
  try {
    const object = JSON.parse(text) as Record<string, unknown>
    if (Object.hasOwn(object, metric) || isObject(object.tasks)) return true
    return isObject(object.metrics) && Object.hasOwn(object.metrics, metric)
  } catch {
    return text.includes(JSON.stringify(metric)) || keyAt(text) >= 0
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
