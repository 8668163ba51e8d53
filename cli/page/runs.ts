/** The runs of a repository as a server follows them: read again as their ledgers grow, never locked. */
import { findSite, listRuns, type Site } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import { type OpenRun, open, type Surroundings } from '../run/open.ts'
import { History, touchedSince } from '../view/history.ts'
import { headOf, rowOf, rowsOf, runLineOf } from '../view/page.ts'
import { type PackedRow, type PageHead, type PageRunLine, packRow } from '../view/page-model.ts'

/** What is new since an offset. */
export interface Changes {
  offset: number
  head: PageHead
  rows: PackedRow[]
}

export class Followed {
  readonly run: OpenRun
  readonly #history: History
  readonly #version: string

  private constructor(run: OpenRun, history: History, version: string) {
    this.run = run
    this.#history = history
    this.#version = version
  }

  static open(world: Surroundings, site: Site, name: string, version: string): Result<Followed> {
    const history = new History()
    const opened = open(world, site, name)
    if (!opened.ok) return opened
    const followed = new Followed(opened.value, history, version)
    const read = followed.refresh()
    return read.ok ? ok(followed) : read
  }

  /** Bytes of the ledger that were read. */
  get offset(): number {
    return this.#history.offset
  }

  /** Whether something came since the last call. The ledger is read last, so it knows all that the history tells of. */
  refresh(): Result<boolean> {
    const before = this.offset
    const told = this.#history.read(this.run.ledger.file)
    if (!told.ok) return told
    const read = this.run.ledger.refresh()
    return read.ok ? ok(this.offset > before) : read
  }

  head(): PageHead {
    return headOf(this.run, this.#history, this.#version)
  }

  rows(): PackedRow[] {
    return rowsOf(this.run).map(packRow)
  }

  /** For somebody who knows the first `since` bytes; null when this ledger never had so many. */
  changes(since: number): Result<Changes | null> {
    if (since > this.offset) return ok(null)
    const touched = touchedSince(this.run.ledger.file, since)
    if (!touched.ok) return touched
    const { experiments } = this.run.ledger.state
    const rows = [...touched.value.experiments].flatMap((id) => {
      const node = experiments.get(id)
      return node ? [packRow(rowOf(this.run, node))] : []
    })
    return ok({ offset: this.offset, head: this.head(), rows })
  }
}

export class Runs {
  readonly site: Site
  readonly #world: Surroundings
  readonly #version: string
  readonly #followed = new Map<string, Followed>()

  private constructor(world: Surroundings, site: Site, version: string) {
    this.#world = world
    this.site = site
    this.#version = version
  }

  static of(world: Surroundings, version: string): Result<Runs> {
    const found = findSite(world.cwd)
    if (found) return ok(new Runs(world, found.site, version))
    return fail({
      kind: 'refused',
      code: 'no_run',
      message: 'there is no run in this repository',
      hint: 'start one: assay init',
      at: world.cwd,
    })
  }

  /** Opened at the first call, read up to its end at each. */
  get(name: string): Result<Followed> {
    const known = this.#followed.get(name)
    if (known) {
      const read = known.refresh()
      return read.ok ? ok(known) : read
    }
    if (!listRuns(this.site).includes(name)) {
      return fail({
        kind: 'usage',
        code: 'unknown_run',
        message: `there is no run ${name}`,
        at: this.site.root,
      })
    }
    const opened = Followed.open(this.#world, this.site, name, this.#version)
    if (opened.ok) this.#followed.set(name, opened.value)
    return opened
  }

  /** One that cannot be read is left out: the others must not vanish with it. */
  lines(): PageRunLine[] {
    return listRuns(this.site).flatMap((name) => {
      const run = this.get(name)
      return run.ok ? [runLineOf(run.value.run)] : []
    })
  }
}
