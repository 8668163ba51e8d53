/** The texts of a suite: the loss of each pass, the version of each text, how the tasks do, and what agents expected. */
import { extent, median } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { useState } from 'preact/hooks'
import type { Mark, SuiteView } from '../cli/view/page-model.ts'
import { head, nodeOf, rowsVersion, runs } from './data.ts'
import { MarkIcon } from './marks.tsx'
import { Empty, NodeLink, Scroll, Section, useLoaded, useWidth } from './parts.tsx'
import { go, linkTo } from './route.ts'
import { counted, figure, percent } from './words.ts'

type Pass = SuiteView['epochs'][number]

export function Learning() {
  const suite = head.value?.suite
  if (!suite) return <Empty>This run has no suite.</Empty>
  if (suite.epochs.length === 0) {
    return (
      <Section title={`Loss of ${suite.suite}`}>
        <Empty>No pass was measured yet.</Empty>
      </Section>
    )
  }
  return (
    <>
      <Section title={`Loss of ${suite.suite}`}>
        <p class="small soft">
          {suite.learning_rate === null
            ? 'The suite is repeated: the spec declares no gradient.'
            : `Learning rate ${figure(suite.learning_rate)}: how much of a text the next rewrite may change.`}
        </p>
        <LossChart epochs={suite.epochs} />
      </Section>
      <Section title="Versions of the texts">
        <Versions suite={suite} />
      </Section>
      <Section title="Loss of each task">
        <TaskChart epochs={suite.epochs} />
        <Tasks suite={suite} />
      </Section>
      <Section title="Parts of the loss">
        <LossParts epochs={suite.epochs} />
      </Section>
      {suite.expectations.length > 0 ? (
        <Section title="Expected and measured">
          <Expected suite={suite} />
        </Section>
      ) : null}
      <Suites />
    </>
  )
}

// ---------------------------------------------------------------- the charts

const HEIGHT = 236
const EDGE = { left: 52, right: 14, top: 28, bottom: 44 }

const OUTCOMES: Readonly<Record<Pass['outcome'], { mark: Mark; word: string }>> = {
  baseline: { mark: 'open', word: 'the texts as they were' },
  kept: { mark: 'kept', word: 'a new version, kept' },
  not_kept: { mark: 'rejected', word: 'a change that was rolled back' },
  revoked: { mark: 'revoked', word: 'a version that was revoked later' },
  unchanged: { mark: 'discarded', word: 'no text was changed' },
}

interface Frame {
  epochs: readonly Pass[]
  width: number
  x: (index: number) => number
  y: (loss: number) => number
  ticks: number[]
}

function frameOf(epochs: readonly Pass[], width: number, losses: readonly number[]): Frame {
  const y = scaleLinear([0, Math.max(...losses, 0.0001)], [HEIGHT - EDGE.bottom, EDGE.top]).nice()
  const x = scaleLinear([0, Math.max(1, epochs.length - 1)], [EDGE.left + 12, width - EDGE.right - 12])
  return { epochs, width, x, y, ticks: y.ticks(4) }
}

function Axes({ frame: { epochs, width, x, y, ticks }, title }: { frame: Frame; title: string }) {
  const every = Math.ceil(epochs.length / Math.max(1, Math.floor(width / 40)))
  return (
    <g class="axis" aria-hidden="true">
      <text x={0} y={12} class="title">
        {title}
      </text>
      {ticks.map((tick) => (
        <g key={tick}>
          <line class="grid" x1={EDGE.left} x2={width - EDGE.right} y1={y(tick)} y2={y(tick)} />
          <text x={EDGE.left - 10} y={y(tick)} dy="0.32em" text-anchor="end">
            {lossText(tick)}
          </text>
        </g>
      ))}
      {epochs.map(({ epoch, experiment }, index) =>
        index % every === 0 ? (
          <text key={experiment} x={x(index)} y={HEIGHT - EDGE.bottom + 18} text-anchor="middle">
            {epoch}
          </text>
        ) : null,
      )}
      <text x={width - EDGE.right} y={HEIGHT - 6} text-anchor="end" class="title">
        pass
      </text>
    </g>
  )
}

/** A mark for each pass, by what became of it, and the mean over three passes as a dashed line. */
function LossChart({ epochs }: { epochs: readonly Pass[] }) {
  const [box, width] = useWidth()
  const frame = frameOf(
    epochs,
    width,
    epochs.flatMap(({ loss, average }) => [loss, average]),
  )
  const at = (of: (pass: Pass) => number) =>
    epochs.map((pass, index) => `${frame.x(index)},${frame.y(of(pass))}`).join(' ')
  const found = new Set(epochs.map(({ outcome }) => outcome))
  return (
    <figure class="learning">
      <div ref={box}>
        {width > 0 ? (
          <svg
            width={width}
            height={HEIGHT}
            role="img"
            aria-label={`loss of ${counted(epochs.length, 'pass', 'passes')}, from ${lossText(epochs[0]?.loss ?? null)} to ${lossText(epochs.at(-1)?.loss ?? null)}`}
          >
            <Axes frame={frame} title="mean loss of the tasks: lower is better" />
            <polyline class="average" points={at(({ average }) => average)} />
            <polyline class="loss" points={at(({ loss }) => loss)} />
            {epochs.map((pass, index) => (
              <g
                key={pass.experiment}
                class="spot"
                transform={`translate(${frame.x(index)} ${frame.y(pass.loss)})`}
                onClick={() => go({ node: pass.experiment })}
                role="presentation"
              >
                <title>{`pass ${pass.epoch}, ${pass.experiment}: loss ${lossText(pass.loss)}; ${changeOf(pass)}`}</title>
                <circle r={9} class="back" />
                <g transform="translate(-7 -7)">
                  <MarkIcon mark={OUTCOMES[pass.outcome].mark} size={14} />
                </g>
              </g>
            ))}
          </svg>
        ) : null}
      </div>
      <figcaption class="legend small">
        {(Object.keys(OUTCOMES) as Pass['outcome'][])
          .filter((outcome) => found.has(outcome))
          .map((outcome) => (
            <span key={outcome}>
              <MarkIcon mark={OUTCOMES[outcome].mark} size={10} /> {OUTCOMES[outcome].word}
            </span>
          ))}
        <span>
          <svg class="key baseline" width="22" height="8" aria-hidden="true">
            <path d="M0 4H22" />
          </svg>{' '}
          mean of three passes
        </span>
      </figcaption>
    </figure>
  )
}

/** Of each pass a bar from the least to the largest loss, a line at the median, and a dot for each task. */
function TaskChart({ epochs }: { epochs: readonly Pass[] }) {
  const [box, width] = useWidth()
  const all = epochs.flatMap(lossesOf)
  if (all.length === 0) return null
  const frame = frameOf(epochs, width, all)
  return (
    <figure class="learning tasks">
      <div ref={box}>
        {width > 0 ? (
          <svg
            width={width}
            height={HEIGHT}
            role="img"
            aria-label={`losses of the tasks in ${counted(epochs.length, 'pass', 'passes')}; the table below has them`}
          >
            <Axes frame={frame} title="loss of a task: lower is better" />
            {epochs.map((pass, index) => {
              const losses = lossesOf(pass)
              const [low, high] = extent(losses)
              const middle = median(losses)
              if (low === undefined || high === undefined || middle === undefined) return null
              return (
                <g key={pass.experiment} transform={`translate(${frame.x(index)} 0)`}>
                  <rect
                    class="span"
                    x={-5}
                    width={10}
                    y={frame.y(high)}
                    height={Math.max(1, frame.y(low) - frame.y(high))}
                  />
                  <line class="middle" x1={-9} x2={9} y1={frame.y(middle)} y2={frame.y(middle)} />
                  {Object.entries(pass.tasks ?? {}).map(([name, loss]) => (
                    <circle key={name} cy={frame.y(loss)} r={3}>
                      <title>{`pass ${pass.epoch}, ${name}: ${lossText(loss)}`}</title>
                    </circle>
                  ))}
                </g>
              )
            })}
          </svg>
        ) : null}
      </div>
      <figcaption class="small soft">
        The bar goes from the least to the largest loss of a pass, the line is the median, each dot a task.
      </figcaption>
    </figure>
  )
}

const lossesOf = ({ tasks }: Pass): number[] => Object.values(tasks ?? {})

/** As in the terminal: in a column, the points stand below each other. */
const lossText = (loss: number | null): string => (loss === null ? figure(null) : loss.toFixed(3))

function changeOf({ artifact, from, to, outcome }: Pass): string {
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
                  pass {epoch}
                  <br />
                  <NodeLink id={experiment} />
                </th>
              ))}
              <th scope="col" class="figure">
                active
              </th>
            </tr>
          </thead>
          <tbody>
            {artifacts.map(({ name, active, file }) => (
              <tr key={name}>
                <th scope="row" title={file}>
                  {name}
                </th>
                {epochs.map((pass) => (
                  <td key={pass.experiment} class="figure" title={changeOf(pass)}>
                    {pass.artifact === name ? (
                      <a href={linkTo({ node: pass.experiment, against: null })}>
                        {pass.outcome === 'kept' ? '→' : '×'} v{pass.versions[name] ?? 0}
                      </a>
                    ) : (
                      `v${pass.versions[name] ?? 0}`
                    )}
                  </td>
                ))}
                <td class="figure">v{active}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="small soft">
        → v1: the pass made version 1, which was kept. × v0: it changed version 0, and was not kept. The link
        opens the experiment with its diff.
      </p>
    </>
  )
}

// ---------------------------------------------------------------- the tasks

function Tasks({ suite: { epochs, variance } }: { suite: SuiteView }) {
  const names = [...new Set(epochs.flatMap(({ tasks }) => Object.keys(tasks ?? {})))]
  return (
    <Scroll label="Loss of each task">
      <table class="by-epoch">
        <thead>
          <tr>
            <th scope="col">task</th>
            {epochs.map(({ epoch, experiment }) => (
              <th key={experiment} scope="col" class="figure">
                pass {epoch}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {epochs.map(({ experiment, tasks }) => (
                <td key={experiment} class="figure">
                  {lossText(tasks?.[name] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {variance.map(({ task, runs: count, mean, deviation }) => (
        <p key={task} class="small">
          unchanged, {counted(count, 'run')}: {task} {lossText(mean)} ± {lossText(deviation)}
        </p>
      ))}
    </Scroll>
  )
}

/** How a task ended, as its part `status` says: 0, 0.5 or 1. */
function endOf(status: number | null | undefined): { mark: Mark; word: string } {
  if (status === null || status === undefined) return { mark: 'inconclusive', word: 'not told' }
  if (status < 0.25) return { mark: 'kept', word: 'complete' }
  return status < 0.75 ? { mark: 'flagged', word: 'partial' } : { mark: 'failed', word: 'failed' }
}

/** Of one pass: each task with the parts of its loss. */
function LossParts({ epochs }: { epochs: readonly Pass[] }) {
  const [picked, pick] = useState<string | null>(null)
  const experiment = picked ?? epochs.at(-1)?.experiment ?? ''
  const { value, failed } = useLoaded(() => nodeOf(experiment), [experiment, rowsVersion.value])
  const tasks = value?.tasks ?? []
  const names = [...new Set(tasks.flatMap(({ parts }) => Object.keys(parts ?? {})))]
  const shown = names.filter((name) => name !== 'status')
  return (
    <>
      <p class="filters">
        <label>
          pass{' '}
          <select value={experiment} onChange={({ currentTarget }) => pick(currentTarget.value)}>
            {epochs.map((pass) => (
              <option key={pass.experiment} value={pass.experiment}>
                {pass.epoch}, {pass.experiment}
              </option>
            ))}
          </select>
        </label>
      </p>
      {failed ? <p class="notice">The parts did not come: {failed}</p> : null}
      {value === undefined && !failed ? <Empty>Loading …</Empty> : null}
      {value === null ? <Empty>The details of this pass are not in the file.</Empty> : null}
      {value && names.length === 0 ? <Empty>Its record has no parts of a loss.</Empty> : null}
      {names.length > 0 ? (
        <Scroll label="Parts of the loss">
          <table>
            <thead>
              <tr>
                <th scope="col">task</th>
                <th scope="col">ended</th>
                {['loss', ...shown].map((name) => (
                  <th key={name} scope="col" class="figure">
                    {name.replaceAll('_', ' ')}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {tasks.map(({ name, score, parts }) => {
                const { mark, word } = endOf(parts?.status)
                return (
                  <tr key={name}>
                    <td>{name}</td>
                    <td class="status">
                      <MarkIcon mark={mark} size={10} /> {word}
                    </td>
                    {[score, ...shown.map((part) => parts?.[part] ?? null)].map((one, i) => (
                      <td key={`${i} ${shown[i - 1] ?? ''}`} class="figure">
                        {lossText(one)}
                      </td>
                    ))}
                  </tr>
                )
              })}
            </tbody>
          </table>
          <p class="small soft">
            Each part is from 0 (nothing lost) to 1, before its weight; – is a signal that the run did not
            give, and counts as 0.5.
          </p>
        </Scroll>
      ) : null}
    </>
  )
}

// ---------------------------------------------------------------- what agents expected, and all suites

/** Filled by as much as the agent was sure. */
const Confidence = ({ value }: { value: number }) => (
  <svg class="confidence" width="12" height="12" aria-hidden="true">
    <circle cx={6} cy={6} r={5} />
    <circle class="sure" cx={6} cy={6} r={5 * Math.sqrt(Math.min(1, Math.max(0, value)))} />
  </svg>
)

function Expected({ suite: { expectations } }: { suite: SuiteView }) {
  return (
    <Scroll label="Expected and measured">
      <table>
        <thead>
          <tr>
            <th scope="col">experiment</th>
            <th scope="col">text</th>
            <th scope="col" class="figure">
              expected reduction
            </th>
            <th scope="col" class="figure">
              confidence
            </th>
            <th scope="col" class="figure">
              measured reduction
            </th>
          </tr>
        </thead>
        <tbody>
          {expectations.map(({ experiment, artifact, expected, confidence, measured }) => (
            <tr key={experiment}>
              <td>
                <NodeLink id={experiment} />
              </td>
              <td>{artifact}</td>
              <td class="figure">{lossText(expected)}</td>
              <td class="figure">
                <Confidence value={confidence} /> {percent(confidence).replace('+', '')}
              </td>
              <td class="figure">{lossText(measured)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function Suites() {
  const all = runs.value.filter(({ suite }) => suite !== undefined)
  return (
    <Section title="Suites of this repository">
      <Scroll label="Suites">
        <table>
          <thead>
            <tr>
              <th scope="col">suite</th>
              <th scope="col">run</th>
              <th scope="col" class="figure">
                passes
              </th>
              <th scope="col" class="figure">
                last loss
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map(({ run, suite }) => (
              <tr key={run} {...(run === head.value?.run ? { 'aria-current': 'true' } : {})}>
                <td>{suite?.name}</td>
                <td>
                  <a href={linkTo({ run, view: 'learning', node: null })}>{run}</a>
                </td>
                <td class="figure">{suite?.epochs}</td>
                <td class="figure">{lossText(suite?.loss ?? null)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Section>
  )
}
