/** A spec as its author wrote it, with settings on top: each key can be read as it is written, and compared. */
import { parseDocument } from 'yaml'
import { canonical, isRecord } from '../json.ts'
import { problemOf, type SourceText } from '../result/issues.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Key, Kind } from './kind.ts'
import { changeOf, findKey, type KeyChange, unchangeable, unknownKey } from './live.ts'
import { readYaml, sizeIssue } from './read.ts'
import { namesOf } from './scalar.ts'
import { type ReadSpec, SPEC } from './schema.ts'
import { compose, type Spec } from './spec.ts'
import type { Span } from './tree.ts'
import { walk } from './walk.ts'

/** By the path of a key: its value as a spec has it, as JSON; null takes it away. */
export type Settings = Readonly<Record<string, unknown>>

export interface WrittenSpec {
  spec: Spec
  /** The value of a key as it was read, for comparisons; null = absent. */
  read(path: string): unknown
  /** The value of a key as it is written, else its default; null = none. */
  written(path: string): unknown
  /** Whether somebody wrote it, or a part of it. */
  has(path: string): boolean
  /** Where a key stands in the text; without settings only. */
  placeOf(path: string): Span
}

/** Fails with `spec_invalid` like `readSpec`, whose rules hold for the whole. */
export function readWritten({ text, file }: SourceText, settings: Settings): Result<WrittenSpec> {
  const entries = Object.entries(settings)
  // It was read before, or is about to be: the reader reports what is wrong with it.
  const document = parseDocument(text, { merge: true, prettyErrors: false, uniqueKeys: false })
  const json: unknown = document.errors.length > 0 ? null : document.toJS({ maxAliasCount: -1 })
  for (const [path, value] of entries) setAt(json, path.split('.'), value)
  const source = entries.length === 0 ? { text, file } : { text: JSON.stringify(json), file }
  const read = readYaml(SPEC, source)
  if (!read.ok) return read
  const { value, placeOf } = read.value
  return ok({
    spec: compose(value),
    read: (path) => at(value, path) ?? null,
    written: (path) => at(json, path) ?? defaultOf(value, path),
    has: (path) => at(json, path) !== undefined,
    placeOf: (path) => placeOf(path.split('.')),
  })
}

/** `{}` stands for all defaults of a mapping, which is empty to who wrote none. */
function defaultOf(read: ReadSpec, path: string): unknown {
  return at(read, path) == null ? null : (findKey(path)?.written ?? null)
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, step) => {
    return isRecord(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined
  }, value)
}

function setAt(json: unknown, [step, ...rest]: readonly string[], value: unknown): void {
  if (!isRecord(json) || step === undefined) return
  if (rest.length === 0) {
    if (value === null) delete json[step]
    else json[step] = value
    return
  }
  if (!isRecord(json[step])) {
    if (value === null) return
    json[step] = {}
  }
  setAt(json[step], rest, value)
}

// ---------------------------------------------------------------- which keys differ

/**
 * The keys in which two specs differ, each as deep as both have it: `agent.model`; but `agent` when only one has it. A
 * list is one value.
 */
export function differing(a: WrittenSpec, b: WrittenSpec): string[] {
  return Object.entries(SPEC.is === 'keys' ? SPEC.keys : {}).flatMap(([name, key]) => below(name, key, a, b))
}

function below(path: string, { kind, presence }: Key, a: WrittenSpec, b: WrittenSpec): string[] {
  if (presence === 'later') return []
  const [one, two] = [a.read(path), b.read(path)]
  if (canonical(one) === canonical(two)) return []
  if (!isRecord(one) || !isRecord(two)) return [path]
  if (kind.is === 'keys')
    return Object.entries(kind.keys).flatMap(([name, key]) => below(`${path}.${name}`, key, a, b))
  if (kind.is !== 'map') return [path]
  const names = new Set([...Object.keys(one), ...Object.keys(two)])
  return [...names].flatMap((name) => below(`${path}.${name}`, entryOf(kind.of), a, b))
}

const entryOf = (kind: Kind): Key => ({ kind, presence: 'optional', written: null, doc: '' })

/** The keys that may change while a run lives, each by itself: a list or the user's own names are one value. */
export function liveKeys({ read }: WrittenSpec): string[] {
  const found: string[] = []
  const add = (path: string, { kind, presence }: Key) => {
    if (presence === 'later' || changeOf(path) !== 'live') return
    if (kind.is === 'keys' && read(path) !== null)
      for (const [name, key] of Object.entries(kind.keys)) add(`${path}.${name}`, key)
    else found.push(path)
  }
  if (SPEC.is === 'keys') for (const [name, key] of Object.entries(SPEC.keys)) add(name, key)
  return found
}

// ---------------------------------------------------------------- one value from a command line

/**
 * The value of a key as JSON, from the text of a command line, under the rules that a spec has: text is taken as it is, all
 * else is read as YAML, and `none` takes away what may be absent (then null). Fails with `knob_unknown`, `key_frozen`,
 * `key_kept`, and `knob_invalid` with the place in the text.
 */
export function readSetting(path: string, text: string, others: readonly string[]): Result<unknown> {
  const key = findKey(path)
  if (key === null) return unknownKey(path, others)
  const change: KeyChange = changeOf(path)
  if (change !== 'live') return fail(unchangeable(path, change))
  if (key.kind.is === 'keys' && key.presence === 'default') {
    const [first] = namesOf(key.kind.keys)
    const message = `\`${path}\` is a group of keys, which are set one by one`
    const hint = `its keys are: ${namesOf(key.kind.keys).join(', ')}; write for example ${path}.${first}`
    return fail({ kind: 'usage', code: 'knob_invalid', message, hint })
  }
  if (key.presence === 'optional' && text.trim() === 'none') return ok(null)
  const source = { text: takesText(key.kind, text) ? JSON.stringify(text) : text, file: path }
  const unfit = sizeIssue(source.text)
  if (unfit) return fail(problemOf(source, [unfit], 'knob_invalid'))
  const document = parseDocument(source.text, { prettyErrors: false })
  const { issues } = walk(key.kind, document, source.text, path.split('.'))
  const broken = document.errors.map(({ message, pos: [from, to] }) => ({
    ...{ from, to, message: `${message} (YAML)` },
    hint: 'write the value as a spec has it, in one argument',
  }))
  const all = [...broken, ...issues]
  return all.length > 0 ? fail(problemOf(source, all, 'knob_invalid')) : ok(document.toJS())
}

/** A shell has taken the quotes away that YAML would need. */
function takesText(kind: Kind, text: string): boolean {
  if (kind.is === 'either') return !/^\s*[[{]/.test(text) && kind.of.some((one) => takesText(one, text))
  return kind.is === 'text' || kind.is === 'choice'
}
