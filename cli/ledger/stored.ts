/**
 * What a state has of a snapshot: maps and lists that read an entry when it is asked for. They look like the maps and arrays of a
 * state that was folded from the beginning, so nobody else knows which of the two it reads.
 */
import { experimentId } from '../paths.ts'
import { MAX_LINE, splitLines } from './append.ts'
import {
  type Created,
  type Event,
  FAIL_REASONS,
  FAILURE_CLASSES,
  type Judged,
  type JudgedStatus,
  type Noted,
  REJECT_REASONS,
  type Reason,
  STATUSES,
} from './events.ts'
import { PAGE, type Pages } from './pages.ts'
import {
  type Entries,
  type Experiment,
  type Experiments,
  emptyNumbers,
  type List,
  type Notes,
  NUMBERED,
  type Numbered,
  type NumbersOf,
  type Selected,
  type SPECIAL,
  type Traits,
  traitsOf,
} from './state.ts'

/** What no snapshot can hold: then there is none, and the ledger is folded. */
export class Unstorable extends Error {}

// ---------------------------------------------------------------- events, which a snapshot names by their place in the ledger

/** Where the line of an event begins, for events that were read. */
export const startOfLine = new WeakMap<object, number>()

interface PlaceOfEvent {
  $event: number
}

const isPlace = (value: object): value is PlaceOfEvent => '$event' in value

export class StoredLines {
  readonly #ledger: Pages

  constructor(ledger: Pages) {
    this.#ledger = ledger
  }

  /** The event whose line begins there. */
  at(place: number): Event {
    let whole = this.#ledger.read(place, 2048)
    // A line that two writers share is longer than any writer's.
    for (let most = MAX_LINE; !whole.includes(10) && place + whole.length < this.#ledger.size; most *= 2)
      whole = this.#ledger.read(place, most)
    const [line] = splitLines(whole.subarray(0, whole.indexOf(10) + 1), place)
    if (!line?.value) throw new Error(`the snapshot names an event at byte ${place}, and there is none`)
    startOfLine.set(line.value, place)
    return line.value as unknown as Event
  }

  /** The same value with the events that it names. */
  resolve(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => this.resolve(item))
    if (isPlace(value)) return this.at(value.$event)
    if ('$map' in value) return new Map(this.resolve(value.$map) as [string, unknown][])
    if ('$set' in value) return new Set(this.resolve(value.$set) as string[])
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.resolve(item)]))
  }
}

/** As JSON, with places for events. */
export const encode = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => {
    if (typeof item !== 'object' || item === null) return item
    const place = startOfLine.get(item)
    if (place !== undefined) return { $event: place }
    if (item instanceof Map) return { $map: [...item] }
    if (item instanceof Set) return { $set: [...item] }
    if ('$event' in item || '$map' in item || '$set' in item)
      throw new Unstorable('an object with a key of ours')
    return item
  })

// ---------------------------------------------------------------- tables of hashes

/** A number for each key; several keys may have one. */
export function keyHash(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

const SLOT = 16

/** Values of hashes, in the order in which they were added; who reads them looks whether the key is the right one. */
export class StoredTable {
  readonly #pages: Pages
  readonly #start: number
  readonly #slots: number

  constructor(pages: Pages, { start, bytes }: Place) {
    this.#pages = pages
    this.#start = start
    this.#slots = bytes / SLOT
  }

  *find(key: string): Generator<number> {
    const hash = keyHash(key)
    for (let at = hash % this.#slots; ; at = (at + 1) % this.#slots) {
      const slot = this.#pages.read(this.#start + at * SLOT, SLOT)
      const value = slot.readDoubleLE(8)
      if (value === 0) return
      if (slot.readUInt32LE(0) === hash) yield value - 1
    }
  }

  /** Of equal hashes, those that were added first come first. */
  *all(): Generator<{ hash: number; value: number }> {
    const slot = (at: number) => this.#pages.read(this.#start + (at % this.#slots) * SLOT, SLOT)
    let first = 0
    // A row of taken slots may go on at the beginning of the table.
    while (slot(first).readDoubleLE(8) !== 0) first++
    for (let at = first; at < first + this.#slots; at++) {
      const value = slot(at).readDoubleLE(8)
      if (value !== 0) yield { hash: slot(at).readUInt32LE(0), value: value - 1 }
    }
  }
}

/** At most half of its slots are taken. */
export function tableOf(entries: readonly { hash: number; value: number }[]): Buffer {
  const slots = 2 ** Math.ceil(Math.log2(2 * entries.length + 2))
  const table = Buffer.alloc(slots * SLOT)
  for (const { hash, value } of entries) {
    let at = hash % slots
    while (table.readDoubleLE(at * SLOT + 8) !== 0) at = (at + 1) % slots
    table.writeUInt32LE(hash, at * SLOT)
    table.writeDoubleLE(value + 1, at * SLOT + 8)
  }
  return table
}

/** A part of a snapshot. */
export interface Place {
  start: number
  bytes: number
}

const numbersIn = (pages: Pages, { start, bytes }: Place): Uint32Array => {
  const { buffer, byteOffset } = pages.read(start, bytes)
  return new Uint32Array(buffer as ArrayBuffer, byteOffset, bytes / 4)
}

/** Events by a key that each of them holds. */
export class StoredEvents<T extends Event> implements Entries<T> {
  readonly #table: StoredTable
  readonly #lines: StoredLines
  readonly #keyOf: (event: T) => string | undefined
  readonly #stored: number
  readonly added = new Map<string, T>()

  constructor(
    table: StoredTable,
    lines: StoredLines,
    stored: number,
    keyOf: (event: T) => string | undefined,
  ) {
    this.#table = table
    this.#lines = lines
    this.#stored = stored
    this.#keyOf = keyOf
  }

  get size(): number {
    return this.#stored + this.added.size
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  get(key: string): T | undefined {
    const added = this.added.get(key)
    if (added !== undefined) return added
    for (const place of this.#table.find(key)) {
      const event = this.#lines.at(place) as T
      if (this.#keyOf(event) === key) return event
    }
    return undefined
  }

  set(key: string, event: T): void {
    this.added.set(key, event)
  }

  *keys(): IterableIterator<string> {
    for (const event of this.values()) yield this.#keyOf(event) ?? ''
  }

  /** In the order of the ledger. */
  *values(): IterableIterator<T> {
    const places = Array.from(this.#table.all(), ({ value }) => value).sort((a, b) => a - b)
    for (const place of places) yield this.#lines.at(place) as T
    yield* this.added.values()
  }

  entries(): { hash: number; value: number }[] {
    return [...this.#table.all(), ...hashed(this.added)]
  }
}

/** Keys of events and the places of their lines. */
export const hashed = (events: Entries<Event>): { hash: number; value: number }[] =>
  pairs(events).map(([key, event]) => ({ hash: keyHash(key), value: placeIn(event) }))

function pairs<V>(map: Entries<V>): [string, V][] {
  const values = [...map.values()]
  return Array.from(map.keys(), (key, at) => [key, values[at] as V])
}

function placeIn(event: object): number {
  const place = startOfLine.get(event)
  if (place === undefined) throw new Unstorable('an event that is in no ledger')
  return place
}

type Twin = { experiment: string; attempt: number }

/** Attempts of a twin that a number can hold beside its experiment. */
const ATTEMPTS = 65_536

/** Where each tree was judged. */
export class StoredTrees implements Entries<Twin[]> {
  readonly #table: StoredTable
  readonly #experiments: StoredExperiments
  readonly #stored: number
  readonly added = new Map<string, Twin[]>()

  constructor(table: StoredTable, experiments: StoredExperiments, stored: number) {
    this.#table = table
    this.#experiments = experiments
    this.#stored = stored
  }

  /** Of twins, not of trees: nobody counts these. */
  get size(): number {
    return this.#stored + this.added.size
  }

  has(tree: string): boolean {
    return this.get(tree) !== undefined
  }

  get(tree: string): Twin[] | undefined {
    const added = this.added.get(tree)
    if (added !== undefined) return added
    const found = this.stored(tree)
    return found.length > 0 ? found : undefined
  }

  stored(tree: string): Twin[] {
    return Array.from(this.#table.find(tree), (value) => ({
      experiment: this.#experiments.idAt(Math.floor(value / ATTEMPTS)),
      attempt: value % ATTEMPTS,
    })).filter(({ experiment, attempt }) => {
      const attempts = this.#experiments.get(experiment)?.attempts ?? []
      return attempts.some((one) => one.attempt === attempt && one.sealed.tree === tree)
    })
  }

  set(tree: string, twins: Twin[]): void {
    this.added.set(tree, twins)
  }

  keys(): IterableIterator<string> {
    throw new Error('no reader asks for all trees')
  }

  values(): IterableIterator<Twin[]> {
    throw new Error('no reader asks for all trees')
  }

  entries(indexOf: (id: string) => number): { hash: number; value: number }[] {
    const added = Array.from(
      this.added,
      ([tree, twins]) => [tree, twins.slice(this.stored(tree).length)] as const,
    )
    return [...this.#table.all(), ...twinsOf(new Map(added), indexOf)]
  }
}

export const twinsOf = (
  trees: Entries<Twin[]>,
  indexOf: (id: string) => number,
): { hash: number; value: number }[] =>
  pairs(trees).flatMap(([tree, twins]) =>
    twins.map(({ experiment, attempt }) => {
      if (attempt >= ATTEMPTS) throw new Unstorable('an attempt with so high a number')
      return { hash: keyHash(tree), value: indexOf(experiment) * ATTEMPTS + attempt }
    }),
  )

// ---------------------------------------------------------------- lists

const LIST_ROW = 16

/** What was in the list at the snapshot does not change any more, its last item apart. */
export class StoredList<T> implements List<T> {
  readonly #pages: Pages
  readonly #place: Place
  readonly #make: (read: () => unknown, tag: number) => T
  readonly stored: number
  readonly added: T[] = []
  #last: T | null = null

  /** `make`: an item of its stored form, which need not be read at once, and of the number that stands beside it. */
  constructor(pages: Pages, place: Place, make: (read: () => unknown, tag: number) => T) {
    this.#pages = pages
    this.#place = place
    this.#make = make
    this.stored = place.bytes / LIST_ROW
  }

  get length(): number {
    return this.stored + this.added.length
  }

  at(index: number): T | undefined {
    const at = index < 0 ? this.length + index : index
    if (at < 0 || at >= this.length) return undefined
    if (at >= this.stored) return this.added[at - this.stored]
    if (at === this.stored - 1) return this.last()
    return this.#read(at)
  }

  /** That was stored: a round may be open in it, so it is kept once it was read. */
  last(): T {
    this.#last ??= this.#read(this.stored - 1)
    return this.#last
  }

  /** As it is stored. */
  raw(at: number): { item: Buffer; tag: number } {
    const row = this.#row(at)
    return { item: this.#pages.read(row.readDoubleLE(0), row.readUInt32LE(8)), tag: row.readUInt32LE(12) }
  }

  /** The number that stands beside each stored item. */
  tags(): Uint32Array {
    const words = LIST_ROW / 4
    const rows = numbersIn(this.#pages, this.#place)
    const tags = new Uint32Array(this.stored)
    for (let at = 0; at < tags.length; at++) tags[at] = rows[at * words + 3] as number
    return tags
  }

  #row = (at: number): Buffer => this.#pages.read(this.#place.start + at * LIST_ROW, LIST_ROW)

  #read(at: number): T {
    return this.#make(() => JSON.parse(this.raw(at).item.toString()), this.#row(at).readUInt32LE(12))
  }

  push(...items: T[]): number {
    return this.added.push(...items) + this.stored
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let at = 0; at < this.length; at++) yield this.at(at) as T
  }

  findLast(is: (item: T) => unknown): T | undefined {
    for (let at = this.length - 1; at >= 0; at--) {
      const item = this.at(at) as T
      if (is(item)) return item
    }
    return undefined
  }
}

/** The row of an item of a list. */
export function listRow(start: number, bytes: number, tag: number): Buffer {
  const row = Buffer.alloc(LIST_ROW)
  row.writeDoubleLE(start, 0)
  row.writeUInt32LE(bytes, 8)
  row.writeUInt32LE(tag, 12)
  return row
}

const KINDS: readonly Noted['kind'][] = ['learning', 'infrastructure', 'note', 'objection']

/** The kind of a note and its experiment, which lists ask for. */
export function tagOfNote({ kind, experiment }: Noted, indexOf: (id: string) => number): number {
  const place = experiment === null ? 0 : indexOf(experiment) + 1
  return fits(place * KINDS.length + KINDS.indexOf(kind), 4)
}

/** Notes, of which the kinds are known without reading them. */
export class StoredNotes extends StoredList<Noted> implements Notes {
  placesOf(kind: Noted['kind']): number[] {
    const wanted = KINDS.indexOf(kind)
    const tags = this.tags()
    const places: number[] = []
    for (let at = 0; at < tags.length; at++)
      if ((tags[at] as number) % KINDS.length === wanted) places.push(at)
    for (const [at, note] of this.added.entries()) if (note.kind === kind) places.push(this.stored + at)
    return places
  }
}

export const noteOf = (
  lines: StoredLines,
  experiments: StoredExperiments,
): ((read: () => unknown, tag: number) => Noted) => {
  return (read, tag) =>
    new StoredNote(tag, experiments, () => lines.resolve(read()) as Noted) as unknown as Noted
}

// ---------------------------------------------------------------- experiments: columns of numbers for what lists ask of all of them, and a record for the rest

/** Of each experiment a number. One that may be null is stored plus one; of `value`, null is NaN. */
const COLUMNS = {
  ...{ value: Float64Array, record: Float64Array },
  ...{
    recordBytes: Uint32Array,
    hypothesisBytes: Uint32Array,
    number: Uint32Array,
    parent: Uint32Array,
    epoch: Uint32Array,
  },
  ...{ generation: Uint32Array, judgedSeq: Uint32Array, round: Uint32Array, tries: Uint32Array },
  ...{ bits: Uint32Array, lane: Uint16Array, depth: Uint16Array, used: Uint16Array, traits: Uint16Array },
  ...{ verdict: Uint8Array, reason: Uint8Array, failureClass: Uint8Array },
}

export type ColumnName = keyof typeof COLUMNS
type Numbers = Float64Array | Uint32Array | Uint16Array | Uint8Array

export const COLUMN_NAMES = Object.keys(COLUMNS) as ColumnName[]

/** Where a column begins: a number lies in one page. */
export const COLUMN_ALIGN = Float64Array.BYTES_PER_ELEMENT

/** A column that is read page by page, or at once. */
class Column {
  readonly #pages: Pages
  readonly #place: Place
  readonly #type: (typeof COLUMNS)[ColumnName]
  readonly #size: number
  readonly #views: (Numbers | undefined)[] = []
  #whole: Numbers | null = null

  constructor(pages: Pages, name: ColumnName, place: Place) {
    this.#pages = pages
    this.#place = place
    this.#type = COLUMNS[name]
    this.#size = this.#type.BYTES_PER_ELEMENT
  }

  get length(): number {
    return this.#place.bytes / this.#size
  }

  at(at: number): number {
    if (this.#whole) return this.#whole[at] ?? 0
    const place = this.#place.start + at * this.#size
    const page = Math.floor(place / PAGE)
    const view = this.#views[page] ?? this.#view(page)
    return view[(place - page * PAGE) / this.#size] ?? 0
  }

  #view(page: number): Numbers {
    const { buffer, byteOffset, length } = this.#pages.page(page)
    const view = new this.#type(buffer as ArrayBuffer, byteOffset, Math.floor(length / this.#size))
    this.#views[page] = view
    return view
  }

  /** All of it, as it is stored; nobody may change it. */
  all(): Numbers {
    if (this.#whole === null) {
      const { buffer, byteOffset } = this.#pages.readOnce(this.#place.start, this.#place.bytes)
      this.#whole = new this.#type(buffer as ArrayBuffer, byteOffset, this.length)
    }
    return this.#whole
  }
}

/** What is not the usual: then the record says it. */
const BIT = {
  created: 1,
  parents: 2,
  flagged: 4,
  lostTo: 8,
  why: 16,
  discardClass: 32,
  gates: 64,
  droppedGates: 128,
  annotations: 256,
  agent: 512,
  confirmed: 1024,
  heldOut: 2048,
  aborted: 4096,
  /** Of the verdict: a value that is not that of the experiment, and what many verdicts do not have. */
  otherValue: 8192,
  judgedGates: 16384,
  tasks: 32768,
  signature: 65536,
} as const

const REASONS: readonly Reason[] = ['improved', 'tie_broken', ...REJECT_REASONS, ...FAIL_REASONS]
const VERDICTS: readonly JudgedStatus[] = ['kept', 'rejected', 'failed']

/** Of an experiment, what is no number. Events are places. The hypothesis stands before it: it is read most. */
interface StoredRecord {
  created: PlaceOfEvent
  children: string[]
  attempts: unknown[]
  parents?: string[]
  flagged?: string
  lostTo?: string
  why?: string
  discard_class?: Experiment['discard_class']
  gates?: Experiment['gates']
  droppedGates?: string[]
  annotations?: unknown[]
  agent?: string
  /** Of its verdict. */
  signature?: string
}

/** Traits as a number. */
const numberOf = ({ status, answered, special, remarks, flagged, jobs, gates, root }: Traits): number =>
  STATUSES.indexOf(status) +
  (answered ? 8 : 0) +
  (special ? 16 : 0) +
  (remarks ? 32 : 0) +
  (flagged ? 64 : 0) +
  (jobs ? 128 : 0) +
  (gates ? 256 : 0) +
  (root ? 512 : 0)

const TRAITS: readonly Traits[] = Array.from({ length: 1024 }, (_, number) => ({
  status: STATUSES[number % 8] ?? 'open',
  answered: (number & 8) !== 0,
  special: (number & 16) !== 0,
  remarks: (number & 32) !== 0,
  flagged: (number & 64) !== 0,
  jobs: (number & 128) !== 0,
  gates: (number & 256) !== 0,
  root: (number & 512) !== 0,
}))

/** The places of experiments with the same traits, one group after the other. */
export interface TraitIndex {
  start: number
  /** `start`: behind that of the index. */
  groups: { traits: number; start: number; bytes: number }[]
}

/** The index of a column of traits. */
export function indexOfTraits(traits: ArrayLike<number>): { groups: TraitIndex['groups']; places: Buffer } {
  const found = new Map<number, number[]>()
  for (let at = 0; at < traits.length; at++) {
    const number = traits[at] ?? 0
    const places = found.get(number)
    if (places) places.push(at)
    else found.set(number, [at])
  }
  const groups: TraitIndex['groups'] = []
  let start = 0
  for (const [number, { length }] of found) {
    groups.push({ traits: number, start, bytes: 4 * length })
    start += 4 * length
  }
  return { groups, places: Buffer.from(Uint32Array.from([...found.values()].flat()).buffer) }
}

export class StoredExperiments implements Experiments {
  readonly #pages: Pages
  readonly #lines: StoredLines
  readonly #numbers: Place
  readonly #index: TraitIndex
  readonly #nodes: (StoredExperiment | undefined)[]
  readonly columns: Readonly<Record<ColumnName, Column>>
  readonly stored: number
  /** Places of those that may have been changed. */
  readonly touched = new Set<number>()
  readonly added = new Map<string, Experiment>()
  readonly #addedPlaces = new Map<string, number>()

  constructor(
    pages: Pages,
    parts: { columns: Record<ColumnName, Place>; index: TraitIndex; numbers: Place },
    lines: StoredLines,
  ) {
    const { columns } = parts
    this.#pages = pages
    this.#lines = lines
    this.#numbers = parts.numbers
    this.#index = parts.index
    const made = COLUMN_NAMES.map((name) => [name, new Column(pages, name, columns[name])])
    this.columns = Object.fromEntries(made) as Record<ColumnName, Column>
    this.stored = this.columns.number.length
    // An array that grows by places far apart would be a slow one.
    this.#nodes = new Array(this.stored)
  }

  get size(): number {
    return this.stored + this.added.size
  }

  /** -1 when it is not in the snapshot. */
  indexOf(id: string): number {
    const number = Number(id.slice(4))
    if (!Number.isSafeInteger(number) || number < 0 || number * 4 >= this.#numbers.bytes) return -1
    const at = this.#pages.read(this.#numbers.start + number * 4, 4).readUInt32LE(0) - 1
    return at >= 0 && this.idAt(at) === id ? at : -1
  }

  idAt(at: number): string {
    return experimentId(this.columns.number.at(at))
  }

  has(id: string): boolean {
    return this.added.has(id) || this.indexOf(id) !== -1
  }

  /** Who gets one may change it. */
  get(id: string): Experiment | undefined {
    const at = this.indexOf(id)
    if (at === -1) return this.added.get(id)
    const node = this.node(at)
    node.hold()
    return node
  }

  look(id: string): Experiment | undefined {
    const at = this.indexOf(id)
    return at === -1 ? this.added.get(id) : this.node(at)
  }

  set(id: string, node: Experiment): void {
    this.#addedPlaces.set(id, this.added.size)
    this.added.set(id, node)
  }

  *keys(): IterableIterator<string> {
    for (let at = 0; at < this.stored; at++) yield this.idAt(at)
    yield* this.added.keys()
  }

  *values(): IterableIterator<Experiment> {
    for (let at = 0; at < this.stored; at++) yield this.node(at)
    yield* this.added.values()
  }

  /** The traits of those that were touched are made of what they are now. */
  withTraits(is: (traits: Traits) => boolean): Experiment[] {
    return [...Array.from(this.#placesWith(is), (at) => this.node(at)), ...this.#addedWith(is)]
  }

  select(is: (traits: Traits) => boolean): Selected {
    return new StoredSelection(this, this.#placesWith(is), this.#addedWith(is))
  }

  #placesWith(is: (traits: Traits) => boolean): Uint32Array {
    if (TRAITS.every(is)) return placesUpTo(this.stored)
    const groups: Uint32Array[] = []
    for (const { traits, start, bytes } of this.#index.groups)
      if (is(TRAITS[traits] as Traits))
        groups.push(numbersIn(this.#pages, { start: this.#index.start + start, bytes }))
    const [only] = groups
    if (groups.length === 1 && only && this.touched.size === 0) return only
    const now = [...this.touched].filter((at) => is(traitsOf(this.node(at))))
    const places = new Uint32Array(groups.reduce((sum, { length }) => sum + length, now.length))
    let count = 0
    for (const group of groups) {
      const kept = this.touched.size === 0 ? group : group.filter((at) => !this.touched.has(at))
      places.set(kept, count)
      count += kept.length
    }
    places.set(now, count)
    return places.subarray(0, count + now.length).sort()
  }

  #addedWith = (is: (traits: Traits) => boolean): Experiment[] =>
    [...this.added.values()].filter((node) => is(traitsOf(node)))

  /** Another one for each experiment: its place, or that among those that were added. */
  keyOf(id: string): number {
    const at = this.indexOf(id)
    if (at !== -1) return at
    const added = this.#addedPlaces.get(id)
    return added === undefined ? -1 : this.stored + added
  }

  *newestFirst(): IterableIterator<Experiment> {
    yield* [...this.added.values()].reverse()
    for (let at = this.stored - 1; at >= 0; at--) yield this.node(at)
  }

  node(at: number): StoredExperiment {
    const known = this.#nodes[at]
    if (known !== undefined) return known
    const node = new StoredExperiment(this, this.#lines, at)
    this.#nodes[at] = node
    return node
  }

  /** With its hypothesis, as it is stored. */
  rawRecord(at: number): Buffer {
    return this.#pages.read(this.columns.record.at(at), this.columns.recordBytes.at(at))
  }

  hypothesis(at: number): string {
    const text = this.#pages.read(this.columns.record.at(at), this.columns.hypothesisBytes.at(at))
    return JSON.parse(text.toString()) as string
  }

  #read: { at: number; record: StoredRecord } | null = null

  /** The last one is remembered: a reader asks several things of one experiment. */
  record(at: number): StoredRecord {
    if (this.#read?.at !== at) {
      const text = this.rawRecord(at).subarray(this.columns.hypothesisBytes.at(at)).toString()
      this.#read = { at, record: JSON.parse(text) as StoredRecord }
    }
    return this.#read.record
  }
}

function placesUpTo(count: number): Uint32Array {
  const places = new Uint32Array(count)
  for (let at = 0; at < count; at++) places[at] = at
  return places
}

/** Where it is stored: these bits of the number, less this. */
interface StoredNumber {
  column: ColumnName
  bits?: { first: number; count: number }
  less?: number
}

const NUMBERED_COLUMNS: Record<Exclude<Numbered, 'key'>, StoredNumber> = {
  parent: { column: 'parent', less: 1 },
  value: { column: 'value' },
  epoch: { column: 'epoch' },
  tries: { column: 'tries' },
  number: { column: 'number' },
  judgedSeq: { column: 'judgedSeq', less: 1 },
  status: { column: 'traits', bits: { first: 0, count: 3 } },
  special: { column: 'traits', bits: { first: 4, count: 1 } },
  flagged: { column: 'traits', bits: { first: 6, count: 1 } },
  used: { column: 'used' },
  aborted: { column: 'bits', bits: { first: Math.log2(BIT.aborted), count: 1 } },
  failureClass: { column: 'failureClass', less: 1 },
}

class StoredSelection implements Selected {
  readonly #all: StoredExperiments
  readonly #places: Uint32Array
  readonly #added: readonly Experiment[]

  constructor(all: StoredExperiments, places: Uint32Array, added: readonly Experiment[]) {
    this.#all = all
    this.#places = places
    this.#added = added
  }

  get length(): number {
    return this.#places.length + this.#added.length
  }

  at(index: number): Experiment {
    const place = this.#places[index]
    return place === undefined
      ? (this.#added[index - this.#places.length] as Experiment)
      : this.#all.node(place)
  }

  keyOf(id: string): number {
    return this.#all.keyOf(id)
  }

  indexOf(id: string): number {
    const place = this.#all.indexOf(id)
    if (place === -1) {
      const at = this.#added.findIndex((node) => node.id === id)
      return at === -1 ? -1 : this.#places.length + at
    }
    let [low, high] = [0, this.#places.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#places[middle] as number) < place) low = middle + 1
      else high = middle
    }
    return this.#places[low] === place ? low : -1
  }

  numbers<N extends Numbered>(of: N): NumbersOf<N> {
    const places = this.#places
    const { touched } = this.#all
    if (
      of === 'value' &&
      places.length === this.#all.stored &&
      this.#added.length === 0 &&
      touched.size === 0
    )
      return this.#all.columns.value.all() as NumbersOf<N>
    const numbers = emptyNumbers(of, this.length)
    if (of === 'key') numbers.set(places)
    else this.#copy(NUMBERED_COLUMNS[of as Exclude<Numbered, 'key'>], numbers)
    const keyOf = (id: string) => this.keyOf(id)
    const fresh = (index: number) => NUMBERED[of](this.at(index), keyOf)
    for (let index = 0; touched.size > 0 && index < places.length; index++)
      if (touched.has(places[index] ?? -1)) numbers[index] = fresh(index)
    for (let index = places.length; index < numbers.length; index++) numbers[index] = fresh(index)
    return numbers
  }

  // Two plain loops: there may be very many, and a command that is over soon runs each of them once.
  #copy({ column, bits, less = 0 }: StoredNumber, numbers: Float64Array | Int32Array): void {
    const places = this.#places
    const stored = this.#all.columns[column].all()
    const { length } = places
    if (bits !== undefined) {
      const mask = 2 ** bits.count - 1
      for (let index = 0; index < length; index++)
        numbers[index] = ((stored[places[index] as number] as number) >> bits.first) & mask
    } else if (length === stored.length && less === 0) {
      numbers.set(stored)
    } else {
      for (let index = 0; index < length; index++)
        numbers[index] = (stored[places[index] as number] as number) - less
    }
  }
}

const orNull = (stored: number): number | null => (stored === 0 ? null : stored - 1)

/** What a record holds, with the events. Each is read at the first use, and is the experiment's own from then on. */
class Details {
  readonly record: StoredRecord
  readonly #lines: StoredLines

  constructor(record: StoredRecord, lines: StoredLines) {
    this.record = record
    this.#lines = lines
  }

  #attempts: Experiment['attempts'] | null = null
  get attempts(): Experiment['attempts'] {
    this.#attempts ??= this.#lines.resolve(this.record.attempts) as Experiment['attempts']
    return this.#attempts
  }

  #annotations: Experiment['annotations'] | null = null
  get annotations(): Experiment['annotations'] {
    this.#annotations ??= this.#lines.resolve(this.record.annotations ?? []) as Experiment['annotations']
    return this.#annotations
  }
}

type Own = Partial<Experiment> & { details: Details }

/** Reads from its row and its record what was not changed since. */
class StoredExperiment implements Experiment {
  readonly #all: StoredExperiments
  readonly #lines: StoredLines
  readonly at: number
  readonly #bits: number
  #held = false
  #own: Own | null = null

  constructor(all: StoredExperiments, lines: StoredLines, at: number) {
    this.#all = all
    this.#lines = lines
    this.at = at
    this.#bits = all.columns.bits.at(at)
  }

  /** From now on it remembers what was read of it, so that a change of that is one of the experiment. */
  hold(): void {
    this.#held = true
  }

  /** Whether it may have been changed. */
  get isTouched(): boolean {
    return this.#own !== null
  }

  #details(): Details {
    if (this.#own) return this.#own.details
    const details = new Details(this.#all.record(this.at), this.#lines)
    if (this.#held) this.#take(details)
    return details
  }

  #change<K extends keyof Experiment>(field: K, value: Experiment[K]): void {
    const own: Partial<Experiment> = this.#own ?? this.#take(this.#details())
    own[field] = value
  }

  #take(details: Details): Own {
    this.#own ??= { details }
    this.#all.touched.add(this.at)
    return this.#own
  }

  /** Its value in its column. */
  storedValue(): number | null {
    const value = this.#all.columns.value.at(this.at)
    return Number.isNaN(value) ? null : value
  }

  has(bit: number): boolean {
    return (this.#bits & bit) !== 0
  }

  get id(): string {
    return this.#all.idAt(this.at)
  }

  get parent(): string | null {
    const at = orNull(this.#all.columns.parent.at(this.at))
    return at === null ? null : this.#all.idAt(at)
  }

  get parents(): readonly string[] {
    if (this.has(BIT.parents)) return this.#details().record.parents ?? []
    const { parent } = this
    return parent === null ? [] : [parent]
  }

  get generation(): number {
    return this.#all.columns.generation.at(this.at)
  }

  get children(): string[] {
    return this.#details().record.children
  }

  get status(): Experiment['status'] {
    return this.#own?.status ?? STATUSES[this.#all.columns.traits.at(this.at) % 8] ?? 'open'
  }
  set status(status) {
    this.#change('status', status)
  }

  get hypothesis(): string {
    return this.#own?.hypothesis ?? this.#all.hypothesis(this.at)
  }
  set hypothesis(text) {
    this.#change('hypothesis', text)
  }

  get created(): Created {
    return this.has(BIT.created) ? this.createdLine() : (new StoredCreated(this) as unknown as Created)
  }

  createdLine(): Created {
    return this.#lines.at(this.#details().record.created.$event) as Created
  }

  /** Of its verdict. */
  signature(): string | null {
    return this.has(BIT.signature) ? (this.#details().record.signature ?? null) : null
  }

  judgedLine(): Judged {
    return this.attempts.findLast((one) => one.judged)?.judged as Judged
  }

  /** As it is in its column. */
  number(field: 'round' | 'lane' | 'depth'): number | null {
    return orNull(this.#all.columns[field].at(this.at))
  }

  word<T>(field: 'verdict' | 'reason' | 'failureClass', words: readonly T[]): T | null {
    return words[this.#all.columns[field].at(this.at) - 1] ?? null
  }

  get attempts(): Experiment['attempts'] {
    return this.#details().attempts
  }

  get verdict(): Judged | null {
    if (this.#own?.verdict !== undefined) return this.#own.verdict
    if (this.#all.columns.verdict.at(this.at) === 0) return null
    return this.has(BIT.aborted) ? this.judgedLine() : (new StoredVerdict(this) as unknown as Judged)
  }
  set verdict(judged) {
    this.#change('verdict', judged)
  }

  get used(): number {
    return this.#own?.used ?? this.#all.columns.used.at(this.at)
  }
  set used(count) {
    this.#change('used', count)
  }

  get tries(): number {
    return this.#own?.tries ?? this.#all.columns.tries.at(this.at)
  }
  set tries(count) {
    this.#change('tries', count)
  }

  get value(): number | null {
    return this.#own?.value !== undefined ? this.#own.value : this.storedValue()
  }
  set value(value) {
    this.#change('value', value)
  }

  get epoch(): number {
    return this.#own?.epoch ?? this.#all.columns.epoch.at(this.at)
  }
  set epoch(epoch) {
    this.#change('epoch', epoch)
  }

  get gates(): Experiment['gates'] {
    if (this.#own?.gates) return this.#own.gates
    if (!this.#held && !this.has(BIT.gates)) return []
    const { record } = this.#details()
    record.gates ??= []
    return record.gates
  }
  set gates(gates) {
    this.#change('gates', gates)
  }

  get droppedGates(): string[] {
    if (this.#own?.droppedGates) return this.#own.droppedGates
    if (!this.#held && !this.has(BIT.droppedGates)) return []
    const { record } = this.#details()
    record.droppedGates ??= []
    return record.droppedGates
  }
  set droppedGates(names) {
    this.#change('droppedGates', names)
  }

  get annotations(): Experiment['annotations'] {
    return this.#held || this.has(BIT.annotations) ? this.#details().annotations : []
  }

  get flagged(): string | null {
    if (this.#own?.flagged !== undefined) return this.#own.flagged
    return this.has(BIT.flagged) ? (this.#details().record.flagged ?? null) : null
  }
  set flagged(doubt) {
    this.#change('flagged', doubt)
  }

  get lostTo(): string | null {
    if (this.#own?.lostTo !== undefined) return this.#own.lostTo
    return this.has(BIT.lostTo) ? (this.#details().record.lostTo ?? null) : null
  }
  set lostTo(other) {
    this.#change('lostTo', other)
  }

  get why(): string | null {
    if (this.#own?.why !== undefined) return this.#own.why
    return this.has(BIT.why) ? (this.#details().record.why ?? null) : null
  }
  set why(why) {
    this.#change('why', why)
  }

  get discard_class(): Experiment['discard_class'] {
    if (this.#own?.discard_class !== undefined) return this.#own.discard_class
    return this.has(BIT.discardClass) ? (this.#details().record.discard_class ?? null) : null
  }
  set discard_class(why) {
    this.#change('discard_class', why)
  }

  get judgedSeq(): number | null {
    return this.#own?.judgedSeq ?? orNull(this.#all.columns.judgedSeq.at(this.at))
  }
  set judgedSeq(seq) {
    this.#change('judgedSeq', seq)
  }

  get agent(): string | undefined {
    if (this.#own?.agent !== undefined) return this.#own.agent
    return this.has(BIT.agent) ? this.#details().record.agent : undefined
  }
  set agent(name: string) {
    this.#change('agent', name)
  }
}

/** An event of which a row tells what lists ask for. The rest is read from its line. */
abstract class StoredEvent<T extends object> {
  protected abstract line(): T
  #read: T | null = null

  toJSON(): T {
    this.#read ??= this.line()
    return this.#read
  }
}

class StoredCreated extends StoredEvent<Created> {
  readonly #of: StoredExperiment

  constructor(of: StoredExperiment) {
    super()
    this.#of = of
  }

  protected line(): Created {
    return this.#of.createdLine()
  }

  get experiment(): string {
    return this.#of.id
  }
  get parent(): string | null {
    return this.#of.parent
  }
  get round(): number | null {
    return this.#of.number('round')
  }
  get lane(): number | null {
    return this.#of.number('lane')
  }
  get depth(): number | null {
    return this.#of.number('depth')
  }
}

class StoredVerdict extends StoredEvent<Judged> {
  readonly #of: StoredExperiment

  constructor(of: StoredExperiment) {
    super()
    this.#of = of
  }

  protected line(): Judged {
    return this.#of.judgedLine()
  }

  get experiment(): string {
    return this.#of.id
  }
  get status(): JudgedStatus | null {
    return this.#of.word('verdict', VERDICTS)
  }
  get reason(): Reason | null {
    return this.#of.word('reason', REASONS)
  }
  get failure_class(): Judged['failure_class'] {
    return this.#of.word('failureClass', FAILURE_CLASSES)
  }
  get confirmed(): boolean {
    return this.#of.has(BIT.confirmed)
  }
  get held_out(): true | undefined {
    return this.#of.has(BIT.heldOut) || undefined
  }
  get value(): number | null {
    return this.#of.has(BIT.otherValue) ? this.toJSON().value : this.#of.storedValue()
  }
  get gates(): Judged['gates'] {
    return this.#of.has(BIT.judgedGates) ? this.toJSON().gates : []
  }
  get tasks(): Judged['tasks'] {
    return this.#of.has(BIT.tasks) ? this.toJSON().tasks : null
  }
  get signature(): string | null {
    return this.#of.signature()
  }
}

class StoredNote extends StoredEvent<Noted> {
  readonly #tag: number
  readonly #experiments: StoredExperiments
  readonly #whole: () => Noted

  constructor(tag: number, experiments: StoredExperiments, whole: () => Noted) {
    super()
    this.#tag = tag
    this.#experiments = experiments
    this.#whole = whole
  }

  protected line(): Noted {
    return this.#whole()
  }

  get kind(): Noted['kind'] | undefined {
    return KINDS[this.#tag % KINDS.length]
  }
  get experiment(): string | null {
    const at = orNull(Math.floor(this.#tag / KINDS.length))
    return at === null ? null : this.#experiments.idAt(at)
  }
}

/** Reads these fields from the line of the event. */
function fromLine<T extends object>(of: { prototype: StoredEvent<T> }, fields: readonly string[]): void {
  for (const field of fields)
    Object.defineProperty(of.prototype, field, {
      get(this: StoredEvent<T>) {
        return this.toJSON()[field as keyof T]
      },
    })
}

// Complete by type: a field that is forgotten here would be absent.
fromLine(
  StoredCreated,
  Object.keys({ v: true, id: true, at: true, key: true, type: true, hypothesis: true } satisfies Record<
    Exclude<keyof Created, keyof StoredCreated | (typeof SPECIAL)[number]>,
    true
  >),
)
fromLine(
  StoredNote,
  Object.keys({ v: true, id: true, at: true, key: true, type: true, text: true } satisfies Record<
    Exclude<keyof Noted, keyof StoredNote>,
    true
  >),
)
fromLine(
  StoredVerdict,
  Object.keys({
    ...{ v: true, id: true, at: true, key: true, type: true, attempt: true, parent_value: true },
    ...{ improvement: true, improvement_abs: true, interval: true, samples: true, against: true },
    ...{ metrics: true, same_as: true, artifacts: true, message: true, calibration: true, steps: true },
    ...{ differences: true, varied: true, lost_to: true, doubt: true, lasting_doubt: true },
    ...{ wall_ms: true, machine: true },
  } satisfies Record<Exclude<keyof Judged, keyof StoredVerdict | 'aborted'>, true>),
)

// ---------------------------------------------------------------- writing

/** An unsigned number in so many bytes, plus one when null is stored as 0. */
function fits(value: number, bytes: number): number {
  if (!Number.isSafeInteger(value) || value < 0 || value >= 2 ** (8 * bytes))
    throw new Unstorable(`the number ${value}`)
  return value
}

/** All but where its record is: that is known when it was written. */
export function encodeExperiment(
  node: Experiment,
  indexOf: (id: string) => number,
): { numbers: Record<Exclude<ColumnName, 'record' | 'recordBytes'>, number>; record: string } {
  if (experimentId(Number(node.id.slice(4))) !== node.id) throw new Unstorable(`the id ${node.id}`)
  const { created, verdict, parents } = node
  const usual = parents.length === (node.parent === null ? 0 : 1) && (parents[0] ?? null) === node.parent
  const traits = traitsOf(node)
  const begun = created instanceof StoredCreated ? created.toJSON() : created
  placeIn(begun)
  const record: Omit<StoredRecord, 'created'> & { created: object } = {
    created: begun,
    children: node.children,
    attempts: node.attempts,
    ...(usual ? {} : { parents: [...parents] }),
    ...(node.flagged === null ? {} : { flagged: node.flagged }),
    ...(node.lostTo === null ? {} : { lostTo: node.lostTo }),
    ...(node.why === null ? {} : { why: node.why }),
    ...(node.discard_class === null ? {} : { discard_class: node.discard_class }),
    ...(node.gates.length === 0 ? {} : { gates: node.gates }),
    ...(node.droppedGates.length === 0 ? {} : { droppedGates: node.droppedGates }),
    ...(node.annotations.length === 0 ? {} : { annotations: node.annotations }),
    ...(node.agent === undefined ? {} : { agent: node.agent }),
    ...(verdict === null || verdict.signature === null ? {} : { signature: verdict.signature }),
  }
  const bits =
    (traits.special ? BIT.created : 0) |
    (usual ? 0 : BIT.parents) |
    (node.flagged === null ? 0 : BIT.flagged) |
    (node.lostTo === null ? 0 : BIT.lostTo) |
    (node.why === null ? 0 : BIT.why) |
    (node.discard_class === null ? 0 : BIT.discardClass) |
    (node.gates.length === 0 ? 0 : BIT.gates) |
    (node.droppedGates.length === 0 ? 0 : BIT.droppedGates) |
    (node.annotations.length === 0 ? 0 : BIT.annotations) |
    (node.agent === undefined ? 0 : BIT.agent) |
    (verdict?.confirmed ? BIT.confirmed : 0) |
    (verdict?.held_out ? BIT.heldOut : 0) |
    (verdict?.aborted ? BIT.aborted : 0) |
    (verdict && verdict.value !== node.value ? BIT.otherValue : 0) |
    (verdict && verdict.gates.length > 0 ? BIT.judgedGates : 0) |
    (verdict && verdict.tasks !== null ? BIT.tasks : 0) |
    (verdict && verdict.signature !== null ? BIT.signature : 0)
  const next = (value: number | null) => (value === null ? 0 : value + 1)
  const numbers = {
    value: node.value ?? Number.NaN,
    number: fits(Number(node.id.slice(4)), 4),
    parent: node.parent === null ? 0 : indexOf(node.parent) + 1,
    epoch: fits(node.epoch, 4),
    generation: fits(node.generation, 4),
    judgedSeq: fits(next(node.judgedSeq), 4),
    round: fits(next(created.round), 4),
    lane: fits(next(created.lane), 2),
    depth: fits(next(created.depth), 2),
    verdict: indexIn(VERDICTS, verdict?.status ?? null),
    reason: indexIn(REASONS, verdict?.reason ?? null),
    failureClass: indexIn(FAILURE_CLASSES, verdict?.failure_class ?? null),
    used: fits(node.used, 2),
    tries: fits(node.tries, 4),
    traits: numberOf(traits),
    bits,
  }
  const hypothesis = JSON.stringify(node.hypothesis)
  return {
    numbers: { ...numbers, hypothesisBytes: Buffer.byteLength(hypothesis) },
    record: hypothesis + encode(record),
  }
}

/** A column as it was stored, with room for those that were added. */
export const columnOf = (name: ColumnName, count: number, stored: StoredExperiments | null): Numbers => {
  const column = new COLUMNS[name](count)
  if (stored) column.set(stored.columns[name].all())
  return column
}

function indexIn<T>(list: readonly T[], item: T | null): number {
  const at = item === null ? 0 : list.indexOf(item) + 1
  if (item !== null && at === 0) throw new Unstorable(`the word ${item}`)
  return at
}
