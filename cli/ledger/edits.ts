/** The vocabulary of the meta controller: the nouns of the event `adjusted`. Imports nothing of ours. */

export const META_KNOBS = [
  'width',
  'depth',
  'stall',
  'ideate_stall',
  'ideate_keeps',
  'scan_batch',
  'scan_max',
] as const
export type MetaKnob = (typeof META_KNOBS)[number]

export const META_PHASES = ['scan', 'ideate'] as const
export type MetaPhase = (typeof META_PHASES)[number]

export const META_PROMPTS = [
  'state',
  'scan',
  'aggregate',
  'brief',
  'implement',
  'run',
  'ideate',
  'collect',
] as const
export type MetaPrompt = (typeof META_PROMPTS)[number]

export const SEAMS = ['before-scan', 'after-scan', 'before-brief', 'after-collect'] as const
export type Seam = (typeof SEAMS)[number]

export type Change =
  | { kind: 'knob'; knob: MetaKnob; value: number }
  | { kind: 'phase'; phase: MetaPhase; on: boolean }
  | { kind: 'prompt'; prompt: MetaPrompt; mode: 'append' | 'replace'; text: string }
  /** An agent call of its own at a seam, for so many rounds; what it says reaches the brief. */
  | { kind: 'step'; seam: Seam; text: string; rounds: number }
  /** Takes an earlier edit back, by its id. */
  | { kind: 'undo'; edit: string }

export type Edit = Change & {
  rationale: string
  /** Id of an experiment, or name of a fact. */
  evidence: string
}
