/** Passes of a suite as a table: the loss with its moving average, the loss of each task, and the version of each text. */
import { shown } from '../evaluate/figure.ts'
import type { SuiteView } from '../view/page-model.ts'
import { BLANK, type Cell, cell, type Line } from './lines.ts'
import { table } from './table.ts'

/** Columns of a pass, with the gap. */
const WIDTH = 9
const NAMES = 26
const MOST_TASKS = 12

type Pass = SuiteView['epochs'][number]

/** The last passes that fit into `width` columns; behind them, by how much each loss fell from the first pass to the last that was kept. */
export function suiteLines(view: SuiteView, width: number): Line[] {
  const first = view.epochs[0]
  const kept = view.epochs.findLast(({ outcome }) => outcome === 'kept')
  const fit = Math.max(2, Math.floor((width - NAMES) / WIDTH) - (kept ? 1 : 0))
  const epochs = view.epochs.slice(-fit)
  const tasks = [...new Set(view.epochs.flatMap((pass) => Object.keys(pass.tasks ?? {})))]
  const row = (name: string, of: (pass: Pass) => Cell, change = BLANK_CELL): Cell[] => [
    cell(name),
    ...epochs.map(of),
    ...(kept ? [change] : []),
  ]
  const changeOf = (lossIn: (pass: Pass) => number | null): Cell => {
    const [before, after] = [first && lossIn(first), kept && lossIn(kept)]
    return before == null || after == null ? BLANK_CELL : changeCell(after - before)
  }
  const columns = [
    { title: 'pass', flexible: true },
    ...epochs.map(({ epoch }) => ({ title: String(epoch), align: 'right' as const })),
    ...(kept ? [{ title: 'change', align: 'right' as const }] : []),
  ]
  return [
    ...table(
      columns,
      [
        row('experiment', ({ experiment }) => cell(experiment, 'dim')),
        row(
          'loss',
          (pass) => cell(loss(pass.loss), roleOf(pass)),
          changeOf((pass) => pass.loss),
        ),
        row('mean of 3 passes', ({ average }) => cell(loss(average), 'dim')),
        ...tasks.slice(0, MOST_TASKS).map((task) => {
          const lossIn = (pass: Pass) => pass.tasks?.[task] ?? null
          return row(`task ${task}`, (pass) => cell(loss(lossIn(pass))), changeOf(lossIn))
        }),
        ...view.artifacts.map(({ name }) => row(name, (pass) => versionCell(pass, name))),
      ],
      width,
    ),
    ...(tasks.length > MOST_TASKS ? [[cell(`and ${tasks.length - MOST_TASKS} more tasks`, 'dim')]] : []),
    ...(epochs.length < view.epochs.length
      ? [[cell(`the last ${epochs.length} of ${view.epochs.length} passes, which fit in here`, 'dim')]]
      : []),
    BLANK,
    [cell('v1: run with it; → v1: kept as v1; × v0: a change of v0, not kept', 'dim')],
    ...(first && kept
      ? [[cell(`change: from pass ${first.epoch} to pass ${kept.epoch}, the last that was kept`, 'dim')]]
      : []),
    ...varianceLines(view, width),
  ]
}

function varianceLines({ variance }: SuiteView, width: number): Line[] {
  if (variance.length === 0) return []
  const right = { align: 'right' } as const
  return [
    BLANK,
    ...table(
      [
        { title: 'task, with the same texts', flexible: true },
        ...['runs', 'mean loss', 'deviation'].map((title) => ({ title, ...right })),
      ],
      variance.map(({ task, runs, mean, deviation }) =>
        [task, String(runs), loss(mean), loss(deviation)].map((text) => cell(text)),
      ),
      width,
    ),
  ]
}

/** Each text with its active version. */
export function textLines({ artifacts }: SuiteView, width: number): Line[] {
  return table(
    ['text', 'active', 'since', 'versions', 'file'].map((title) => ({ title, flexible: title === 'file' })),
    artifacts.map(({ name, active, since, versions, file }) => [
      cell(name),
      cell(`v${active}`),
      cell(since ? `${since.experiment} (${since.at.slice(0, 16)})` : 'the baseline'),
      cell(String(versions.length)),
      cell(file, 'dim'),
    ]),
    width,
  )
}

const MOST_EXPECTED = 5

/** What agents expected of the last texts that were tried, and what was measured. */
export function expectationLines({ expectations }: SuiteView, width: number): Line[] {
  if (expectations.length === 0) return []
  const right = { align: 'right' } as const
  return [
    BLANK,
    ...table(
      [
        { title: 'tried' },
        { title: 'text', flexible: true },
        ...['expected', 'confidence', 'measured'].map((title) => ({ title, ...right })),
      ],
      expectations
        .slice(-MOST_EXPECTED)
        .map(({ experiment, artifact, expected, confidence, measured }) => [
          cell(experiment),
          cell(artifact),
          cell(loss(expected)),
          cell(shown(confidence)),
          cell(loss(measured), measured > 0 ? 'good' : 'bad'),
        ]),
      width,
    ),
    [cell('by how much the loss was to fall, and by how much it fell', 'dim')],
  ]
}

const loss = (value: number | null): string => (value === null ? shown(null) : value.toFixed(3))

const BLANK_CELL = cell('')

const changeCell = (change: number): Cell =>
  cell(
    `${change > 0 ? '+' : change < 0 ? '−' : ''}${Math.abs(change).toFixed(3)}`,
    change < 0 ? 'good' : change > 0 ? 'bad' : 'plain',
  )

const roleOf = ({ outcome }: Pass): Cell['role'] =>
  outcome === 'kept'
    ? 'kept'
    : outcome === 'not_kept'
      ? 'rejected'
      : outcome === 'revoked'
        ? 'revoked'
        : 'plain'

function versionCell({ artifact, outcome, versions }: Pass, name: string): Cell {
  const version = `v${versions[name] ?? 0}`
  if (artifact !== name) return cell(version, 'dim')
  return outcome === 'kept' ? cell(`→ ${version}`, 'kept') : cell(`× ${version}`, 'rejected')
}
