import {
  type Document,
  isMap,
  isNode,
  isScalar as isScalarNode,
  isSeq,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Issue } from '../result/issues.ts'
import type { Key, Kind, Report, Shape } from './kind.ts'
import { accepts, isScalar, mismatch, namesOf, negated, nounOf, readScalar, type Written } from './scalar.ts'
import { type MappingEntry, type Span, spanOf, Tree, writtenOf } from './tree.ts'
import { closest } from './words.ts'

/** What an absent key is read as: its default through the same reader as the user's own words, else null. */
function fill(key: Key): unknown {
  const { presence, unless, written } = key
  return presence === 'default' || (unless !== undefined && written !== null) ? read(key.kind, written) : null
}

function read(kind: Kind, written: Key['written']): unknown {
  if (kind.is === 'either') {
    const member = kind.of.find((one) => accepts(one, formOf(written).form))
    if (member) return read(member, written)
  }
  if (isScalar(kind)) {
    const scalar = readScalar(kind, formOf(written), 'a default', String(written))
    if ('value' in scalar) return scalar.value
  }
  if (kind.is === 'list' && Array.isArray(written)) return []
  if (kind.is === 'map') return {}
  if (kind.is === 'keys') {
    const entries = Object.entries(kind.keys).filter(([, key]) => key.presence !== 'later')
    return Object.fromEntries(entries.map(([name, key]) => [name, fill(key)]))
  }
  throw new Error(`a declared default does not hold: ${JSON.stringify(written)}`)
}

function formOf(written: Key['written']): Written {
  if (typeof written === 'string') return { form: 'text', value: written }
  if (typeof written === 'number') return { form: 'number', value: written }
  if (typeof written === 'boolean') return { form: 'boolean', value: written }
  return { form: Array.isArray(written) ? 'list' : 'mapping' }
}

export type Path = readonly (string | number)[]
type Outcome = { value: unknown } | null

export interface Walked<T> {
  /** null when some part of it could not be read. Only without issues is it what the user meant. */
  value: T | null
  issues: Issue[]
  /** Where the value at a path stands. */
  placeOf: (path: Path) => Span
}

/**
 * Reads a whole document as a kind, and reports everything that is wrong with it. `path`: where in a spec it would stand, for
 * the messages. Never throws.
 */
export function walk<T>(kind: Kind<T>, document: Document, text: string, path: Path = []): Walked<T> {
  const walker = new Walker(document, text)
  const outcome = walker.read(kind, document.contents, path, { from: 0, to: 1 })
  return {
    // The one cast: a declaration's type says what its own reader returns.
    value: outcome === null ? null : (outcome.value as T),
    issues: walker.tree.issues,
    placeOf: (path) => walker.placeOf(path),
  }
}

class Walker {
  readonly tree: Tree
  /** The keys at the top of the document. */
  readonly #top: ReadonlySet<string>
  #places = new Map<string, Span>()
  #scalars = new Map<string, unknown>()

  constructor(document: Document, text: string) {
    this.tree = new Tree(document, text)
    const { contents } = document
    this.#top = new Set(
      isMap(contents) ? contents.items.map(({ key }) => String(isScalarNode(key) ? key.value : key)) : [],
    )
  }

  /** The nearest enclosing value that stands in the text, since a default stands nowhere. */
  placeOf(path: Path): Span {
    for (let length = path.length; length >= 0; length--) {
      const place = this.#places.get(JSON.stringify(path.slice(0, length)))
      if (place) return place
    }
    return { from: 0, to: 1 }
  }

  /** `key` is where an absent value is reported. */
  read(kind: Kind, raw: unknown, path: Path, key: Span): Outcome {
    const node = this.tree.follow(raw)
    if (this.tree.exhausted || (node === null && isNode(raw))) return null
    const written = writtenOf(node)
    const place = isNode(raw) && written.form !== 'nothing' ? spanOf(raw) : key
    this.#places.set(JSON.stringify(path), place)
    if (node?.tag?.startsWith('!') && node.tag !== '!') return this.#tagged(kind, node.tag, place.from)

    if (kind.is === 'either') {
      const member = kind.of.find((one) => accepts(one, written.form))
      if (member) return this.#dispatch(member, node, path, key, place)
    }
    return this.#dispatch(kind, node, path, key, place)
  }

  #dispatch(kind: Kind, node: Node | null, path: Path, key: Span, place: Span): Outcome {
    const written = writtenOf(node)
    if (isScalar(kind)) {
      const source = node ? this.tree.text.slice(spanOf(node).from, spanOf(node).to) : ''
      const scalar = readScalar(kind, written, nameOf(path), source)
      if ('wrong' in scalar) return this.#wrong(place, scalar.wrong)
      this.#scalars.set(JSON.stringify(path), scalar.value)
      if (kind.is === 'text')
        kind.check?.((written.form === 'text' ? written.value : '') as never, this.#reporter(path))
      return scalar
    }
    if (kind.is === 'list' && isSeq(node)) return this.#list(kind, node, path, place)
    if (kind.is === 'map' && isMap(node)) return this.#map(kind, node, path)
    if (kind.is === 'keys' && isMap(node)) return this.#keys(kind, node, path, key)
    const source = node ? this.tree.text.slice(spanOf(node).from, spanOf(node).to).trim() : ''
    return this.#wrong(place, mismatch(kind, written, nameOf(path), source).wrong)
  }

  #list(kind: Extract<Shape, { is: 'list' }>, node: YAMLSeq, path: Path, place: Span): Outcome {
    const outcomes = node.items.map((item, index) =>
      this.read(kind.of, item, [...path, index], isNode(item) ? spanOf(item) : place),
    )
    if (node.items.length < kind.least) {
      const hint = `write at least ${kind.least === 1 ? 'one entry' : `${kind.least} entries`}`
      return this.#wrong(place, { message: `${nameOf(path)} is an empty list`, hint })
    }
    if (kind.unique !== null) this.#unique(kind.unique, outcomes.length, path)
    const read = outcomes.filter((outcome) => outcome !== null)
    if (read.length < outcomes.length) return null
    const value = read.map((outcome) => outcome.value)
    return { value }
  }

  /** Told even when other parts of the entries are wrong. */
  #unique(by: string, length: number, path: Path): void {
    const first = new Map<unknown, number>()
    for (let index = 0; index < length; index++) {
      const at = [...path, index, by]
      const value = this.#scalars.get(JSON.stringify(at))
      if (value === undefined) continue
      const earlier = first.get(value)
      if (earlier === undefined) first.set(value, index)
      else {
        const message = `${nameOf(at)} is ${JSON.stringify(value)} like that of entry ${earlier + 1}`
        this.tree.report(this.placeOf(at), message, 'give each entry its own')
      }
    }
  }

  #map(kind: Extract<Shape, { is: 'map' }>, node: YAMLMap, path: Path): Outcome {
    const names = new RegExp(kind.names, 'u')
    const entries = this.tree.entriesOnce(node, nameOf(path)).map((entry): [string, Outcome] => {
      if (!names.test(entry.name)) {
        this.tree.report(entry.key, `\`${entry.name}\` cannot be a name in ${nameOf(path)}`, kind.hint)
      }
      return [entry.name, this.read(kind.of, entry.value, [...path, entry.name], entry.key)]
    })
    if (entries.some(([, outcome]) => outcome === null)) return null
    return { value: Object.fromEntries(entries.map(([name, outcome]) => [name, outcome?.value])) }
  }

  #keys(kind: Extract<Shape, { is: 'keys' }>, node: YAMLMap, path: Path, key: Span): Outcome {
    const entries = this.tree.entriesOnce(node, nameOf(path))
    const given = new Map(entries.map((entry) => [entry.name, entry]))
    const meant = new Set<string>()
    for (const entry of entries) {
      if (!Object.hasOwn(kind.keys, entry.name)) {
        if (!kind.open) meant.add(this.#unknown(kind, entry, path) ?? '')
      } else if (kind.keys[entry.name]?.presence === 'later') {
        const message = `${nameOf([...path, entry.name])} comes later: this release does not read it`
        this.tree.report(entry.key, message, 'remove it')
      }
    }
    const value: [string, unknown][] = []
    let complete = true
    for (const [name, declared] of Object.entries(kind.keys)) {
      const entry = given.get(name)
      if (declared.presence === 'later') continue
      if (entry) {
        const outcome = this.read(declared.kind, entry.value, [...path, name], entry.key)
        if (outcome === null) complete = false
        else value.push([name, outcome.value])
      } else if (declared.presence === 'required' && !this.#top.has(declared.unless ?? '')) {
        complete = false
        if (meant.has(name)) continue
        const hint = `add \`${name}\`: ${nounOf(declared.kind)}. ${declared.doc}`
        this.tree.report(
          path.length === 0 ? { from: 0, to: 1 } : key,
          `${nameOf([...path, name])} is missing`,
          hint,
        )
      } else {
        value.push([name, fill(declared)])
      }
    }
    if (!complete) return null
    const read = Object.fromEntries(value)
    kind.check?.(read as never, this.#reporter(path))
    return { value: read }
  }

  /** The declared key that the user most likely meant. */
  #unknown(kind: Extract<Shape, { is: 'keys' }>, { name, key }: MappingEntry, path: Path): string | null {
    const allowed = namesOf(kind.keys)
    const near = closest(name, allowed)
    const hint = near === null ? `the keys are: ${allowed.join(', ')}` : `did you mean \`${near}\`?`
    this.tree.report(key, `\`${name}\` is not a key of ${nameOf(path)}`, hint)
    return near
  }

  #tagged(kind: Kind, tag: string, end: number): Outcome {
    const from = Math.max(0, this.tree.text.lastIndexOf(tag, end))
    const place = { from, to: from + tag.length }
    if (kind.is === 'text' && kind.noun === 'a glob') return this.#wrong(place, negated(tag))
    return this.#wrong(place, {
      message: `\`${tag}\` is a YAML tag, which a spec does not use`,
      hint: 'put quotes around text that begins with !',
    })
  }

  #wrong(place: Span, { message, hint }: { message: string; hint: string }): null {
    this.tree.report(place, message, hint)
    return null
  }

  #reporter(path: Path): Report {
    return (below, message, hint) => this.tree.report(this.placeOf([...path, ...below]), message, hint)
  }
}

/** `` `gates[1].name` `` */
function nameOf(path: Path): string {
  if (path.length === 0) return 'the spec'
  const steps = path.map((step, index) =>
    typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
  )
  return `\`${steps.join('')}\``
}
