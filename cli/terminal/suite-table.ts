/** Epochs of a suite as a table: the loss with its moving average, the loss of each task, and the version of each text. */
import { roughly, shown } from '../evaluate/figure.ts'
import type { SuiteView } from '../view/suite-model.ts'
import { BLANK, type Cell, cell, type Line } from './lines.ts'
import { table } from './table.ts'

/** Columns of an epoch, with the gap. */
const WIDTH = 9
const NAMES = 26
const MOST_TASKS = 12

type Epoch = SuiteView['epochs'][number]

/** The last epochs that fit into `width` columns. */
export function suiteLines(view: SuiteView, width: number): Line[] {
  const fit = Math.max(2, Math.floor((width - NAMES) / WIDTH))
  const epochs = view.epochs.slice(-fit)
  const tasks = [...new Set(view.epochs.flatMap((epoch) => Object.keys(epoch.tasks ?? {})))]
  const row = (name: string, of: (epoch: Epoch) => Cell): Cell[] => [cell(name), ...epochs.map(of)]
  const columns = [
    { title: 'epoch', flexible: true },
    ...epochs.map(({ epoch }) => ({ title: String(epoch), align: 'right' as const })),
  ]
  return [
    ...table(
      columns,
      [
        row('experiment', ({ experiment }) => cell(experiment, 'dim')),
        row('loss', (epoch) => cell(loss(epoch.loss), roleOf(epoch))),
        row('  mean of 3 epochs', ({ average }) => cell(loss(average), 'dim')),
        ...tasks
          .slice(0, MOST_TASKS)
          .map((task) => row(`  task ${task}`, (epoch) => cell(loss(epoch.tasks?.[task] ?? null)))),
        ...view.artifacts.map(({ name }) => row(name, (epoch) => versionCell(epoch, name))),
      ],
      width,
    ),
    ...(tasks.length > MOST_TASKS ? [[cell(`  and ${tasks.length - MOST_TASKS} more tasks`, 'dim')]] : []),
    BLANK,
    [
      cell(
        'v1: run with version 1; → v1: kept as version 1; × v0: a change of version 0 that was not kept',
        'dim',
      ),
    ],
    ...view.variance.map(
      ({ task, runs, mean, deviation }): Line => [
        cell(
          `unchanged, ${runs} runs: task ${task} ${loss(mean)} ± ${deviation === null ? 'unknown' : loss(deviation)}`,
        ),
      ],
    ),
  ]
}

const loss = (value: number | null): string => (value === null ? shown(null) : roughly(value, 3))

const roleOf = ({ outcome }: Epoch): Cell['role'] =>
  outcome === 'kept'
    ? 'kept'
    : outcome === 'not_kept'
      ? 'rejected'
      : outcome === 'revoked'
        ? 'revoked'
        : 'plain'

function versionCell({ artifact, outcome, versions }: Epoch, name: string): Cell {
  const version = `v${versions[name] ?? 0}`
  if (artifact !== name) return cell(version, 'dim')
  return outcome === 'kept' ? cell(`→ ${version}`, 'kept') : cell(`× ${version}`, 'rejected')
}
