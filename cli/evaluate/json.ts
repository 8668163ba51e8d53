/** JSON of a benchmark, read strictly. */
import { underflows } from './number.ts'

export type JsonObject = Record<string, unknown>
export type ReadJson = { ok: true; object: JsonObject } | { ok: false; reason: string }

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Some editors and shells put a byte order mark in front of a file; it says nothing. */
export const withoutMark = (text: string): string => (text.startsWith('\ufeff') ? text.slice(1) : text)

/**
 * Refuses what `JSON.parse` refuses, anything but an object, an object that has a key twice (which one counts?), and a
 * number that would be read as 0 and is none.
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
  const small = (text.match(TOKENS) ?? []).find((token) => NUMERIC.test(token) && underflows(token))
  if (small !== undefined) return refuse(`it has ${small}, which is too small for a number`)
  return { ok: true, object: value }
}

const refuse = (reason: string): ReadJson => ({ ok: false, reason })

/** A text that is never closed goes on to the end: to look for its end from each quote in it would take the square of the time. */
const TOKENS = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|-?\d[\d.eE+-]*|-?\b(?:NaN|nan|Infinity|inf)\b/g
const NUMERIC = /^-?\d/

/** What a program wrote where a number should be, and JSON has none: `NaN`, `-Infinity`, `1e-400`, `1e400`. */
export class NoNumber {
  readonly written: string
  constructor(written: string) {
    this.written = written
  }
}

const MARK = '\u0000assay:'

/**
 * Any JSON value of a tool's output, or why it is none. Numbers that JavaScript cannot hold become `NoNumber`, so that
 * one of them matters only to whom asks for it.
 */
export function readToolJson(written: string): { value: unknown } | { reason: string } {
  const text = withoutMark(written)
  const marked = text.replace(TOKENS, (token) => {
    if (token.startsWith('"')) return token
    const number = NUMERIC.test(token) && Number.isFinite(Number(token)) && !underflows(token)
    return number || (NUMERIC.test(token) && Number.isNaN(Number(token)))
      ? token
      : JSON.stringify(MARK + token)
  })
  try {
    const value: unknown = JSON.parse(marked, (_, member: unknown) =>
      typeof member === 'string' && member.startsWith(MARK)
        ? new NoNumber(member.slice(MARK.length))
        : member,
    )
    return { value }
  } catch (error) {
    return { reason: `it is not JSON: ${(error as Error).message}` }
  }
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
