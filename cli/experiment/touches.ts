/** Which files the samples of an attempt were seen to change, by whose sample it was. */
import { readFileSync, writeFileSync } from 'node:fs'
import { changedIn } from '../disk/inventory.ts'
import type { OpenRun } from '../run/open.ts'
import type { Bench, Place, Placed } from './bench.ts'
import { lookAt } from './look.ts'

export interface Seat {
  place: Place
  experiment: string
  placed: Placed
}

type Touch = [experiment: string, path: string, who: string]

export class Touches {
  readonly #run: OpenRun
  readonly #bench: Bench
  /** Path in the checkout of an experiment → whose samples changed it. */
  readonly #by = new Map<string, Map<string, Set<string>>>()

  readonly #spoilt = new Set<Place>()

  /** Where an attempt keeps them: another process that takes it up reads them; null = for this process only. */
  readonly #file: string | null

  constructor(run: OpenRun, bench: Bench, file: string | null) {
    this.#run = run
    this.#bench = bench
    this.#file = file
    for (const [experiment, path, who] of kept(file)) this.#add(experiment, path, who)
  }

  /** Looks at the checkouts of the slot after something of `who` ran in one of them, and cleans them. */
  look(who: string, seats: readonly Seat[]): void {
    for (const { place, experiment, placed } of seats) {
      if (this.#spoilt.has(place)) continue
      const { touched, spoilt } = lookAt(this.#run, this.#bench, place, placed)
      for (const path of touched) this.#note(experiment, path, who)
      if (spoilt !== null) this.#spoilt.add(place)
    }
  }

  /** The same while it still runs: nothing is cleaned. */
  glance(who: string, seats: readonly Seat[]): void {
    for (const { experiment, placed } of seats)
      for (const path of changedIn(placed.inventory)) {
        placed.touched.add(path)
        this.#note(experiment, path, who)
      }
  }

  /** Whether the checkout cannot be used any more: it was replaced, or holds what cannot be removed. */
  isSpoilt = (place: Place): boolean => this.#spoilt.has(place)
  placedAgain = (place: Place): boolean => this.#spoilt.delete(place)

  /** Files of the checkout of `experiment` that samples of `who` changed and that its own samples left alone. */
  by(who: string, experiment: string): string[] {
    const own = who === experiment
    return [...(this.#by.get(experiment) ?? [])].flatMap(([path, whose]) =>
      whose.has(who) && (own || !whose.has(experiment)) ? [path] : [],
    )
  }

  /** What all experiments change in their own checkouts: the benchmark does it. */
  habits(except: string): Set<string> {
    const found = new Set<string>()
    for (const [experiment, paths] of this.#by)
      if (experiment !== except) for (const [path, whose] of paths) if (whose.has(experiment)) found.add(path)
    return found
  }

  #note(experiment: string, path: string, who: string): void {
    if (this.#by.get(experiment)?.get(path)?.has(who)) return
    this.#add(experiment, path, who)
    if (this.#file !== null) writeFileSync(this.#file, JSON.stringify([...this.#all()]))
  }

  *#all(): Generator<Touch> {
    for (const [experiment, paths] of this.#by)
      for (const [path, whose] of paths) for (const who of whose) yield [experiment, path, who]
  }

  #add(experiment: string, path: string, who: string): void {
    const paths = this.#by.get(experiment) ?? new Map<string, Set<string>>()
    this.#by.set(experiment, paths)
    paths.set(path, (paths.get(path) ?? new Set()).add(who))
  }
}

function kept(file: string | null): Touch[] {
  if (file === null) return []
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Touch[]
  } catch {
    return []
  }
}
