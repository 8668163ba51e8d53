/**
 * Where the numbers stand: finds each declared parameter in the text of its file, and writes new values there
 * without touching any other byte. Pure; `files.ts` does the reading and writing.
 */

import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { type Node, type ParseError, parseTree } from 'jsonc-parser'
import { fail, ok, type Result } from '../../result.ts'
import type { TuneParameter } from './space.ts'

// ---------------------------------------------------------------- where a value stands in JSON text

/**
 * Start and end of the value at `pointer` (RFC 6901); null when there is none or the text is not JSON.
 * Of a repeated key the last one counts, as in `JSON.parse`.
 */
export function numberSpan(json: string, pointer: string): [number, number] | null {
  if (pointer !== '' && !pointer.startsWith('/')) return null
  const keys = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  let node = treeOf(json)
  for (const key of keys) node = node && memberOf(node, key)
  return node ? [node.offset, node.offset + node.length] : null
}

function treeOf(json: string): Node | undefined {
  const errors: ParseError[] = []
  try {
    const tree = parseTree(json, errors, { disallowComments: true })
    return errors.length === 0 ? tree : undefined
  } catch (error) {
    // Nested deeper than the parser's stack: no file of settings is.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const memberOf = ({ type, children = [] }: Node, key: string): Node | undefined =>
  type === 'array'
    ? children.find((_, index) => String(index) === key)
    : children.findLast((property) => property.children?.[0]?.value === key)?.children?.[1]

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
export function parameterName(parameter: TuneParameter): string {
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
    message: `the tunable parameter ${parameterName(parameter)} reads ${JSON.stringify(written.slice(0, 40))}, not a number`,
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
    message: `cannot find the tunable parameter ${parameterName(parameter)} in ${parameter.file}: ${why}`,
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
