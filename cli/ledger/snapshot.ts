/**
 * A snapshot of the fold beside the ledger: a cache, never truth. It holds what the fold made of the ledger's first bytes, so that a
 * command reads what it asks for and folds the rest. Texts of events are not in it: it names their places in the ledger. Whatever is not
 * as it was written (the file, the ledger, this program) makes it as if it were not there.
 *
 * One file: records of JSON, columns, tables, then the head as JSON, and at the very end where the head is.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fdatasyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { bestOf, knowBest } from './best.ts'
import type { Event, TaskAnswered } from './events.ts'
import { checksum, PAGE, Pages } from './pages.ts'
import type { Experiment, List, Round, State } from './state.ts'
import {
  COLUMN_ALIGN,
  COLUMN_NAMES,
  type ColumnName,
  columnOf,
  encode,
  encodeExperiment,
  hashed,
  indexOfTraits,
  listRow,
  noteOf,
  type Place,
  StoredEvents,
  StoredExperiments,
  StoredLines,
  StoredList,
  StoredNotes,
  StoredTable,
  StoredTrees,
  type TraitIndex,
  tableOf,
  tagOfNote,
  twinsOf,
  Unstorable,
} from './stored.ts'

/** Of the program: one with other rules would make a different state of the same lines. Numbers are stored as the machine has them. */
const BUILD = `${process.env.ASSAY_BUILD ?? 'unbuilt'} ${process.arch}`

const END = 'snapshot of Assay 1'
const TRAILER = 16 + END.length
/** Of the ledger, these bytes at the beginning and before the end of what was folded must be the same. */
const SEEN = { first: 4096, last: 32 * 1024 }

/** How far the ledger was read. */
export interface Folded {
  offset: number
  lines: number
}

interface Head extends Folded {
  build: string
  ledger: { inode: number; seen: string }
  best: string | null
  /** Of each page before the head. */
  sums: number[]
  /** The state without what is in the parts. */
  core: unknown
  stored: { keys: number; trees: number; answers: number }
  columns: Record<ColumnName, Place>
  index: TraitIndex
  parts: Record<Part, Place>
}

type Part = 'numbers' | 'rounds' | 'notes' | 'learnings' | 'keys' | 'answers' | 'trees'

export const snapshotOf = (ledger: string): string => `${ledger}.snapshot`

// ---------------------------------------------------------------- reading

/** null when there is none that holds. */
export function readSnapshot(ledger: string): { state: State; folded: Folded } | null {
  const file = snapshotOf(ledger)
  try {
    if (!statSync(file, { throwIfNoEntry: false })) return null
    const pages = new Pages(file)
    const head = headOf(pages)
    if (head?.build !== BUILD) return null
    pages.expect(Uint32Array.from(head.sums))
    const lines = new Pages(ledger)
    if (!isOf(head, lines)) return null
    return { state: stateOf(head, pages, new StoredLines(lines)), folded: head }
  } catch {
    // Half of it, or gone since.
    return null
  }
}

function headOf(pages: Pages): Head | null {
  const trailer = pages.read(pages.size - TRAILER, TRAILER)
  if (trailer.toString('latin1', 16) !== END) return null
  const text = pages.read(trailer.readUIntLE(0, 6), trailer.readUInt32LE(8))
  return checksum(text) === trailer.readUInt32LE(12) ? (JSON.parse(text.toString()) as Head) : null
}

/** Whether it was made of the first bytes of this very file. */
const isOf = ({ ledger, offset }: Head, file: Pages): boolean =>
  file.inode === ledger.inode && file.size >= offset && seenOf(file, offset) === ledger.seen

function seenOf(ledger: Pages, offset: number): string {
  const last = Math.min(SEEN.last, offset)
  const ends = [ledger.read(0, Math.min(SEEN.first, offset)), ledger.read(offset - last, last)]
  return ends.map((end) => checksum(end)).join(' ')
}

function stateOf(
  { core, best, stored, columns, index, parts }: Head,
  pages: Pages,
  lines: StoredLines,
): State {
  const table = (part: Part) => new StoredTable(pages, parts[part])
  const experiments = new StoredExperiments(pages, { columns, index, numbers: parts.numbers }, lines)
  const state = {
    ...(lines.resolve(core) as Core),
    experiments,
    rounds: new StoredList(pages, parts.rounds, (read) => lines.resolve(read()) as Round),
    notes: new StoredNotes(pages, parts.notes, noteOf(lines, experiments)),
    learnings: new StoredList(pages, parts.learnings, (read) => read() as string),
    keys: new StoredEvents<Event>(table('keys'), lines, stored.keys, ({ key }) => key),
    answers: new StoredEvents<TaskAnswered>(table('answers'), lines, stored.answers, ({ task }) => task),
    trees: new StoredTrees(table('trees'), experiments, stored.trees),
  }
  knowBest(state, best)
  return state
}

type Core = Omit<State, 'experiments' | 'rounds' | 'notes' | 'learnings' | 'keys' | 'answers' | 'trees'>

// ---------------------------------------------------------------- writing

/**
 * Writes the state that was folded so far, in place of an earlier snapshot: whole, or not at all. If it cannot be written, nothing is lost,
 * so no error is reported. `inode`: that of the ledger when its first line was read.
 */
export function writeSnapshot(ledger: string, inode: number, state: State, folded: Folded): void {
  const file = snapshotOf(ledger)
  const next = `${file}.${randomBytes(6).toString('hex')}.new`
  try {
    const source = new Pages(ledger)
    if (source.inode !== inode || source.size < folded.offset || isNewer(file, source, folded)) return
    removeLeft(file)
    const out = new Writer(next, source.mode & 0o777)
    try {
      write(out, state, folded, { inode, seen: seenOf(source, folded.offset) })
    } finally {
      out.close()
    }
    renameSync(next, file)
  } catch {
    // A full disk, a state that cannot be stored, a snapshot whose damage shows when it is copied: the ledger has everything.
    rmSync(next, { force: true })
  }
}

/** Whether the snapshot that is there holds more: a process that was long at work does not replace a newer one. */
function isNewer(file: string, ledger: Pages, { offset }: Folded): boolean {
  try {
    const head = headOf(new Pages(file))
    return head?.build === BUILD && head.offset > offset && isOf(head, ledger)
  } catch {
    // There is none, or half of one.
    return false
  }
}

/** What writers that were killed left. */
function removeLeft(file: string): void {
  const [folder, name] = [dirname(file), basename(file)]
  for (const one of readdirSync(folder)) {
    if (!one.startsWith(`${name}.`)) continue
    const path = join(folder, one)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > LEFT_AFTER_MS) rmSync(path, { force: true })
  }
}

/** No snapshot takes that long to write. */
const LEFT_AFTER_MS = 10 * 60_000

function write(out: Writer, state: State, folded: Folded, ledger: Head['ledger']): void {
  const { experiments, rounds, notes, learnings, keys, answers, trees, ...core } = state
  const order = new Map(Array.from(experiments.keys(), (id, at) => [id, at]))
  const indexOf = (id: string): number => {
    const at = order.get(id)
    if (at === undefined) throw new Unstorable(`no experiment ${id}`)
    return at
  }
  const numbers = columnsOf(out, experiments, indexOf)
  const lists = {
    rounds: listOf(out, rounds),
    notes: listOf(out, notes, (note) => tagOfNote(note, indexOf)),
    learnings: listOf(out, learnings),
  }
  const tables = {
    keys: keys instanceof StoredEvents ? keys.entries() : hashed(keys),
    answers: answers instanceof StoredEvents ? answers.entries() : hashed(answers),
    trees: trees instanceof StoredTrees ? trees.entries(indexOf) : twinsOf(trees, indexOf),
  }
  const part = (buffer: Buffer): Place => ({ start: out.align(PAGE).put(buffer), bytes: buffer.length })
  out.align(PAGE)
  const columns = Object.fromEntries(
    COLUMN_NAMES.map((name): [ColumnName, Place] => {
      const { buffer, byteLength: bytes } = numbers[name]
      return [name, { start: out.align(COLUMN_ALIGN).put(Buffer.from(buffer)), bytes }]
    }),
  ) as Head['columns']
  const { groups, places } = indexOfTraits(numbers.traits)
  const index: TraitIndex = { groups, start: part(places).start }
  const parts: Head['parts'] = {
    numbers: part(numbersOf(order)),
    rounds: part(lists.rounds),
    notes: part(lists.notes),
    learnings: part(lists.learnings),
    keys: part(tableOf(tables.keys)),
    answers: part(tableOf(tables.answers)),
    trees: part(tableOf(tables.trees)),
  }
  const sums = out.align(PAGE).sums
  const head = Buffer.from(
    encode({
      ...folded,
      sums,
      build: BUILD,
      ledger,
      best: bestOf(state)?.id ?? null,
      stored: { keys: keys.size, trees: tables.trees.length, answers: answers.size },
      columns,
      index,
      parts,
      core,
    }),
  )
  const trailer = Buffer.alloc(TRAILER)
  trailer.writeUIntLE(out.put(head), 0, 6)
  trailer.writeUInt32LE(head.length, 8)
  trailer.writeUInt32LE(checksum(head), 12)
  trailer.write(END, 16, 'latin1')
  out.put(trailer)
  out.flush()
}

/** What nobody touched is copied as it is stored. Records are written. */
function columnsOf(
  out: Writer,
  experiments: State['experiments'],
  indexOf: (id: string) => number,
): Record<ColumnName, ReturnType<typeof columnOf>> {
  const stored = experiments instanceof StoredExperiments ? experiments : null
  const made = COLUMN_NAMES.map((name) => [name, columnOf(name, experiments.size, stored)])
  const columns = Object.fromEntries(made) as ReturnType<typeof columnsOf>
  const put = (at: number, record: Buffer): void => {
    columns.record[at] = out.put(record)
    columns.recordBytes[at] = record.length
  }
  const fresh = (at: number, node: Experiment): void => {
    const { numbers, record } = encodeExperiment(node, indexOf)
    for (const [name, number] of Object.entries(numbers)) columns[name as ColumnName][at] = number
    put(at, Buffer.from(record))
  }
  let at = 0
  for (; stored && at < stored.stored; at++) {
    const node = stored.node(at)
    if (node.isTouched) fresh(at, node)
    else put(at, stored.rawRecord(at))
  }
  for (const node of (stored?.added ?? experiments).values()) fresh(at++, node)
  return columns
}

/** The rows of a list; its items are written. */
function listOf<T>(out: Writer, list: List<T>, tagOf: (item: T) => number = () => 0): Buffer {
  const rows: Buffer[] = []
  const put = (item: Buffer, tag: number) => rows.push(listRow(out.put(item), item.length, tag))
  const fresh = (item: T) => put(Buffer.from(encode(item)), tagOf(item))
  const stored = list instanceof StoredList ? (list as StoredList<T>) : null
  const last = (stored?.stored ?? 0) - 1
  for (let at = 0; stored && at < last; at++) {
    const { item, tag } = stored.raw(at)
    put(item, tag)
  }
  if (stored && last >= 0) fresh(stored.last())
  for (const item of stored?.added ?? list) fresh(item)
  return Buffer.concat(rows)
}

/** The place in the order for each number of an id, plus one. Ids are counted, so the numbers have few gaps. */
function numbersOf(order: ReadonlyMap<string, number>): Buffer {
  const numbers = Array.from(order.keys(), (id) => Number(id.slice(4)))
  const highest = numbers.reduce((most, number) => Math.max(most, number), 0)
  if (highest > 4 * order.size + 10_000) throw new Unstorable(`the number ${highest}`)
  const table = Buffer.alloc(4 * (highest + 1))
  for (const [at, number] of numbers.entries()) table.writeUInt32LE(at + 1, number * 4)
  return table
}

/** Writes a file from its beginning to its end. */
class Writer {
  readonly #fd: number
  #waiting: Buffer[] = []
  #size = 0
  #at = 0
  /** The checksums of the whole pages so far. */
  readonly sums: number[] = []
  #ofPage = 0
  #inPage = 0

  constructor(file: string, mode: number) {
    this.#fd = openSync(file, 'wx', mode)
  }

  /** Answers where the bytes begin. */
  put(bytes: Buffer): number {
    const start = this.#at
    this.#at += bytes.length
    this.#size += bytes.length
    this.#waiting.push(bytes)
    this.#sum(bytes)
    if (this.#size > 4 * 1024 * 1024) this.#write()
    return start
  }

  #sum(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + PAGE - this.#inPage)
      at += part.length
      this.#ofPage = checksum(part, this.#ofPage)
      this.#inPage += part.length
      if (this.#inPage < PAGE) continue
      this.sums.push(this.#ofPage)
      this.#ofPage = 0
      this.#inPage = 0
    }
  }

  align(to: number): this {
    const missing = (to - (this.#at % to)) % to
    if (missing > 0) this.put(Buffer.alloc(missing))
    return this
  }

  /** What is renamed into place is on the disk. */
  flush(): void {
    this.#write()
    fdatasyncSync(this.#fd)
  }

  #write(): void {
    const bytes = Buffer.concat(this.#waiting)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at)
    this.#waiting = []
    this.#size = 0
  }

  close(): void {
    closeSync(this.#fd)
  }
}
