/**
 * Secrets in foreign text become `[redacted <kind>]`: before anything is stored, shown or put into a prompt. A rule asks
 * for the shape of a credential, or for the name of one in front of a value that could be one; a hash, a UUID or base64
 * by itself is neither. Every pattern is bounded and begins at a literal, so the time is linear in the text.
 */

import { mixed, PLACEHOLDER, RULES, type Rule } from './redact/patterns.ts'

/** No match is longer, so a caller that streams a text needs no more of what went before or comes after. */
export const LONGEST_SECRET = 20_000

const QUANTITY = /^[-+]?(?:0x[0-9a-f]+|[\d.,_]+(?:e[-+]?\d+)?[a-z%µ/]{0,8})$/i

/** `NAME=value`, `"name": "value"`, `name: value`: what comes before the value names it. */
const ASSIGNMENT =
  /(?<before>(?<name>secret|token|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)(?<rest>[A-Za-z0-9_-]{0,40})\\?["']?[ \t]{0,3}(?:=>|:=|=|:)[ \t]{0,3}(?:(?:\u001b|\\u001b)\[[0-9;]{0,20}m){0,3}(?<quote>\\?["'`])?)(?<secret>[^\s"'`\\,;&<>(){}[\]|\u001b]{8,512})/gi

function namesSecret(secret: string, match: RegExpMatchArray, text: string): boolean {
  const { name = '', rest = '', quote, before = '' } = match.groups ?? {}
  // The round protocol's own, and no vendor's.
  if (/^token$/i.test(name) && rest === '' && /^[0-9a-f]{16}$/.test(secret)) return false
  // A call, an index, a counter, a place.
  const next = text[(match.index ?? 0) + match[0].length] ?? ''
  if ((next === '(' || next === '[') && quote === undefined) return false
  if (/^(?:s|ize|izer|ized)(?:_|$|[A-Z])/.test(rest) && /^token$/i.test(name)) return false
  if (/(?:file|path|dir|url|uri|name|type|count|length|len|size|_id|limit)$/i.test(rest)) return false
  if (QUANTITY.test(secret) || PLACEHOLDER.test(secret) || /^(?:\.{0,2}|~)\/\w[\w.-]*\//.test(secret))
    return false
  const word = /^[a-z_.-]+$/.test(secret) || /^[A-Z_.-]+$/.test(secret)
  const path = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(secret)
  if (quote === undefined && path) return false
  const strong = /^(?:passw|secret|passphrase)/i.test(name)
  const assigned = /^[A-Z_0-9-]+$/.test(name + rest) && before.endsWith('=')
  if (word) return strong && (assigned || quote !== undefined) && !/[_.]/.test(secret)
  return strong || quote !== undefined || /\d/.test(secret) || assigned
}

const NAMED: Rule = { kind: 'secret', hints: [], pattern: ASSIGNMENT, accepts: namesSecret }
/** A look for the names that costs less than the pattern. */
const NAMES = /secret|token|passw|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credential/i

/** The values of this process's run, longest first. Not pure, and the one thing here that is not. */
let remembered: { value: string; kind: string }[] = []

const SECRET_NAME =
  /secret|token(?!s)|passw(?:or)?d|passphrase|api_?key|access_?key|private_?key|credential|(?:^|_)(?:key|auth|pat|pwd|dsn)$/i
const PLACE_NAME = /_(?:file|path|dir|url|uri|name|type|id|sock)$/i

/**
 * From now on the values of variables that look secret by name are redacted wherever they stand, and so are values of
 * `file` that look random, whatever their name. Left alone: fewer than 8 characters, numbers, and plain words, which
 * stand in results and states as well.
 */
export function rememberSecrets(
  environment: Readonly<Record<string, string>>,
  file: readonly string[],
): void {
  const found = Object.entries(environment).flatMap(([name, value]) => {
    const plainWord = /^[a-z_.-]{1,15}$/.test(value) || QUANTITY.test(value) || /^[\d\s.:-]+$/.test(value)
    if (value.length < 8 || plainWord) return []
    const named = SECRET_NAME.test(name) && !PLACE_NAME.test(name) && !/^(?:\/|~\/)/.test(value)
    const random = file.includes(name) && /^[\w+/=.~-]{16,}$/.test(value) && mixed(value)
    return named || random ? [{ value, kind: name }] : []
  })
  remembered = found.sort((a, b) => b.value.length - a.value.length)
}

/** JSON text stays JSON text: what is replaced never holds a quote. `latin1`: the text holds one character a byte. */
export function redact(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  const pieces = secretsIn(text, encoding)
  if (pieces.length === 0) return text
  let safe = ''
  let from = 0
  for (const { start, end, kind } of pieces) {
    safe += `${text.slice(from, start)}[redacted ${kind}]`
    from = end
  }
  return safe + text.slice(from)
}

export interface FoundSecret {
  start: number
  end: number
  kind: string
}

/** Where secrets are, in order and apart from each other. */
export function secretsIn(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): FoundSecret[] {
  if (text.length < 8) return []
  const found: FoundSecret[] = []
  for (const { value, kind } of remembered) {
    for (const shape of shapes(value, encoding)) {
      for (let at = text.indexOf(shape); at !== -1; at = text.indexOf(shape, at + shape.length))
        found.push({ start: at, end: at + shape.length, kind })
    }
  }
  for (const rule of RULES) if (rule.hints.some((hint) => text.includes(hint))) collect(rule, text, found)
  if (NAMES.test(text)) collect(NAMED, text, found)
  if (found.length < 2) return found
  found.sort((a, b) => a.start - b.start || b.end - a.end)
  const apart: FoundSecret[] = []
  for (const one of found) {
    const last = apart.at(-1)
    if (last === undefined || one.start >= last.end) apart.push({ ...one })
    else last.end = Math.max(last.end, one.end)
  }
  return apart
}

/** Their surroundings alone give these away. */
const BY_SURROUNDINGS = ['secret', 'password', 'credentials']

/** Without what may well be none: code has many tokens, keys and passwords that are only called so. For refusing a text. */
export function certainSecretsIn(text: string): FoundSecret[] {
  return secretsIn(text).filter(({ kind, start, end }) => {
    const secret = text.slice(start, end)
    return !BY_SURROUNDINGS.includes(kind) || (secret.length >= 16 && mixed(secret) && /[a-z]/.test(secret))
  })
}

function collect({ kind, pattern, accepts }: Rule, text: string, found: FoundSecret[]): void {
  for (const match of text.matchAll(pattern)) {
    const { before = '', secret = '' } = match.groups ?? {}
    if (accepts && !accepts(secret, match, text)) continue
    const start = match.index + before.length
    found.push({ start, end: start + secret.length, kind })
  }
}

/** UTF-8, one character a byte. */
const bytesOf = (text: string): string =>
  encodeURIComponent(text).replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )

/** As it stands in text and inside JSON, where they differ. */
function shapes(value: string, encoding: 'utf8' | 'latin1'): string[] {
  const all = [...new Set([value, JSON.stringify(value).slice(1, -1)])]
  return encoding === 'utf8' ? all : all.map(bytesOf)
}

/** The same of every text in data that JSON can carry. What holds no secret stays the same object. */
export function redactIn<T>(value: T): T {
  const text = JSON.stringify(value)
  const safe = redact(text)
  return safe === text ? value : JSON.parse(safe)
}
