/** Scores by task as a map of squares, and the other metrics as small charts. */
import { extent } from 'd3-array'
import { scaleLinear } from 'd3-scale'
import { line } from 'd3-shape'
import type { PageHead } from '../cli/view/page-model.ts'
import { rows } from './data.ts'
import { NodeLink, Scroll } from './parts.tsx'
import { go } from './route.ts'
import { figure, percent } from './words.ts'

type Tasks = NonNullable<PageHead['tasks']>

/** Against the parent's score where that is here, else the baseline's: better is filled, worse is hollow; size says how much. */
export function Heat({ tasks, metric }: { tasks: Tasks; metric: PageHead['metric'] }) {
  const scores = new Map(tasks.rows.map((row) => [row.experiment, row.scores]))
  const sign = metric.direction === 'maximize' ? 1 : -1
  const first = tasks.rows[0]
  const change = (experiment: string, task: number): number | null => {
    const here = scores.get(experiment)?.[task] ?? null
    const parent = rows.get(experiment)?.parent ?? null
    const before = (parent === null ? null : scores.get(parent)?.[task]) ?? first?.scores[task] ?? null
    if (here === null || before === null) return null
    return before === 0 ? Math.sign(sign * here) : (sign * (here - before)) / Math.abs(before)
  }
  return (
    <Scroll label="Scores by task">
      <table class="heat">
        <thead>
          <tr>
            <th scope="col">task</th>
            {tasks.rows.map(({ experiment }) => (
              <th key={experiment} scope="col">
                <NodeLink id={experiment} short />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tasks.names.map((name, task) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {tasks.rows.map(({ experiment, scores: own }) => {
                const value = own[task] ?? null
                const gain = change(experiment, task)
                return (
                  <td
                    key={experiment}
                    title={`${experiment}, ${name}: ${figure(value)}${gain === null ? '' : `, ${percent(gain)} against its parent`}`}
                  >
                    <Square gain={gain} />
                    <span class="figure">{value === null ? '–' : figure(Number(value.toPrecision(3)))}</span>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="small soft">
        Against its parent: a filled square is better, a hollow one worse, and a larger one by more.
      </p>
    </Scroll>
  )
}

function Square({ gain }: { gain: number | null }) {
  if (gain === null || gain === 0) return <span class="square" aria-hidden="true" />
  const side = 3 + 9 * Math.min(1, Math.sqrt(Math.abs(gain)))
  return (
    <svg class="square" width="12" height="12" aria-hidden="true">
      <rect
        class={gain > 0 ? 'better' : 'worse'}
        x={6 - side / 2}
        y={6 - side / 2}
        width={side}
        height={side}
      />
    </svg>
  )
}

const SMALL = { width: 180, height: 56 }

export function Multiples({ metrics }: { metrics: PageHead['metrics'] }) {
  return (
    <>
      <div class="multiples">
        {metrics.map(({ name, points }) => {
          const values = points.map(({ value }) => value)
          const [low = 0, high = 1] = extent(values)
          const x = scaleLinear([0, Math.max(1, points.length - 1)], [4, SMALL.width - 4])
          const y = scaleLinear(low === high ? [low - 1, low + 1] : [low, high], [SMALL.height - 6, 6])
          const path = line<number>()
            .x((_, i) => x(i))
            .y((value) => y(value))
          const last = points.at(-1)
          return (
            <figure key={name}>
              <figcaption class="small">
                {name}{' '}
                <span class="figure">
                  {points.length < 2 ? '' : `${rough(values[0])} → `}
                  {rough(last?.value)}
                </span>
              </figcaption>
              <svg
                width={SMALL.width}
                height={SMALL.height}
                role="img"
                aria-label={`${name} of the kept experiments, in order: from ${figure(values[0] ?? null)} to ${figure(last?.value ?? null)}`}
              >
                <path class="thin" d={path(values) ?? ''} />
                {points.length > 60
                  ? null
                  : points.map(({ experiment, value }, i) => (
                      <circle
                        key={experiment}
                        cx={x(i)}
                        cy={y(value)}
                        r={2.5}
                        onClick={() => go({ node: experiment })}
                        role="presentation"
                      >
                        <title>{`${experiment}: ${figure(value)}`}</title>
                      </circle>
                    ))}
              </svg>
            </figure>
          )
        })}
      </div>
      <p class="small soft">
        From the first kept experiment to the newest, in order; each chart from its least to its largest
        value.
      </p>
    </>
  )
}

const rough = (value: number | undefined): string =>
  figure(value === undefined ? null : Number(value.toPrecision(3)))
