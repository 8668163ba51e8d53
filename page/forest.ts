/**
 * The tree of experiments as rows: order, filter and folds. Ancestors of what is found stay; a parent that is missing hides
 * nothing. A list holds numbers, and makes a row of them when it is looked at, since a run may have 100,000.
 */
import type { Direction } from '../cli/ledger/events.ts'
import type { Mark, PageRow } from '../cli/view/page-model.ts'

export type Order = 'time' | 'value' | 'gain'

export interface Wanted {
  query: string
  /** null = all. */
  marks: ReadonlySet<Mark> | null
  order: Order
  direction: Direction
  /** What is open or shut otherwise than by default. */
  toggled: ReadonlySet<string>
  /** Open by default. */
  path: ReadonlySet<string>
}

export type TreeRow =
  | {
      kind: 'node'
      row: PageRow
      level: number
      /** null = no children. */
      open: boolean | null
      /** Only here since something below it was found. */
      dimmed: boolean
      position: number
      siblings: number
    }
  | {
      kind: 'fold'
      id: string
      level: number
      open: boolean
      counts: readonly (readonly [Mark, number])[]
      position: number
      siblings: number
    }

/** The visible rows, in order. */
export interface Listed {
  length: number
  /** How many are what was asked for. */
  found: number
  at: (i: number) => TreeRow
  levelAt: (i: number) => number
  /** −1 when it is not among them. */
  indexOf: (id: string | null) => number
}

/** Leaves that led nowhere: folded into one row when there are more than a few. */
const NOWHERE: ReadonlySet<Mark> = new Set(['rejected', 'inconclusive', 'failed', 'discarded'])
const FEW = 3
const FOLD = '/nowhere'
/** In the place of an experiment: the leaves among the roots. */
const TOP = 'top'
const NONE = -1

export const idOfRow = (row: TreeRow): string => (row.kind === 'node' ? row.row.experiment : row.id)

export class Forest {
  readonly #rows: PageRow[]
  readonly #index = new Map<string, number>()
  readonly #parent: Int32Array
  /** Of each the first child, and the next one of the same parent; `NONE` = no more. The last place is for roots. */
  readonly #first: Int32Array
  readonly #next: Int32Array
  #words: string[] | null = null

  constructor(rows: ReadonlyMap<string, PageRow>) {
    this.#rows = [...rows.values()]
    const n = this.#rows.length
    this.#rows.forEach((row, i) => {
      this.#index.set(row.experiment, i)
    })
    this.#parent = new Int32Array(n).fill(NONE)
    this.#first = new Int32Array(n + 1).fill(NONE)
    this.#next = new Int32Array(n).fill(NONE)
    for (let i = n - 1; i >= 0; i--) {
      const parent = this.#rows[i]?.parent ?? null
      const above = parent === null ? NONE : (this.#index.get(parent) ?? NONE)
      this.#parent[i] = above
      const place = above === NONE ? n : above
      this.#next[i] = this.#first[place] ?? NONE
      this.#first[place] = i
    }
  }

  childrenOf(id: string): PageRow[] {
    const i = this.#index.get(id)
    return i === undefined ? [] : this.#children(i).flatMap((child) => this.#rows[child] ?? [])
  }

  /** What a search looks through; made at the first search, unless somebody has time before. */
  prepare(): string[] {
    this.#words ??= this.#rows.map(({ experiment, hypothesis, reason, mark }) =>
      `${experiment} ${mark} ${reason ?? ''} ${hypothesis}`.toLowerCase(),
    )
    return this.#words
  }

  list(wanted: Wanted): Listed {
    const found = this.#matching(wanted)
    const above = found && this.#above(found.is)
    const n = this.#rows.length
    // Of each row in turn: the experiment, or below 0 the fold of an experiment's children; level, place, and of how many.
    const [ids, levels, positions, counts]: [number[], number[], number[], number[]] = [[], [], [], []]
    const stack: number[] = []
    const isOpen = (i: number): boolean => {
      if ((this.#first[i] ?? NONE) === NONE) return false
      const { toggled, path } = wanted
      const id = this.#rows[i]?.experiment ?? ''
      return (found !== null || path.has(id)) !== (toggled.size > 0 && toggled.has(id))
    }
    const push = (children: readonly number[], level: number, fold: number | null) => {
      const all = children.length + (fold === null ? 0 : 1)
      if (fold !== null) stack.push(all, all, level, fold)
      for (let k = children.length - 1; k >= 0; k--) stack.push(all, k + 1, level, children[k] ?? NONE)
    }
    const open = (place: number, level: number) => {
      let children = this.#children(place)
      if (above) children = children.filter((child) => above[child] === 1)
      const nowhere = found === null ? children.filter((child) => this.#isNowhere(child)) : []
      if (nowhere.length <= FEW) push(this.#ordered(children, wanted), level, null)
      else
        push(
          this.#ordered(
            children.filter((child) => !this.#isNowhere(child)),
            wanted,
          ),
          level,
          -2 - place,
        )
    }
    open(n, 1)
    // Depth first without recursion: a chain of ten thousand is an ordinary run.
    while (stack.length > 0) {
      const [id = 0, level = 1, position = 1, all = 1] = [stack.pop(), stack.pop(), stack.pop(), stack.pop()]
      ids.push(id)
      levels.push(level)
      positions.push(position)
      counts.push(all)
      if (id >= 0) {
        if (isOpen(id)) open(id, level + 1)
      } else if (wanted.toggled.has(this.#foldId(-2 - id))) {
        const nowhere = this.#children(-2 - id).filter((child) => this.#isNowhere(child))
        push(this.#ordered(nowhere, wanted), level + 1, null)
      }
    }
    return {
      length: ids.length,
      found: found?.count ?? n,
      levelAt: (i) => levels[i] ?? 0,
      indexOf: (id) => {
        if (id === null) return NONE
        if (!id.endsWith(FOLD)) return ids.indexOf(this.#index.get(id) ?? NONE)
        const of = id.slice(0, -FOLD.length)
        return ids.indexOf(-2 - (of === TOP ? n : (this.#index.get(of) ?? NONE)))
      },
      at: (i) => {
        const id = ids[i] ?? 0
        const where = { level: levels[i] ?? 1, position: positions[i] ?? 1, siblings: counts[i] ?? 1 }
        const row = this.#rows[id]
        if (id < 0 || !row) return this.#fold(-2 - id, where, wanted)
        return {
          kind: 'node',
          row,
          ...where,
          open: (this.#first[id] ?? NONE) === NONE ? null : isOpen(id),
          dimmed: found !== null && found.is[id] !== 1,
        }
      },
    }
  }

  #children(place: number): number[] {
    const found: number[] = []
    for (let i = this.#first[place] ?? NONE; i !== NONE; i = this.#next[i] ?? NONE) found.push(i)
    return found
  }

  /** null when everything is asked for. */
  #matching({ query, marks }: Pick<Wanted, 'query' | 'marks'>): { is: Uint8Array; count: number } | null {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0 && marks === null) return null
    const texts = this.prepare()
    const is = new Uint8Array(texts.length)
    let count = 0
    texts.forEach((text, i) => {
      if (!words.every((word) => text.includes(word))) return
      if (marks !== null && !marks.has(this.#rows[i]?.mark ?? 'open')) return
      is[i] = 1
      count++
    })
    return { is, count }
  }

  #above(found: Uint8Array): Uint8Array {
    const above = new Uint8Array(found.length)
    found.forEach((is, i) => {
      for (let at = is === 1 ? i : NONE; at !== NONE && above[at] === 0; at = this.#parent[at] ?? NONE)
        above[at] = 1
    })
    return above
  }

  #isNowhere(i: number): boolean {
    return NOWHERE.has(this.#rows[i]?.mark ?? 'open') && (this.#first[i] ?? NONE) === NONE
  }

  #foldId(place: number): string {
    return `${this.#rows[place]?.experiment ?? TOP}${FOLD}`
  }

  #fold(
    place: number,
    where: { level: number; position: number; siblings: number },
    { toggled }: Wanted,
  ): TreeRow {
    const counts = new Map<Mark, number>()
    for (const child of this.#children(place)) {
      const mark = this.#rows[child]?.mark
      if (mark !== undefined && this.#isNowhere(child)) counts.set(mark, (counts.get(mark) ?? 0) + 1)
    }
    const id = this.#foldId(place)
    return { kind: 'fold', id, ...where, open: toggled.has(id), counts: [...counts] }
  }

  /** What has no value comes last in each order but that of time. */
  #ordered(children: readonly number[], { order, direction }: Wanted): readonly number[] {
    if (order === 'time') return children
    const key = (i: number) => (order === 'gain' ? this.#rows[i]?.improvement : this.#rows[i]?.value) ?? null
    const sign = order === 'gain' || direction === 'maximize' ? -1 : 1
    return [...children].sort((a, b) => {
      const [x, y] = [key(a), key(b)]
      if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1
      return sign * (x - y)
    })
  }
}
