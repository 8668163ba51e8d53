/** The tree of experiments as rows: order, filter and folds. Ancestors of what is found stay; a parent that is missing hides nothing. */
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
      counts: readonly [Mark, number][]
      position: number
      siblings: number
    }

/** Leaves that led nowhere: folded into one row when there are more than a few. */
const NOWHERE: ReadonlySet<Mark> = new Set(['rejected', 'inconclusive', 'failed', 'discarded'])
const FEW = 3

export class Forest {
  readonly #rows: PageRow[]
  readonly #children = new Map<string, PageRow[]>()
  readonly #roots: PageRow[] = []
  #words: string[] | null = null

  constructor(rows: ReadonlyMap<string, PageRow>) {
    this.#rows = [...rows.values()]
    for (const row of this.#rows) {
      if (row.parent === null || !rows.has(row.parent)) this.#roots.push(row)
      else {
        const siblings = this.#children.get(row.parent)
        if (siblings) siblings.push(row)
        else this.#children.set(row.parent, [row])
      }
    }
  }

  childrenOf(id: string): readonly PageRow[] {
    return this.#children.get(id) ?? []
  }

  /** Ids of what is asked for; null when everything is. */
  matching({ query, marks }: Pick<Wanted, 'query' | 'marks'>): Set<string> | null {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0 && marks === null) return null
    this.#words ??= this.#rows.map(({ experiment, hypothesis, reason, mark }) =>
      `${experiment} ${mark} ${reason ?? ''} ${hypothesis}`.toLowerCase(),
    )
    const texts = this.#words
    const found = new Set<string>()
    this.#rows.forEach((row, i) => {
      if (marks !== null && !marks.has(row.mark)) return
      const text = texts[i] ?? ''
      if (words.every((word) => text.includes(word))) found.add(row.experiment)
    })
    return found
  }

  /** The visible rows, in order. */
  list(wanted: Wanted): { rows: TreeRow[]; found: number } {
    const found = this.matching(wanted)
    const above = found === null ? null : this.#above(found)
    const shown = (row: PageRow) => above === null || above.has(row.experiment)
    const out: TreeRow[] = []
    /** Depth first without recursion: a chain of ten thousand is an ordinary run. */
    const stack: TreeRow[] = this.#level(this.#roots.filter(shown), 1, 'top', wanted, found).reverse()
    for (let next = stack.pop(); next; next = stack.pop()) {
      out.push(next)
      if (!next.open) continue
      const id = next.kind === 'node' ? next.row.experiment : next.id.slice(0, -FOLD.length)
      const children = this.childrenOf(id).filter(shown)
      const below =
        next.kind === 'node'
          ? this.#level(children, next.level + 1, id, wanted, found)
          : this.#plain(
              children.filter((row) => this.#isNowhere(row)),
              next.level + 1,
              wanted,
              found,
            )
      for (let i = below.length - 1; i >= 0; i--) {
        const one = below[i]
        if (one) stack.push(one)
      }
    }
    return { rows: out, found: found?.size ?? this.#rows.length }
  }

  #above(found: ReadonlySet<string>): Set<string> {
    const above = new Set<string>()
    const byId = new Map(this.#rows.map((row) => [row.experiment, row]))
    for (const id of found) {
      for (let row = byId.get(id); row && !above.has(row.experiment); row = byId.get(row.parent ?? ''))
        above.add(row.experiment)
    }
    return above
  }

  #isNowhere(row: PageRow): boolean {
    return NOWHERE.has(row.mark) && !this.#children.has(row.experiment)
  }

  #level(
    children: readonly PageRow[],
    level: number,
    id: string,
    wanted: Wanted,
    found: ReadonlySet<string> | null,
  ): TreeRow[] {
    const nowhere = found === null ? children.filter((row) => this.#isNowhere(row)) : []
    if (nowhere.length <= FEW) return this.#plain(children, level, wanted, found)
    const rest = this.#plain(
      children.filter((row) => !this.#isNowhere(row)),
      level,
      wanted,
      found,
    ).map((row) => ({ ...row, siblings: row.siblings + 1 }))
    const counts = new Map<Mark, number>()
    for (const { mark } of nowhere) counts.set(mark, (counts.get(mark) ?? 0) + 1)
    const fold = `${id}${FOLD}`
    return [
      ...rest,
      {
        kind: 'fold',
        id: fold,
        level,
        open: wanted.toggled.has(fold),
        counts: [...counts],
        position: rest.length + 1,
        siblings: rest.length + 1,
      },
    ]
  }

  #plain(
    children: readonly PageRow[],
    level: number,
    wanted: Wanted,
    found: ReadonlySet<string> | null,
  ): TreeRow[] {
    return ordered(children, wanted).map((row, i) => ({
      kind: 'node',
      row,
      level,
      open: this.#children.has(row.experiment)
        ? (found !== null || wanted.path.has(row.experiment)) !== wanted.toggled.has(row.experiment)
        : null,
      dimmed: found !== null && !found.has(row.experiment),
      position: i + 1,
      siblings: children.length,
    }))
  }
}

const FOLD = '/nowhere'

export const idOfRow = (row: TreeRow): string => (row.kind === 'node' ? row.row.experiment : row.id)

/** What has no value comes last in each order but that of time. */
function ordered(rows: readonly PageRow[], { order, direction }: Wanted): readonly PageRow[] {
  if (order === 'time') return rows
  const key = (row: PageRow) => (order === 'gain' ? row.improvement : row.value)
  const sign = order === 'gain' || direction === 'maximize' ? -1 : 1
  return [...rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)]
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1
    return sign * (x - y)
  })
}
