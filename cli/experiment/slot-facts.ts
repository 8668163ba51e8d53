/** What is known of a measurement checkout. Whoever is about to change it says first that nothing is. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { slotFacts } from '../paths.ts'
import type { OpenRun } from '../run/open.ts'
import type { GivenData } from './data.ts'
import { EMPTY_MANIFEST, type Manifest } from './manifest.ts'

export interface SlotFacts {
  /** Key of the setup that stands there; null when there is none to rely on. */
  setup: string | null
  /** What setup left. */
  afterSetup: Manifest
  /** Key of the build that stands there. */
  built: string | null
  /** What setup and build left. */
  afterBuild: Manifest
  /** Digest of the artifacts that this build left. */
  artifacts: string | null
  data: GivenData
  /** The inode of the checkout that was made there; null when it is not known. */
  made: number | null
}

interface Slot {
  slot: number
}

export const UNKNOWN: Readonly<SlotFacts> = {
  setup: null,
  afterSetup: EMPTY_MANIFEST,
  built: null,
  afterBuild: EMPTY_MANIFEST,
  artifacts: null,
  data: {},
  made: null,
}

export function readFacts(run: Pick<OpenRun, 'site'>, { slot }: Slot, place: 'a' | 'b'): SlotFacts {
  try {
    return { ...UNKNOWN, ...JSON.parse(readFileSync(slotFacts(run.site, slot, place), 'utf8')) }
  } catch {
    return { ...UNKNOWN }
  }
}

export function writeFacts(run: OpenRun, { slot }: Slot, place: 'a' | 'b', facts: SlotFacts): void {
  const file = slotFacts(run.site, slot, place)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, JSON.stringify(facts))
  renameSync(`${file}.new`, file)
}

/** A process that dies while it changes the checkout leaves one of which nothing is known, but which one it is. */
export function forgetFacts(run: OpenRun, slot: Slot, place: 'a' | 'b'): void {
  const { made } = readFacts(run, slot, place)
  if (made !== null) writeFacts(run, slot, place, { ...UNKNOWN, made })
  else rmSync(slotFacts(run.site, slot.slot, place), { force: true })
}
