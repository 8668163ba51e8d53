/** What a suite is: tasks that are run one by one, the texts that they start from, and how a run becomes a loss. */
import type { Weights } from './loss.ts'

/** A text that is learnt: a mutable file. An experiment changes exactly one of them. */
export interface SuiteText {
  name: string
  /** Relative to the folder of the spec. */
  file: string
  /** Characters (code points). */
  maxChars: number
}

/** What one run of a task may use; Assay keeps `max_wall_time`, the program keeps the others. null = no limit is set. */
export interface TaskBudget {
  max_loops: number | null
  max_total_workers: number | null
  max_total_tokens: number | null
  max_tool_calls: number | null
  max_depth: number | null
  /** Seconds. */
  max_wall_time: number | null
}

export interface SuiteTask {
  name: string
  /** What the program has to do, in words. */
  task: string
  workflow: string | null
  model: string | null
  worker_model: string | null
  budget: TaskBudget
  /** What the program gets beside all that. */
  extra: Record<string, string | number | boolean>
  /** Those of the suite, with those of the task in their place. */
  weights: Weights
}

export interface SuiteConfig {
  name: string
  artifacts: SuiteText[]
  /** Tasks at once. */
  concurrency: number
  tasks: SuiteTask[]
}
