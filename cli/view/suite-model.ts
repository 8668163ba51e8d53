/** What is shown of the texts of a suite and its epochs, on the terminal and on the page. Pure. */
import type { Expectation, TextEpoch, TextVersion } from '../ledger/texts.ts'

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
  /** `versions`: of each artifact that the epoch was run with; of a text that was not kept, the one from which it was made. */
  epochs: (TextEpoch & { versions: Record<string, number> })[]
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
