/** The texts of a suite and its epochs, as data: what `artifact`, `status` and `report` show. */
import {
  activeVersion,
  type Expectation,
  expectations,
  learningRate,
  type TextEpoch,
  type TextVersion,
  textEpochs,
  versionAtNode,
  versionsOf,
} from '../ledger/texts.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'

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

/** null: the run has no suite. */
export function suiteView(run: OpenRun): SuiteView | null {
  const { suite } = run.spec.measure
  if (!suite) return null
  const { state } = run.ledger
  const names = suite.artifacts.map(({ name }) => name)
  const versions = new Map(names.map((name) => [name, versionsOf(state, name)]))
  const at = (id: string, name: string) => versionAtNode(state, id, name, versions.get(name) ?? [])
  const declared = liveSpec(run).gradient?.learning_rate
  return {
    suite: suite.name,
    learning_rate: declared === undefined ? null : learningRate(state, declared),
    artifacts: suite.artifacts.map(({ name, file, maxChars }) => {
      const all = versions.get(name) ?? []
      const active = activeVersion(state, name, all)
      const made = all[active]
      return {
        ...{ name, file, max_chars: maxChars, active },
        since: made ? { experiment: made.experiment, at: made.at } : null,
        versions: all,
      }
    }),
    epochs: textEpochs(state, names).map((epoch) => ({
      ...epoch,
      versions: Object.fromEntries(
        names.map((name) => [
          name,
          name === epoch.artifact ? (epoch.to ?? epoch.from ?? 0) : at(epoch.experiment, name),
        ]),
      ),
    })),
    expectations: expectations(state),
    variance: varianceOf(run),
  }
}

function varianceOf(run: OpenRun): TaskVariance[] {
  const losses = new Map<string, number[]>()
  const add = (tasks: Record<string, unknown>) => {
    for (const [task, loss] of Object.entries(tasks))
      if (typeof loss === 'number') losses.set(task, [...(losses.get(task) ?? []), loss])
  }
  for (const { task, answer } of run.ledger.state.answers.values())
    if (/^r\d+\/repeat$/.test(task)) add((answer?.tasks ?? {}) as Record<string, unknown>)
  return [...losses].map(([task, all]) => {
    const mean = all.reduce((sum, one) => sum + one, 0) / all.length
    const squares = all.reduce((sum, one) => sum + (one - mean) ** 2, 0)
    return {
      task,
      runs: all.length,
      mean,
      deviation: all.length < 2 ? null : Math.sqrt(squares / (all.length - 1)),
    }
  })
}
