/**
 * What the page is given of a run: one document as data, the same for the live page and for the file. Its figures and words are
 * those of the terminal. Rows are packed into lists, since a run may have a hundred thousand of them. Pure.
 */
import type { AnchorReport } from '../judge/anchors.ts'
import type { JudgeForecast } from '../judge/money.ts'
import type { IdeaStatus } from '../ledger/backlog.ts'
import type {
  Direction,
  EditPlace,
  FailureClass,
  GatePhase,
  Side,
  Stage,
  Status,
  StopReason,
} from '../ledger/events.ts'
import type { Expectation, SuitePass, TextVersion } from '../ledger/texts.ts'
import type { Prediction } from './predictions.ts'

/** What a row is marked as: the status, refined by what a reader looks for first. */
export const MARKS = [
  'kept',
  'confirmed',
  'flagged',
  'inconclusive',
  'rejected',
  'failed',
  'running',
  'open',
  'pruned',
  'revoked',
  'discarded',
  'merged',
] as const
export type Mark = (typeof MARKS)[number]

/** One experiment, as far as tree and chart need it. Times are ms since the run's first event. */
export interface PageRow {
  experiment: string
  parent: string | null
  /** All of them, the best first; absent = one at most. */
  parents?: readonly string[]
  status: Status
  mark: Mark
  reason: string | null
  failure_class: FailureClass | null
  /** In metric units; null when there is none. */
  value: number | null
  epoch: number
  /** In which the value lies, by the interval of its improvement; null when there is none. */
  range: readonly [number, number] | null
  /** Over what it was compared with; positive is better. */
  improvement: number | null
  round: number | null
  lane: number | null
  /** It tried from the baseline, for comparison. */
  arm: boolean
  attempts: number
  created: number
  judged: number | null
  /** Place of its verdict in the order of events; null before one. */
  order: number | null
  hypothesis: string
}

/** An experiment's number, or −1 for none. */
const NONE = -1
const numberOf = (id: string | null): number => (id === null ? NONE : Number(id.slice(4)))
const idOfNumber = (n: number): string => `exp_${String(n).padStart(4, '0')}`

type Fields = readonly [
  experiment: number,
  parent: number,
  status: Status,
  mark: number,
  reason: string | null,
  failureClass: FailureClass | null,
  value: number | null,
  epoch: number,
  range: readonly [number, number] | null,
  improvement: number | null,
  round: number | null,
  lane: number | null,
  arm: 0 | 1,
  attempts: number,
  created: number,
  judged: number | null,
  order: number | null,
  hypothesis: string,
]

/** As a list, in a fixed order: a third of the size of an object. */
export type PackedRow = readonly [...Fields, parents?: readonly number[]]

export function packRow(row: PageRow): PackedRow {
  const fields: Fields = [
    numberOf(row.experiment),
    numberOf(row.parent),
    row.status,
    MARKS.indexOf(row.mark),
    row.reason,
    row.failure_class,
    row.value,
    row.epoch,
    row.range,
    row.improvement,
    row.round,
    row.lane,
    row.arm ? 1 : 0,
    row.attempts,
    row.created,
    row.judged,
    row.order,
    row.hypothesis,
  ]
  return row.parents ? [...fields, row.parents.map(numberOf)] : fields
}

export function unpackRow(packed: PackedRow): PageRow {
  const [id, parent, status, mark, reason, failureClass, value, epoch, range, improvement, ...rest] = packed
  const [round, lane, arm, attempts, created, judged, order, hypothesis, parents] = rest
  return {
    experiment: idOfNumber(id),
    parent: parent === NONE ? null : idOfNumber(parent),
    ...(parents && { parents: parents.map(idOfNumber) }),
    status,
    mark: MARKS[mark] ?? 'open',
    reason,
    failure_class: failureClass,
    value,
    epoch,
    range,
    improvement,
    round,
    lane,
    arm: arm === 1,
    attempts,
    created,
    judged,
    order,
    hypothesis,
  }
}

/** The mark of an experiment. What stands against a kept one comes before what speaks for it. */
export function markOf({
  status,
  flagged,
  reason,
  confirmed,
  merged,
}: {
  status: Status
  flagged: boolean
  reason: string | null
  confirmed: boolean
  /** It has several parents. */
  merged: boolean
}): Mark {
  if (status === 'kept') return flagged ? 'flagged' : merged ? 'merged' : confirmed ? 'confirmed' : 'kept'
  if (status === 'rejected' && reason === 'inconclusive') return 'inconclusive'
  return status
}

export interface PageStanding {
  experiment: string
  value: number | null
}

export interface PageUsed {
  used: number
  /** null when there is none. */
  limit: number | null
  at_least?: boolean
}

export interface PageRound {
  round: number
  opened: string
  closed: string | null
  policy: string
  parents: readonly { experiment: string; value: number | null; why: string }[]
  /** Why ideas were asked for; null when they were not. */
  ideate: string | null
  /** What the round does otherwise after a plateau; null when nothing. */
  direction: string | null
  lanes: readonly {
    lane: number
    experiment: string
    parent: string
    arm: boolean
    kind: string
    objective: string
  }[]
  refused: readonly string[]
  improved: boolean | null
  best: string | null
  stall: number | null
  learnings: readonly string[]
}

export interface PageCall {
  role: string
  host: string
  calls: number
  ms: number
  tokens: number
  usd: number
  /** Calls that did not tell what they cost. */
  unknown: number
  failed: number
}

export interface PageLane {
  experiment: string
  round: number | null
  lane: number | null
  /** `agent`: somebody edits; `waiting`: claimed, and nothing measured yet; `queued`: its job waits; else the step of the measurement. */
  phase: string
  /** The machine on which its job runs; absent without a job, and while it is queued. */
  node?: string
  since: string
  /** How long one sample, or the call of the agent, may take; null when that is not known. */
  limit_ms: number | null
  samples: number
  /** How far its pairs are; null when it is not judged in pairs, or not yet. */
  pairs: { done: number; most: number; seconds_left: number | null } | null
  /** What the agent that works on it said last, and which tool it used last; null when none is seen. */
  agent: { host: string; role: string; words: string | null; tool: string | null } | null
  /** The process that judges it. */
  owner: string | null
  hypothesis: string
}

export interface PageText {
  kind: 'learning' | 'infrastructure' | 'note' | 'objection' | 'alert' | 'steering' | 'remark'
  at: string | null
  experiment: string | null
  text: string
}

export interface PageIdea {
  id: string
  hypothesis: string
  kind: string | null
  priority: string | null
  status: IdeaStatus
  /** That carries it out; null = none. */
  experiment: string | null
  /** What became of it; null before that. */
  outcome: string | null
  /** Packages that it needs and that nobody approved. */
  missing: readonly string[]
}

export interface PageBacklog {
  /** Those that wait for an approval first, those that are over last. */
  ideas: readonly PageIdea[]
  /** How many wait for an approval. */
  waiting: number
  /** Ideas that are not among them. */
  more: number
}

/** Everything of a run but its rows and the details of single experiments. */
export interface PageHead {
  run: string
  name: string
  goal: string
  version: string
  started: string
  last: string
  /** Bytes of the ledger that this was made of: where a stream continues. */
  offset: number
  metric: { name: string; direction: Direction; target: number | null }
  /** `deterministic` or `paired`. */
  noise: string
  epoch: number
  epochs: readonly { epoch: number; at: string; why: string }[]
  baseline: PageStanding
  /** Least and largest sample of the baseline; null when it was not seen to vary. */
  baseline_band: readonly [number, number] | null
  best: (PageStanding & { confirmed: boolean; samples: number | null }) | null
  /** Of the best over the baseline; positive is better. */
  gain: number | null
  /** Of the best's own comparison, in metric units, against `against`. */
  interval: readonly [number, number] | null
  against: string | null
  counts: Readonly<Record<Status, number>>
  inconclusive: number
  budget: Readonly<Record<string, PageUsed>>
  stop: StopReason | null
  stop_cause: string | null
  paused: string | null
  driver: { name: string; pid: number; host: string; since: string } | null
  stall: { now: number; limit: number | null }
  /** About how many experiments the tightest cap still pays for; null when none says. */
  buys: { count: number; cap: string } | null
  bests: readonly string[]
  path: readonly { experiment: string; value: number | null; hypothesis: string }[]
  doubts: readonly { experiment: string; doubt: string; hint: string }[]
  stuck: readonly { experiment: string; message: string; hint: string }[]
  /** What people want as parents; absent = nothing is pinned. `parent`: whether a round may offer it. */
  pins?: readonly { experiment: string; why: string; parent: boolean }[]
  duration: { ms: number; active_ms: number }
  spend: { calls: number; tokens_in: number; tokens_out: number; usd: number; at_least: boolean }
  costs: {
    agents_ms: number
    measuring_ms: number
    calls: readonly PageCall[]
    dearest: {
      role: string
      experiment: string | null
      ms: number
      usd: number | null
      tokens: number | null
    } | null
    /** Cumulative, by ms since the run's first event. */
    timeline: readonly (readonly [ms: number, usd: number, tokens: number])[]
  }
  arms: {
    baseline: { experiments: number; best: number | null }
    search: { experiments: number; best: number | null; best_at_same: number | null }
  } | null
  left: { repairable: readonly string[]; retests: readonly string[] }
  /** Absent = the backlog has no idea. */
  backlog?: PageBacklog
  /** Of a run whose metric a model judges. */
  judging?: JudgingData
  judged_items?: JudgedItems
  /** The text of the pull request, as `finish` wrote it last; absent = it was not called. */
  pull_request?: string
  rounds: readonly PageRound[]
  edits: readonly { id: string; what: string; why: string; from: number | null; undone: boolean }[]
  texts: readonly PageText[]
  /** Its texts and passes; absent = the run has no suite. */
  suite?: SuiteView
  /** Kept experiments with scores by task, the baseline first; null when the benchmark has no tasks. */
  tasks: {
    names: readonly string[]
    rows: readonly { experiment: string; scores: readonly (number | null)[] }[]
  } | null
  /** Metrics that kept experiments have beside the one that is optimised. */
  metrics: readonly { name: string; points: readonly { experiment: string; value: number }[] }[]
  environment: {
    isolation: string
    /** Given up since the baseline does not work under them. */
    without: readonly string[]
    host: string | null
    /** Of the baseline's measurement: kernel, processor and so on; null when it was not recorded. */
    machine: Readonly<Record<string, string>> | null
    /** How machines that measured later differ from it, in words. */
    other_machines: readonly string[]
    git_rules: string | null
    seed: number
    base: string
  }
}

/** What only the live page has. */
export interface PageNow {
  lanes: readonly PageLane[]
  /** Who holds or awaits a measurement slot of this machine. */
  slots: readonly { holder: string; waiting: boolean; experiment: string | null }[]
  /** Bytes under `.assay`; null when not looked at yet. */
  disk: number | null
  /** Who drives the loop; null when no driver is seen. */
  driver: PageHead['driver']
  /** How many runs the repository has. */
  runs: number
}

export interface PageStage {
  stage: 'judge' | 'confirm' | 'best'
  against: string
  outcome: string
  why: string | null
  /** Positive is better; a log ratio, or metric units when linear. */
  differences: readonly number[]
  transform: 'log' | 'linear'
  /** What the bets were worth at most after each pair; null when the record does not tell. */
  evidence: readonly number[] | null
  bounds: { e: number; p: number } | null
  p: number | null
  crowded: number
}

export interface PageFile {
  path: string
  status: string
  /** null for a binary file. */
  added: number | null
  removed: number | null
  /** Folded at first: a lock file, or one that a tool writes. */
  noise: boolean
}

export interface PageDiff {
  from: string
  to: string
  files: readonly PageFile[]
}

/** A patch of one file, or why there is none to show. `again`: added lines that an ancestor had removed, by their new number. */
export type PagePatch =
  | { patch: string; again?: readonly (readonly [line: number, removedBy: string])[] }
  | { too_big: { lines: number; bytes: number } }
  | { missing: string }

/** A part of a diff, and what it is worth. */
export interface PagePart {
  id: string
  /** `pays +4.1 %`, `dead weight` */
  worth: string
  /** Nothing is lost without it. */
  dead: boolean
  lines: number
  place: string
  edits: readonly EditPlace[]
}

export interface PageTask {
  name: string
  score: number | null
  before: number | null
  /** Of a suite: each part of the loss before its weight, means over its samples; null = its signal is missing. */
  parts?: Readonly<Record<string, number | null>>
}

export interface PageNode {
  experiment: string
  message: string | null
  explained: readonly string[]
  why: string | null
  doubt: string | null
  lost_to: string | null
  fix: string | null
  flagged: boolean
  against: string | null
  parent_value: number | null
  improvement_abs: number | null
  samples: number | null
  gates: readonly { name: string; phase: GatePhase; passed: boolean | null; from: string }[]
  constraints: readonly string[]
  protected: readonly string[]
  held_out: boolean | null
  metrics: Readonly<Record<string, number | boolean>>
  /** Of the node that it was compared with. */
  parent_metrics: Readonly<Record<string, number | boolean>>
  /** Scores by task, with those of what it was compared with; null when the benchmark has no tasks. */
  tasks: readonly PageTask[] | null
  /** What was predicted of it; absent = nothing. */
  predicted?: Prediction
  stages: readonly PageStage[]
  /** Absent = no item of it was judged. */
  judged_items?: JudgedExperiment
  /** What an attribution found of the diff against `parent`. Absent = its parts were not tested. */
  parts?: { parent: string; summary: string; parts: readonly PagePart[]; together: readonly string[] }
  /** The end of what the part printed that ended it; absent = no gate and no sample of it failed. */
  broke?: { what: string; text: string }
  annotations: readonly { at: string; task: string | null; tag: string | null; text: string }[]
  brief: {
    kind: string
    objective: string
    boundaries: readonly string[]
    pointers: readonly string[]
  } | null
  artifacts: readonly { label: string; path: string; bytes: number; sha256: string }[]
  attempts: readonly {
    attempt: number
    status: string | null
    reason: string | null
    value: number | null
    message: string | null
    started: string | null
    finished: string | null
    files: number
    added: number
    removed: number
    samples: number
    confirmations: readonly { at: string; against: string; passed: boolean; message: string | null }[]
    audits: readonly { outcome: string; findings: readonly string[] }[]
  }[]
  /** The conditions under which its samples were taken; null without samples. */
  environment: Readonly<Record<string, string>> | null
  commit: string | null
  ref: string | null
  /** The CLI's own lines of it, to copy. */
  commands: readonly string[]
  diff: PageDiff | null
}

/** One line of the list of runs. */
export interface PageRunLine extends Pick<PageHead, 'run' | 'name' | 'goal' | 'gain' | 'stop' | 'last'> {
  metric: { name: string; direction: Direction }
  baseline: number | null
  best: PageStanding | null
  experiments: number
  kept: number
  /** `idle`: nobody drives it, and no stop rule holds. */
  state: 'running' | 'paused' | 'stopped' | 'idle'
  /** Of a run whose texts are learnt: the newest pass. */
  suite?: { name: string; epochs: number; loss: number | null }
}

// ---------------------------------------------------------------- the texts of a suite and its passes
// What is shown of the texts of a suite and its passes, on the terminal and on the page.

export interface TextView {
  name: string
  file: string
  max_chars: number
  active: number
  /** The experiment that made the active version, and when it was kept. */
  since: { experiment: string; at: string } | null
  versions: TextVersion[]
}

export interface SuiteView {
  suite: string
  /** null: no gradient is declared. */
  learning_rate: number | null
  artifacts: TextView[]
  /** `versions`: of each text that the pass was run with; of a text that was not kept, the one from which it was made. */
  epochs: (SuitePass & { versions: Record<string, number> })[]
  /** What agents expected of texts, and what was measured. */
  expectations: Expectation[]
  /** Of the rounds that repeated the suite unchanged: how each task varies. Empty: none did. */
  variance: TaskVariance[]
}

export interface TaskVariance {
  task: string
  runs: number
  mean: number
  /** Standard deviation of one run; null with fewer than two. */
  deviation: number | null
}

// ---------------------------------------------------------------- what a judge said
// What is shown of the judge of a run and of what it judged, on the terminal and on the page.

export interface JudgingData {
  /** Of the judge, known answers included. */
  calls: number
  tokens: number
  usd: number
  /** Some calls did not tell what they cost. */
  at_least: boolean
  cap: number | null
  unscored: number
  anchors: AnchorReport
  /** Of a candidate that changes nothing, and of a winner. */
  forecast: JudgeForecast
  /** Items of one pair. */
  batch: number
  swap: boolean
}

/** Counts of judged items. */
export interface JudgedItems {
  /** Items whose answers both sides gave, and those that were not equal. */
  asked: number
  changed: number
  /** Of the judged ones, by the candidate's score. */
  won: number
  lost: number
  tied: number
  /** How often the longer and the shorter of two answers won, ties left out. */
  longer_won: number
  shorter_won: number
}

/** One experiment before the judge; held-out items are not in it, since who could read them could climb on them. */
export interface JudgedExperiment {
  items: JudgedItems
  /** In order. */
  pairs: readonly JudgedPair[]
  /** Items with the highest and the lowest scores, the lowest first. */
  answers: readonly JudgedAnswer[]
  /** Items that were judged and are not in `answers`. */
  answers_more: number
}

export interface JudgedPair {
  stage: Stage
  /** From 0, in its stage. */
  pair: number
  asked: number
  changed: number
  judged: number
  /** Mean score of the judged items: positive is better. */
  d: number
}

export interface JudgedAnswer {
  stage: Stage
  pair: number
  item: string
  /** Of the candidate: positive is better. */
  score: number
  /** One call, or two with `judge.swap`. */
  calls: readonly JudgeSaid[]
}

/** One call of the judge, in short: lines that can be printed. */
export interface JudgeSaid {
  /** Whose answer the judge read first. */
  first: Side
  /** Why the item is unscored; null when it is not. */
  unscored: string | null
  statements: readonly {
    criterion: string | null
    candidate: string
    other: string
    evidence: string
  }[]
}
