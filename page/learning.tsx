/** The texts of a suite: the loss of each epoch, the version of each text, and how the tasks do. */
import type { SuiteView } from '../cli/view/suite-model.ts'
import { head } from './data.ts'
import { NodeLink } from './parts.tsx'
import { figure } from './words.ts'

type Epoch = SuiteView['epochs'][number]

export function Learning() {
  const suite = head.value?.suite
  if (!suite) return <p>This run has no suite.</p>
  return (
    <section>
      <h2>{suite.suite}</h2>
      <p class="small soft">
        {suite.learning_rate === null ? 'without a gradient' : `learning rate ${figure(suite.learning_rate)}`}{' '}
        · {suite.artifacts.map(({ name, active }) => `${name} v${active}`).join(' · ')}
      </p>
      <LossChart epochs={suite.epochs} />
      <Versions suite={suite} />
      <Tasks suite={suite} />
    </section>
  )
}

// ---------------------------------------------------------------- the loss

const SIZE = { width: 720, height: 220, left: 48, rest: 16 }

/** A dot for each epoch, by what became of it, and the mean over three epochs as a dashed line. */
function LossChart({ epochs }: { epochs: readonly Epoch[] }) {
  const most = Math.max(...epochs.flatMap(({ loss, average }) => [loss, average]), 0.0001)
  const { width, height, left, rest } = SIZE
  const x = (index: number) => left + ((width - left - rest) * index) / Math.max(1, epochs.length - 1)
  const y = (loss: number) => height - rest - ((height - 2 * rest) * loss) / most
  const line = (of: (epoch: Epoch) => number) =>
    epochs.map((epoch, index) => `${x(index)},${y(of(epoch))}`).join(' ')
  return (
    <svg
      class="learning"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`loss of ${epochs.length} epochs, from ${figure(epochs[0]?.loss ?? null)} to ${figure(epochs.at(-1)?.loss ?? null)}`}
    >
      {[0, most / 2, most].map((loss) => (
        <text key={loss} class="tick" x={left - 6} y={y(loss) + 4} text-anchor="end">
          {figure(Number(loss.toPrecision(2)))}
        </text>
      ))}
      <polyline class="average" points={line(({ average }) => average)} />
      <polyline class="loss" points={line(({ loss }) => loss)} />
      {epochs.map((epoch, index) => (
        <circle key={epoch.experiment} class={epoch.outcome} cx={x(index)} cy={y(epoch.loss)} r="5">
          <title>{`epoch ${epoch.epoch}, ${epoch.experiment}: loss ${figure(epoch.loss)}; ${changeOf(epoch)}`}</title>
        </circle>
      ))}
    </svg>
  )
}

function changeOf({ artifact, from, to, outcome }: Epoch): string {
  if (artifact === null) return 'no text was changed'
  return outcome === 'kept'
    ? `${artifact} v${from} → v${to}`
    : `a change of ${artifact} v${from} that was not kept`
}

// ---------------------------------------------------------------- the texts

function Versions({ suite: { artifacts, epochs } }: { suite: SuiteView }) {
  return (
    <div class="scroll">
      <table>
        <caption>Which version of each text an epoch was run with; the experiment has the diff</caption>
        <thead>
          <tr>
            <th scope="col">text</th>
            {epochs.map(({ epoch, experiment }) => (
              <th key={experiment} scope="col" class="figure">
                {epoch} <NodeLink id={experiment} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {artifacts.map(({ name }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {epochs.map((epoch) => (
                <td key={epoch.experiment} class="figure" title={changeOf(epoch)}>
                  {epoch.artifact === name ? (epoch.outcome === 'kept' ? '→ ' : '× ') : ''}v
                  {epoch.versions[name] ?? 0}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

// ---------------------------------------------------------------- the tasks

/** Of each epoch the least, the median and the largest loss of its tasks, then each task. */
function Tasks({ suite: { epochs, variance } }: { suite: SuiteView }) {
  const names = [...new Set(epochs.flatMap(({ tasks }) => Object.keys(tasks ?? {})))]
  const row = (name: string, of: (epoch: Epoch) => number | null) => (
    <tr key={name}>
      <th scope="row">{name}</th>
      {epochs.map((epoch) => (
        <td key={epoch.experiment} class="figure">
          {figure(of(epoch))}
        </td>
      ))}
    </tr>
  )
  return (
    <div class="scroll">
      <table>
        <caption>Loss of each task</caption>
        <thead>
          <tr>
            <th scope="col">epoch</th>
            {epochs.map(({ epoch, experiment }) => (
              <th key={experiment} scope="col" class="figure">
                {epoch}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {row('least', (epoch) => at(epoch, 0))}
          {row('median', (epoch) => at(epoch, 0.5))}
          {row('largest', (epoch) => at(epoch, 1))}
          {names.map((name) => row(name, ({ tasks }) => tasks?.[name] ?? null))}
        </tbody>
      </table>
      {variance.map(({ task, runs, mean, deviation }) => (
        <p key={task} class="small">
          unchanged, {runs} runs: {task} {figure(mean)} ± {figure(deviation)}
        </p>
      ))}
    </div>
  )
}

/** The loss at this share of the tasks, in order; null without tasks. */
function at({ tasks }: Epoch, share: number): number | null {
  const losses = Object.values(tasks ?? {}).sort((a, b) => a - b)
  return losses[Math.floor(share * (losses.length - 1))] ?? null
}
