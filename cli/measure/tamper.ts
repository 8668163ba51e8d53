/**
 * Files that decide what is measured and that a candidate's own run changed: sealed files (its own included), files that
 * setup and build made, and data.
 */
import { lstatSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { changedIn, fileStamp, putBack } from '../disk/inventory.ts'
import { fileJson } from '../files.ts'
import { changedFiles } from '../git/restore.ts'
import { treePaths } from '../git/trees.ts'
import { BASELINE, lastJudged, type State } from '../ledger/state.ts'
import { habitsFile, type Site, slotLock, slotOpen, slotPath } from '../paths.ts'
import { ok, type Result } from '../result.ts'
import { stampIn } from '../run/data.ts'
import type { RunRecord } from '../run/open.ts'
import { type Area, matchGlobs } from '../spec/rules.ts'
import { changedData, dataPaths, removePlanted, scopeOfRun } from './data.ts'
import {
  asideOf,
  type CheckoutPlace,
  foreignInState,
  inodeOf,
  type LeasedSlot,
  livingOwner,
  type Placed,
  type RunInSlot,
  removeStrangers,
} from './slot.ts'
import { drifted, readFacts, writeFacts } from './slot-facts.ts'

// ----------------------------------------------------------------
// After each sample and gate: finds the files that it changed in a checkout, even if it restored them, and removes all
// other files that it left.

export interface CheckoutInspection {
  /** Files that changed since the last inspection. */
  touched: string[]
  /** Files and folders that were new, and folders in which some were and are gone: see `PutBack`. */
  planted: string[]
  /** Why the checkout cannot be used any more (it was replaced, or a file cannot be removed), as a text. */
  spoilt: string | null
}

/** How a file or folder is named that a job made where there was none. */
const NEW = ' (new)'
/** The same for what was gone again when the job ended. */
const INSIDE = '* (removed again)'
/** Of one job; more would tell nothing new. */
const MOST_PLANTED = 100

/** The path of something planted; null for a file that was there. Of what was removed again only the folder is known. */
function plantedAt(path: string): { folder: string; name: string } | null {
  const end = [NEW, INSIDE].find((one) => path.endsWith(one))
  if (end === undefined) return null
  const at = end === NEW ? path.slice(0, -NEW.length) : path.slice(0, -INSIDE.length)
  const cut = at.replace(/\/$/, '').lastIndexOf('/') + 1
  return end === NEW ? { folder: at.slice(0, cut), name: at.slice(cut) } : { folder: at, name: '' }
}

/**
 * What programs make beside the files that judge has a name that differs from run to run (`tmp.Xy12`, `result-812.json`,
 * `3f/`): names count as one kind that begin alike, or that are numbers or drawn characters. Names of modules have a dot.
 */
function kindsOf(path: string): string[] {
  const planted = plantedAt(path)
  if (planted === null) return []
  const { folder, name } = planted
  const end = name.endsWith('/') ? '/' : ''
  const plain = name.replace(/^[._-]+/, '').replace(/\/$/, '')
  const isDrawn =
    /^[\da-f]{1,2}$|^[\da-f-]{8,}$/i.test(plain) ||
    (/^[\w-]{6,}$/.test(plain) && (/\d/.test(plain) || /[a-z].*[A-Z]/.test(plain)))
  const begin = /^[A-Za-z]{3}/.exec(plain)?.[0] ?? plain.replace(/[A-Za-z]*\d.*/s, '#')
  return [...new Set(isDrawn ? [begin, '#'] : [begin])].map((kind) => `${folder}${kind}${end}`)
}

/** Those that are not among these habits. */
export function unlike(paths: readonly string[], habits: ReadonlySet<string>): string[] {
  const kinds = new Set([...habits].flatMap(kindsOf))
  return paths.filter((path) => !habits.has(path) && !kindsOf(path).some((kind) => kinds.has(kind)))
}

/**
 * What Python makes beside a module when it imports it, in a folder of which the baseline imports nothing. An honest candidate
 * imports one more module; another one puts its own bytecode there, which a program that judges would run.
 */
const BYTECODE = /(?:^|\/)__pycache__\/(?:[^/]+\.pyc)? \(new\)$/

/** Parts the names of changed files. */
export function partBytecode(paths: readonly string[]): { bytecode: string[]; changed: string[] } {
  return {
    bytecode: paths.filter((path) => BYTECODE.test(path)),
    changed: paths.filter((path) => !BYTECODE.test(path)),
  }
}

/**
 * Why a keep is to be doubted, which no measurement can clear; null when no bytecode was made. What the keep of `known`, or of
 * one before it, made as well was doubted then: a person has cleared it, or must still do so.
 */
export function bytecodeDoubt(
  { experiments }: Pick<State, 'experiments'>,
  experiment: string,
  paths: readonly string[],
  known: string | null,
): string | null {
  let made = partBytecode(paths).bytecode
  for (let at = known; at !== null; at = experiments.get(at)?.parent ?? null) {
    const node = experiments.get(at)
    const said = (node && lastJudged(node)?.lasting_doubt) ?? ''
    made = made.filter((path) => !said.includes(path))
  }
  if (made.length === 0) return null
  return `its run made ${made.join(', ')} beside files that judge, and Python runs what lies there in place of a module: look at assay diff ${experiment}, and when it only imports one more module, assay restore ${experiment} clears it`
}

/** The checkout holds the same files as before it, in the same folders: the next sample finds no trace of this one. */
function inspectAfterJob(leased: LeasedSlot, place: CheckoutPlace, placed: Placed): CheckoutInspection {
  const path = slotPath(leased.site, leased.slot, place)
  const seen = putBack(placed.inventory, asideOf(path))
  if (seen.lost)
    return {
      touched: ['the checkout itself'],
      planted: [],
      spoilt: `${path} was replaced while it was measured`,
    }
  for (const file of seen.changed) placed.touched.add(file)
  if (seen.moved.size > 0 || seen.remade) recordMoved(leased, { place, placed }, seen.moved)
  const { obstacle } = seen
  return {
    touched: seen.changed,
    planted: [...seen.made.map((made) => made + NEW), ...seen.entered.map((folder) => folder + INSIDE)],
    spoilt: obstacle && `${obstacle.path} could not be put back: ${obstacle.code}`,
  }
}

/** Assay moved or wrote these files itself, or made folders anew: what is known of them stays valid. */
export function recordMoved(
  leased: LeasedSlot,
  { place, placed }: Pick<Occupied, 'place' | 'placed'>,
  all: ReadonlyMap<string, string>,
): void {
  const path = slotPath(leased.site, leased.slot, place)
  const moved = [...all].filter(([file]) => !placed.touched.has(file))
  restamp(placed, path, moved)
  const facts = readFacts(leased, place)
  for (const before of [facts.afterSetup, facts.afterBuild])
    restamp({ before, data: facts.data }, path, moved)
  writeFacts(leased, place, { ...facts, made: inodeOf(path) })
}

function restamp(
  { before, data }: Pick<Placed, 'before' | 'data'>,
  top: string,
  moved: [path: string, stamp: string][],
): void {
  for (const [path, stamp] of moved) {
    if (Object.hasOwn(before.files, path)) before.files[path] = stamp
    const [sha256] = data[path]?.split(' ') ?? []
    if (sha256 !== undefined) data[path] = `${sha256} ${stampIn(lstatSync(join(top, path)))}`
  }
}

// ---------------------------------------------------------------- which files the samples of an attempt changed, and whose sample it was

/** A checkout of the slot, and whose candidate lies in it. */
export interface Occupied {
  place: CheckoutPlace
  experiment: string
  placed: Placed
}

/** `beside`: another slot measured meanwhile, and may have done it. Earlier versions did not say. */
type Touch = [experiment: string, path: string, who: string, beside?: boolean]

export class ChangedFilesLog {
  readonly #leased: LeasedSlot
  /** Path in the checkout of an experiment → whose samples changed it, and whether another slot measured then. */
  readonly #by = new Map<string, Map<string, Map<string, boolean>>>()

  readonly #spoilt = new Set<CheckoutPlace>()

  /** Keeps them for a process that resumes the measurement. */
  readonly #file: string
  readonly #othersMeasured: () => boolean
  readonly #scope: (path: string) => Area
  /** null = programs cannot reach Assay's state. */
  readonly #foreign: ReadonlySet<string> | null

  constructor(leased: LeasedSlot, scope: (path: string) => Area, file: string) {
    this.#leased = leased
    this.#scope = scope
    this.#file = file
    this.#foreign = leased.isolation?.method ? null : new Set(foreignInState(leased.site))
    this.#othersMeasured = watchOtherSlots(leased)
    for (const touch of kept(file)) this.#add(touch)
  }

  /** Whether another slot that can reach this one measured meanwhile, or when a process before this one saw changes. */
  isBeside(): boolean {
    return this.#othersMeasured() || [...this.#all()].some(([, , , beside]) => beside)
  }

  /**
   * Inspects and cleans the checkouts of the slot after a job of `who` ran in one of them. `planted`: whether what it made
   * counts where it may not write.
   */
  look(who: string, seats: readonly Occupied[], { planted: counts }: { planted: boolean }): void {
    const { site, slot } = this.#leased
    for (const path of removeStrangers(site, slot, this.#foreign)) this.#note(who, `${path}${NEW}`, who)
    for (const { place, experiment, placed } of seats) {
      if (this.#spoilt.has(place)) continue
      const { touched, planted, spoilt } = inspectAfterJob(this.#leased, place, placed)
      for (const path of touched) this.#note(experiment, path, who)
      if (counts) for (const path of this.#where(planted)) this.#note(experiment, path, who)
      if (spoilt !== null) this.#spoilt.add(place)
    }
  }

  /** Those that lie among immutable files. */
  #where(planted: readonly string[]): string[] {
    const probe = ({ folder, name }: { folder: string; name: string }) =>
      this.#scope(`${folder}${name === '' || name.endsWith('/') ? `${name}any` : name}`)
    return planted
      .filter((path) => probe(plantedAt(path) ?? { folder: '', name: '' }) === 'immutable')
      .slice(0, MOST_PLANTED)
  }

  /** The same while it still runs: nothing is cleaned. */
  glance(who: string, seats: readonly Occupied[]): void {
    for (const { experiment, placed } of seats)
      for (const path of changedIn(placed.inventory)) {
        placed.touched.add(path)
        this.#note(experiment, path, who)
      }
  }

  /** Whether the checkout cannot be used any more: it was replaced, or holds what cannot be removed. */
  isSpoilt = (place: CheckoutPlace): boolean => this.#spoilt.has(place)
  placedAgain = (place: CheckoutPlace): boolean => this.#spoilt.delete(place)

  /** Files of the checkout of `experiment` that samples of `who` changed and that its own samples left alone. */
  by(who: string, experiment: string): string[] {
    const own = who === experiment
    return [...(this.#by.get(experiment) ?? [])].flatMap(([path, whose]) =>
      whose.has(who) && (own || !whose.has(experiment)) ? [path] : [],
    )
  }

  /** Files that all experiments change in their own checkouts: the benchmark itself does it. */
  habits(except: string): Set<string> {
    const found = new Set<string>()
    for (const [experiment, paths] of this.#by)
      if (experiment !== except) for (const [path, whose] of paths) if (whose.has(experiment)) found.add(path)
    return found
  }

  /** The experiment whose samples alone changed these files in the checkout of `experiment`. null: it was itself, or nobody was seen. */
  culprit(experiment: string, paths: readonly string[]): string | null {
    const found = new Set<string | null>()
    for (const path of paths)
      for (const who of this.#by.get(experiment)?.get(path)?.keys() ?? [null]) found.add(who)
    const [who = null, ...more] = found
    return more.length > 0 || who === experiment ? null : who
  }

  #note(experiment: string, path: string, who: string): void {
    if (this.#by.get(experiment)?.get(path)?.has(who)) return
    this.#add([experiment, path, who, this.#othersMeasured()])
    writeFileSync(this.#file, JSON.stringify([...this.#all()]))
  }

  *#all(): Generator<Touch> {
    for (const [experiment, paths] of this.#by)
      for (const [path, whose] of paths)
        for (const [who, beside] of whose) yield [experiment, path, who, beside]
  }

  #add([experiment, path, who, beside = false]: Touch): void {
    const paths = this.#by.get(experiment) ?? new Map<string, Map<string, boolean>>()
    this.#by.set(experiment, paths)
    paths.set(path, (paths.get(path) ?? new Map()).set(who, beside))
  }
}

const kept = (file: string): Touch[] => fileJson<Touch[]>(file) ?? []

interface Where {
  run: RunInSlot
  leased: LeasedSlot
  place: CheckoutPlace
  tree: string
  placed: Placed
}

/** What the baseline's own run does to files that are not its own. */
interface Habits {
  /** Left with another content; files that the spec names immutable are never among them. */
  rewritten: string[]
  /** Written to, whatever their content afterwards; null = recorded by a version that did not check this. */
  touched: string[] | null
  /** Files that the spec names immutable and that setup or build rewrote; null = as with `touched`. */
  prepared: string[] | null
  /** What setup and build made among them; null = recorded by a version that did not look at what is made there. */
  made: string[] | null
}

/**
 * Files that the baseline's own run rewrites (a log, a cache that setup made) may be rewritten by candidates, too. Samples and gates may never rewrite files that the spec names immutable; setup and build may rewrite
 * those that they rewrite for the baseline, too. `touched`: files that a sample of the candidate was
 * seen to change, also when it put them back. Those that the baseline's samples touch, too, count by their content only.
 */
export async function tamperedFiles({
  run,
  leased,
  place,
  tree,
  placed,
  judged,
  touched,
}: Where & { judged: string; touched: readonly string[] }): Promise<Result<string[]>> {
  const changed = await contentChanged({ run, leased, place, tree, placed })
  if (!changed.ok) return changed
  const { data } = changed.value
  const mayWrite = declaredWritten(run, [...changed.value.rewritten, ...touched])
  const rewritten = changed.value.rewritten.filter((path) => !mayWrite.has(path))
  const scope = scopeOfRun(run)
  const prepared = placed.rewritten.filter((path) => scope(path) === 'immutable')
  const made = await madeBefore(run, leased, tree, placed)
  if (!made.ok) return made
  if (judged === BASELINE && place === 'b') {
    writeHabits(run, {
      rewritten: rewritten.filter((path) => scope(path) !== 'immutable'),
      touched: [...touched],
      prepared,
      made: made.value,
    })
  }
  const habits = readHabits(run)
  const known = new Set([...mayWrite, ...habits.rewritten, ...(habits.touched ?? touched)])
  const counted = habits.made === null ? touched.filter((path) => plantedAt(path) === null) : touched
  const seen = unlike(counted, known)
  const planted = unlike(made.value, new Set(habits.made ?? made.value))
  const left = rewritten.filter((path) => !habits.rewritten.includes(path))
  const built = prepared.filter((path) => !(habits.prepared ?? prepared).includes(path))
  return ok([...new Set([...data, ...left, ...seen, ...built, ...planted])])
}

/** What setup and build made among immutable files: the uppermost folder that has no sealed file, or the file. */
async function madeBefore(
  run: RunInSlot,
  leased: LeasedSlot,
  tree: string,
  { before }: Placed,
): Promise<Result<string[]>> {
  const scope = scopeOfRun(run)
  const given = dataPaths(run)
  const paths = Object.keys(before.files).filter((path) => scope(path) === 'immutable' && !given.has(path))
  if (paths.length === 0) return ok([])
  const tracked = await treePaths(leased.site, tree)
  if (!tracked.ok) return tracked
  const sealed = new Set(tracked.value.files.flatMap(foldersOf))
  const found = paths.map((path) => {
    const folder = foldersOf(path).find((one) => !sealed.has(one))
    return `${folder ?? path}${NEW}`
  })
  return ok([...new Set(found)])
}

/** The folders above a path, the uppermost first, with a `/` at the end. */
const foldersOf = (path: string): string[] =>
  [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))

/** Paths that `measure.write` names, where a run may write. */
function declaredWritten(
  run: Pick<RunRecord, 'spec' | 'started'>,
  paths: readonly string[],
): ReadonlySet<string> {
  const globs = run.spec.measure.isolation?.write ?? []
  const plain = (path: string) => path.replace(NEW, '').replace(/\/$/, '')
  const found = matchGlobs(globs, run.started.prefix, paths.map(plain)).flatMap(({ matched }) => matched)
  const matched = new Set(found)
  return new Set(paths.filter((path) => matched.has(plain(path))))
}

/** By what they hold: the data, and all other files that are not as they were placed. */
async function contentChanged({
  run,
  leased,
  place,
  tree,
  placed,
}: Where): Promise<Result<{ data: string[]; rewritten: string[] }>> {
  const checkout = slotPath(leased.site, leased.slot, place)
  const sealed = await changedFiles(leased.site, checkout, tree)
  if (!sealed.ok) return sealed
  const data = await changedData(run, checkout, placed.data)
  if (!data.ok) return data
  const removed = await removePlanted(run, checkout, placed.beside)
  if (!removed.ok) return removed
  const given = dataPaths(run)
  const drift = drifted(checkout, placed.before).filter((path) => !given.has(path))
  const strange = sealed.value.filter((path) => !Object.hasOwn(placed.before.files, path))
  return ok({ data: data.value, rewritten: [...new Set([...drift, ...strange])] })
}

function writeHabits({ paths }: Pick<RunRecord, 'paths'>, habits: Habits): void {
  writeFileSync(habitsFile(paths), JSON.stringify(habits))
}

/** A list: the format before touched files were recorded. */
function readHabits({ paths }: Pick<RunRecord, 'paths'>): Habits {
  const found = fileJson<string[] | Habits>(habitsFile(paths)) ?? []
  const older = { touched: null, prepared: null, made: null }
  return Array.isArray(found) ? { ...older, rewritten: found } : { ...older, ...found }
}

// ---------------------------------------------------------------- other slots of this repository
// If one measured during a session without isolation, the CLI cannot tell whose run changed a file: its jobs can reach every checkout,
// also those whose own jobs are isolated.

/**
 * Whether one has so measured since this was called, or measured then. A different run may use more slots than this one, so those
 * count that are there.
 */
function watchOtherSlots({ site, slot }: LeasedSlot): () => boolean {
  const isUsed = (other: number) => {
    const owner = livingOwner(slotLock(site, other))
    return owner !== null && owner === livingOwner(slotOpen(site, other))
  }
  // Not compared with our clock: that of the file system may differ, and either may be set meanwhile.
  const stamp = (other: number) => stampOf(slotOpen(site, other))
  const others = () => slotsOf(site).filter((other) => other !== slot)
  const atFirst = new Map(others().map((other) => [other, stamp(other)]))
  const wasUsed = [...atFirst.keys()].some(isUsed)
  return () =>
    wasUsed || others().some((other) => isUsed(other) || stamp(other) !== (atFirst.get(other) ?? ''))
}

function slotsOf(site: Site): number[] {
  const names = readdirSync(dirname(slotLock(site, 0)))
  return [...new Set(names.flatMap((name) => /^(\d+)(?:\.lock)?$/.exec(name)?.[1] ?? []))].map(Number)
}

function stampOf(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found ? fileStamp(found) : ''
}
