/** The texts of a suite: the loss of each epoch, the version of each text, and how the tasks do. */
import { scaleLinear } from 'd3-scale'
import type { SuiteView } from '../cli/view/suite-model.ts'
import { head } from './data.ts'
import { Empty, NodeLink, Scroll, Section, useWidth } from './parts.tsx'
import { counted, figure } from './words.ts'

type Epoch = SuiteView['epochs'][number]

export function Learning() {
  const suite = head.value?.suite
  if (!suite) return <Empty>This run has no suite.</Empty>
  return (
    <>
      <Section title={`Loss of ${suite.suite}`}>
        <p class="small soft">
          {suite.learning_rate === null
            ? 'without a gradient'
            : `learning rate ${figure(suite.learning_rate)}`}{' '}
          · {suite.artifacts.map(({ name, active }) => `${name} v${active}`).join(' · ')}
        </p>
        <LossChart epochs={suite.epochs} />
      </Section>
      <Section title="Versions of the texts">
        <Versions suite={suite} />
      </Section>
      <Section title="Loss of each task">
        <Tasks suite={suite} />
      </Section>
    </>
  )
}

// ---------------------------------------------------------------- the loss

const HEIGHT = 220
const EDGE = { left: 52, right: 14, top: 12, bottom: 30 }

/** A dot for each epoch, by what became of it, and the mean over three epochs as a dashed line. */
function LossChart({ epochs }: { epochs: readonly Epoch[] }) {
  const [box, width] = useWidth()
  const most = Math.max(...epochs.flatMap(({ loss, average }) => [loss, average]), 0.0001)
  const x = scaleLinear([0, Math.max(1, epochs.length - 1)], [EDGE.left, width - EDGE.right])
  const y = scaleLinear([0, most], [HEIGHT - EDGE.bottom, EDGE.top]).nice()
  const at = (of: (epoch: Epoch) => number) =>
    epochs.map((epoch, index) => `${x(index)},${y(of(epoch))}`).join(' ')
  const named = Math.ceil(epochs.length / Math.max(1, Math.floor(width / 40)))
  return (
    <figure class="learning">
      <div ref={box}>
        {width > 0 ? (
          <svg
            width={width}
            height={HEIGHT}
            role="img"
            aria-label={`loss of ${counted(epochs.length, 'epoch')}, from ${lossText(epochs[0]?.loss ?? null)} to ${lossText(epochs.at(-1)?.loss ?? null)}`}
          >
            <g class="axis">
              {y.ticks(4).map((tick) => (
                <g key={tick}>
                  <line class="grid" x1={EDGE.left} x2={width - EDGE.right} y1={y(tick)} y2={y(tick)} />
                  <text x={EDGE.left - 12} y={y(tick)} dy="0.32em" text-anchor="end">
                    {lossText(tick)}
                  </text>
                </g>
              ))}
              {epochs.map(({ epoch, experiment }, index) =>
                index % named === 0 ? (
                  <text key={experiment} x={x(index)} y={HEIGHT - EDGE.bottom + 18} text-anchor="middle">
                    {epoch}
                  </text>
                ) : null,
              )}
            </g>
            <polyline class="average" points={at(({ average }) => average)} />
            <polyline class="loss" points={at(({ loss }) => loss)} />
            {epochs.map((epoch, index) => (
              <circle
                key={epoch.experiment}
                class={epoch.outcome === 'kept' ? 'is-kept' : ''}
                cx={x(index)}
                cy={y(epoch.loss)}
                r="5"
              >
                <title>{`epoch ${epoch.epoch}, ${epoch.experiment}: loss ${lossText(epoch.loss)}; ${changeOf(epoch)}`}</title>
              </circle>
            ))}
          </svg>
        ) : null}
      </div>
      <figcaption class="small soft">
        Loss by epoch; a filled dot is a text that was kept. Dashed: the mean of three epochs.
      </figcaption>
    </figure>
  )
}

/** Three digits, as in the terminal. */
const lossText = (loss: number | null): string => figure(loss === null ? null : Number(loss.toPrecision(3)))

function changeOf({ artifact, from, to, outcome }: Epoch): string {
  if (artifact === null) return 'no text was changed'
  return outcome === 'kept'
    ? `${artifact} v${from} → v${to}`
    : `a change of ${artifact} v${from} that was not kept`
}

// ---------------------------------------------------------------- the texts

function Versions({ suite: { artifacts, epochs } }: { suite: SuiteView }) {
  return (
    <>
      <Scroll label="Versions of the texts">
        <table class="by-epoch">
          <thead>
            <tr>
              <th scope="col">text</th>
              {epochs.map(({ epoch, experiment }) => (
                <th key={experiment} scope="col" class="figure">
                  {epoch}
                  <br />
                  <NodeLink id={experiment} />
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
      </Scroll>
      <p class="small soft">
        → v1: run with version 1, which was kept; × v0: a change of version 0 that was not kept. The
        experiment has the diff.
      </p>
    </>
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
          {lossText(of(epoch))}
        </td>
      ))}
    </tr>
  )
  return (
    <Scroll label="Loss of each task">
      <table class="by-epoch">
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
          unchanged, {runs} runs: {task} {lossText(mean)} ± {lossText(deviation)}
        </p>
      ))}
    </Scroll>
  )
}

/** The loss at this share of the tasks, in order; null without tasks. */
function at({ tasks }: Epoch, share: number): number | null {
  const losses = Object.values(tasks ?? {}).sort((a, b) => a - b)
  return losses[Math.floor(share * (losses.length - 1))] ?? null
}
