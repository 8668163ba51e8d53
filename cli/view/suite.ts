/** The texts of a suite and its passes, as data: what `artifact`, `status` and `report` show. */
import { isRepeatRecord } from '../ledger/task-id.ts'
import {
  activeVersion,
  expectations,
  learningRate,
  suitePasses,
  versionAtNode,
  versionsOf,
} from '../ledger/texts.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import type { SuiteView, TaskVariance } from './page-model.ts'

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
    epochs: suitePasses(state, names).map((pass) => ({
      ...pass,
      versions: Object.fromEntries(
        names.map((name) => [
          name,
          name === pass.artifact ? (pass.to ?? pass.from ?? 0) : at(pass.experiment, name),
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
    if (isRepeatRecord(task)) add((answer?.tasks ?? {}) as Record<string, unknown>)
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
