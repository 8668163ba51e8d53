/**
 * Where the numbers stand: finds each declared parameter in the text of its file, and writes new values there
 * without touching any other byte. Pure; `files.ts` does the reading and writing.
 */

import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fail, ok, type Result } from '../../result.ts'
import type { TuneParameter } from './space.ts'

// ----------------------------------------------------------------
// Finds a value in JSON text without parsing it into objects, so that it can be replaced where it stands.

/**
 * Start and end of the value at `pointer` (RFC 6901); null when there is none or the text is not JSON up to there.
 * Of a repeated key the last one counts, as in `JSON.parse`.
 */
export function numberSpan(json: string, pointer: string): [number, number] | null {
  const path = pointer === '' ? [] : pointer.slice(1).split('/')
  if (pointer !== '' && !pointer.startsWith('/')) return null
  const keys = path.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  let span: [number, number] | null = [0, json.length]
  for (const key of keys) {
    span = member(json, span[0], key)
    if (!span) return null
  }
  const value = skipSpace(json, span[0])
  const end = skipValue(json, value)
  return end === null ? null : [value, end]
}

/** The span of one member of the object or array that starts at `from`. */
function member(json: string, from: number, key: string): [number, number] | null {
  let at = skipSpace(json, from)
  const opening = json[at]
  if (opening !== '{' && opening !== '[') return null
  let found: [number, number] | null = null
  at = skipSpace(json, at + 1)
  for (let index = 0; at < json.length && json[at] !== '}' && json[at] !== ']'; index++) {
    let name = String(index)
    if (opening === '{') {
      const end = skipValue(json, at)
      if (end === null) return null
      name = text(json.slice(at, end))
      at = skipSpace(json, end)
      if (json[at] !== ':') return null
      at = skipSpace(json, at + 1)
    }
    const end = skipValue(json, at)
    if (end === null) return null
    if (name === key) found = [at, end]
    at = skipSpace(json, end)
    if (json[at] === ',') at = skipSpace(json, at + 1)
  }
  return found
}

/** The end of the value that starts at `from`; brackets are counted, so depth costs no stack. */
function skipValue(json: string, from: number): number | null {
  let depth = 0
  let at = from
  while (at < json.length) {
    const char = json[at] ?? ''
    if (char === '"') {
      at = endOfText(json, at)
    } else if (char === '{' || char === '[') {
      depth++
      at++
    } else if (char === '}' || char === ']') {
      if (depth === 0) return null
      depth--
      at++
    } else if (depth > 0) {
      at++
    } else {
      while (at < json.length && !/[\s,:[\]{}"]/.test(json[at] ?? '')) at++
      return at > from ? at : null
    }
    if (depth === 0) return at
  }
  return null
}

function endOfText(json: string, from: number): number {
  let at = from + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

function skipSpace(json: string, from: number): number {
  let at = from
  while (at < json.length && /\s/.test(json[at] ?? '')) at++
  return at
}

function text(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

/** A file's text by its declared name, null when there is no such file. */
export type Contents = (file: string) => string | null

interface Place {
  file: string
  start: number
  end: number
  value: number
}

/**
 * The values of all parameters, in their order.
 *
 * Errors: `parameter_not_found` (no such file, no match, more than one match, nothing at the pointer) and
 * `parameter_not_a_number`; each names the parameter and its file.
 */
export function parseParameters(contents: Contents, parameters: TuneParameter[]): Result<number[]> {
  const places = placesOf(contents, parameters)
  return places.ok ? ok(places.value.map((p) => p.value)) : places
}

/**
 * The new text of each file that changes. A parameter that keeps its value keeps its spelling.
 *
 * Errors: those of `parseParameters`, and `parameters_overlap` when two are one number.
 */
export function placeParameters(
  contents: Contents,
  parameters: TuneParameter[],
  values: number[],
): Result<Map<string, string>> {
  const places = placesOf(contents, parameters)
  if (!places.ok) return places
  const edits = places.value.map((place, i) => ({ ...place, next: values[i] ?? place.value }))
  edits.sort((a, b) => b.start - a.start)
  const texts = new Map<string, string>()
  const lowest = new Map<string, number>()
  for (const { file, start, end, value, next } of edits) {
    if (end > (lowest.get(file) ?? Number.POSITIVE_INFINITY)) {
      return fail({
        kind: 'usage',
        code: 'parameters_overlap',
        message: `two tunable parameters are the same number in ${file}`,
        hint: 'give each parameter its own pattern or pointer',
        at: file,
      })
    }
    lowest.set(file, start)
    if (next === value) continue
    const text = texts.get(file) ?? contents(file) ?? ''
    texts.set(file, text.slice(0, start) + String(next) + text.slice(end))
  }
  return ok(texts)
}

/** The parameter's own name, else the last part of its pointer, else its file. */
export function nameOf(parameter: TuneParameter): string {
  return parameter.name ?? parameter.pointer?.split('/').at(-1) ?? parameter.file
}

function placesOf(contents: Contents, parameters: TuneParameter[]): Result<Place[]> {
  const places: Place[] = []
  for (const parameter of parameters) {
    const place = placeOf(contents, parameter)
    if (!place.ok) return place
    places.push(place.value)
  }
  return ok(places)
}

function placeOf(contents: Contents, parameter: TuneParameter): Result<Place> {
  const { file } = parameter
  const text = contents(file)
  if (text === null) return notFound(parameter, 'there is no such file in the worktree')
  const span =
    typeof parameter.pointer === 'string' ? pointerSpan(text, parameter) : groupSpan(text, parameter)
  if (!span.ok) return span
  const [start, end] = span.value
  const written = text.slice(start, end)
  const value = written.trim() === '' ? Number.NaN : Number(written)
  if (Number.isFinite(value)) return ok({ file, start, end, value })
  return fail({
    kind: 'usage',
    code: 'parameter_not_a_number',
    message: `the tunable parameter ${nameOf(parameter)} reads ${JSON.stringify(written.slice(0, 40))}, not a number`,
    hint: 'let the capture group or the pointer cover exactly one plain number',
    at: file,
  })
}

function pointerSpan(text: string, parameter: TuneParameter): Result<[number, number]> {
  const span = numberSpan(text, parameter.pointer ?? '')
  return span ? ok(span) : notFound(parameter, `nothing stands at the JSON pointer ${parameter.pointer}`)
}

function groupSpan(text: string, parameter: TuneParameter): Result<[number, number]> {
  const pattern = parameter.pattern ?? ''
  let matches: RegExpExecArray[]
  try {
    matches = [...text.matchAll(new RegExp(pattern, 'dgm'))]
  } catch (error) {
    return notFound(parameter, `the pattern is not a regular expression (${String(error)})`)
  }
  const span = matches[0]?.indices?.[1]
  if (matches.length > 1) return notFound(parameter, `the pattern ${pattern} matches ${matches.length} times`)
  return span ? ok(span) : notFound(parameter, `the pattern ${pattern} matches nothing`)
}

function notFound(parameter: TuneParameter, why: string): Result<never> {
  return fail({
    kind: 'usage',
    code: 'parameter_not_found',
    message: `cannot find the tunable parameter ${nameOf(parameter)} in ${parameter.file}: ${why}`,
    hint: 'a pattern must match exactly once, with the number as its one capture group; see agent.tune in the spec',
    at: parameter.file,
  })
}

// ---------------------------------------------------------------- reads and writes tunable parameters in the files of a folder

/** The values of all parameters as they stand in the files of `folder`, in their order. */
export function readParameters(folder: string, parameters: TuneParameter[]): Result<number[]> {
  return parseParameters(contentsOf(folder), parameters)
}

/** Writes the values; nothing is written unless all of them have their place. Answers the files that changed. */
export function writeParameters(
  folder: string,
  parameters: TuneParameter[],
  values: number[],
): Result<string[]> {
  const texts = placeParameters(contentsOf(folder), parameters, values)
  if (!texts.ok) return texts
  for (const [file, text] of texts.value) writeFileSync(join(folder, file), text)
  return ok([...texts.value.keys()])
}

/** A name that leads out of the folder, by `..` or by a link, counts as no such file. */
function contentsOf(folder: string): Contents {
  return (file) => {
    try {
      const path = realpathSync(join(folder, file))
      return path.startsWith(realpathSync(folder) + sep) ? readFileSync(path, 'utf8') : null
    } catch {
      return null
    }
  }
}
