/** What every check is, and what it may look at. */
import type { Checkout } from '../git/checkout.ts'
import type { State } from '../ledger/state.ts'
import type { RunPaths, Site } from '../paths.ts'
import type { Result } from '../result.ts'
import type { Surroundings } from '../run/open.ts'
import type { Spec } from '../spec/spec.ts'
import type { Found } from './finding.ts'
import type { ScannedLedger } from './scan.ts'

/** A folder of `runs`, whatever state it is in. */
export interface RunScene {
  run: string
  paths: RunPaths
  ledger: ScannedLedger
  /** null when the ledger cannot be folded to its end, or has no beginning. */
  state: State | null
  /** null when `spec.json` is missing or no JSON; then nothing about it is known. */
  spec: Spec | null
}

export interface Scene extends Surroundings {
  /** null where there is no state folder. */
  site: Site | null
  /** null in a folder that belongs to no checkout, judged by its files. */
  top: string | null
  commonDir: string | null
  /** As git sees it; a problem when it refuses. */
  checkout: Result<Checkout>
  runs: RunScene[]
  /** Also make calls that may cost something. */
  hosts: boolean
}

/** Looks and never touches. It need not guard itself: a check that throws becomes a finding. */
export interface Check {
  name: string
  look(scene: Scene): Promise<Found[]> | Found[]
}
