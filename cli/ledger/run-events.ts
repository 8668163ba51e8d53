/** The events of a run as a whole. */
import type { Envelope } from './envelope.ts'
import type { Direction, Knobs } from './nouns.ts'

/** Opens the run. The spec itself is `spec.json` in the run's folder, bound by its hash. */
export interface RunStarted extends Envelope {
  type: 'run_started'
  run: string
  name: string
  spec_hash: string
  /** Hash of what is measured: {scope, worktree, measure, metric, tasks, constraints, protected, …}. */
  frozen_hash: string
  base: { commit: string; tree: string }
  /** The user's checkout in which `init` ran, and the spec's folder in it (`''` is the root). */
  checkout: string
  prefix: string
  metric: { name: string; direction: Direction; target: number | null }
  seed: number
  /** The user's file, relative to `checkout`; absent: `assay.yaml` in `prefix`. */
  spec_file?: string
  /** Live knobs as of the start; `configured` changes them one by one. */
  knobs: Knobs
  warnings: string[]
  /** Which frozen rules of git make files of blobs, and leave untracked files out. Absent in old ledgers. */
  git_rules?: string
  /** `worktree.data` as it was: how much, and the hash of the list `data.json`. Absent = none. */
  /** Data that only the final check sees: a file outside of the repository. Absent = none. */
  holdout?: HeldOutFile
  data?: { files: number; bytes: number; sha256: string }
}

export interface HeldOutFile {
  /** Until 0.1.0, in place of `name`: where it lies. */
  path?: string
  /** Hash of its path under the user's key: a file of that name, outside of the repository, says where it lies. */
  name?: string
  /** Of the content; under `name`, of its SHA-256 with the user's key. */
  sha256: string
  bytes: number
}

export interface Configured extends Envelope {
  type: 'configured'
  changes: Partial<Knobs>
  why: string
}

export interface Noted extends Envelope {
  type: 'noted'
  kind: 'learning' | 'infrastructure' | 'note'
  experiment: string | null
  text: string
}

/** Tells of a line that its writer never finished and the writer of this one cancelled, with U+0018 at its end. */
export interface Healed extends Envelope {
  type: 'healed'
  offset: number
  bytes: number
}

/** Scores from before are not compared with scores from now on. The baseline is measured again first. */
export interface EpochOpened extends Envelope {
  type: 'epoch_opened'
  epoch: number
  why: string
}

/** What of the machine a measured process does not share; each can be given up by itself when the baseline needs it. */
export type IsolationRule = 'network' | 'temporary' | 'caches' | 'repository' | 'sealed' | 'read_only'

/** How what runs in a measurement checkout is kept apart from the machine, from here on. Before such an event: not at all. */
export interface Isolated extends Envelope {
  type: 'isolated'
  /** null: it is not kept apart. */
  method: 'bubblewrap' | null
  /** Rules that the baseline does not work under, and that are not applied. */
  without: IsolationRule[]
  /** Paths of the machine that stay visible and writable, beside those of the spec. */
  allow: string[]
  why: string
}
