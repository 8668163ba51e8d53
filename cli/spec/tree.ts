import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, visit, type YAMLMap } from 'yaml'
import type { Issue } from '../result/issues.ts'
import type { Written } from './scalar.ts'

/** More values than any spec needs; aliases of aliases would let a small file stand for billions. */
const MOST_VALUES = 10_000

export interface Span {
  from: number
  to: number
}

/** One entry of a mapping: where its name stands, and its value. */
export interface MappingEntry {
  name: string
  key: Span
  value: Node | null
}

/**
 * The YAML tree, as the walker reads it: aliases are followed, merge keys (`<<`) are taken in, and each value that
 * is looked at counts against a limit.
 */
export class Tree {
  readonly issues: Issue[] = []
  readonly text: string
  #targets = new Map<Node, Node | null>()
  #left = MOST_VALUES

  constructor(document: Document, text: string) {
    this.text = text
    const anchors = new Map<string, Node>()
    visit(document, {
      Node: (_, node) => {
        if (isAlias(node)) this.#targets.set(node, anchors.get(node.source) ?? null)
        else if (node.anchor !== undefined) anchors.set(node.anchor, node)
      },
    })
  }

  report(span: Span, message: string, hint: string): void {
    this.issues.push({ ...span, message, hint })
  }

  /** What an alias stands for; null = nothing, and if that is a fault, it is reported. */
  follow(value: unknown): Node | null {
    if (--this.#left < 0) {
      if (this.#left === -1) {
        const hint = 'use fewer aliases (*name)'
        this.report({ from: 0, to: 1 }, `the spec stands for more than ${MOST_VALUES} values`, hint)
      }
      return null
    }
    if (!isNode(value)) return null
    if (!isAlias(value)) return value
    const target = this.#targets.get(value) ?? null
    if (target === null) {
      this.report(
        spanOf(value),
        `no anchor is called \`${value.source}\``,
        `write &${value.source} before its value`,
      )
    }
    return target
  }

  get exhausted(): boolean {
    return this.#left < 0
  }

  /** The entries in document order; what is merged in comes last. A name that is there twice is reported. */
  entries(node: YAMLMap, name: string): MappingEntry[] {
    const own = new Map<string, MappingEntry>()
    const merged: unknown[] = []
    for (const pair of node.items) {
      const key = isNode(pair.key) ? pair.key : null
      const span = key ? spanOf(key) : spanOf(node)
      if (
        !isScalar(key) ||
        typeof key.value === 'symbol' ||
        key.value === null ||
        typeof key.value === 'object'
      ) {
        this.report(span, `a key of ${name} is not a word`, 'write key: value')
        continue
      }
      const word = String(key.value)
      const value = isNode(pair.value) ? pair.value : null
      if (word === '<<' && key.type === 'PLAIN') {
        merged.push(value)
        continue
      }
      const first = own.get(word)
      if (first) {
        const line = this.text.slice(0, first.key.from).split('\n').length
        this.report(span, `\`${word}\` is there twice`, `the first is on line ${line}: keep one of them`)
      } else {
        own.set(word, { name: word, key: span, value })
      }
    }
    for (const value of merged) this.#merge(value, own, name)
    return [...own.values()]
  }

  #merge(value: unknown, own: Map<string, MappingEntry>, name: string): void {
    const source = this.follow(value)
    const maps = isSeq(source) ? source.items.map((item) => this.follow(item)) : [source]
    for (const map of maps) {
      if (!isMap(map)) {
        if (!this.exhausted && isNode(value)) {
          this.report(spanOf(value), '`<<` takes a mapping or a list of them', 'write <<: *name')
        }
        continue
      }
      for (const entry of this.entriesOnce(map, name)) {
        if (!own.has(entry.name)) own.set(entry.name, entry)
      }
    }
  }

  #merging = new Set<YAMLMap>()
  /** A mapping that merges itself in adds nothing. */
  entriesOnce(map: YAMLMap, name: string): MappingEntry[] {
    if (this.#merging.has(map) || this.exhausted) return []
    this.#merging.add(map)
    const found = this.entries(map, name)
    this.#merging.delete(map)
    return found
  }
}

/** Where a node stands, without what follows it. */
export function spanOf(node: Node): Span {
  const [from, to] = node.range ?? [0, 1, 1]
  return { from, to }
}

export function writtenOf(node: Node | null): Written {
  if (isMap(node)) return { form: 'mapping' }
  if (isSeq(node)) return { form: 'list' }
  if (!isScalar(node)) return { form: 'nothing' }
  const { value } = node
  if (typeof value === 'string') return { form: 'text', value }
  if (typeof value === 'number') return { form: 'number', value }
  if (typeof value === 'boolean') return { form: 'boolean', value }
  return { form: 'nothing' }
}
