/** Values over experiments, time or cost: points on a canvas, everything that is read or focused in SVG above it. */
import { bisector, extent, quantile } from 'd3-array'
import { type ScaleLinear, scaleLinear } from 'd3-scale'
import { curveStepAfter, line } from 'd3-shape'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PageHead, PageRow } from '../cli/view/page-model.ts'
import { MARKS } from '../cli/view/page-model.ts'
import { head, rows, rowsVersion } from './data.ts'
import { type Colours, drawMark, MarkIcon, SHAPES, wordOf } from './marks.tsx'
import { isDark, useWidth } from './parts.tsx'
import { go, param, selected } from './route.ts'
import { counted, figure, percent, timeSpan } from './words.ts'

const AXES = ['experiments', 'time', 'cost'] as const
type Axis = (typeof AXES)[number]

/** How many experiments are shown, those that were opened first; null = all. */
const until = (): number | null => {
  const n = Number(param('until') ?? 'all')
  return Number.isInteger(n) && n > 0 ? n : null
}

const EDGE = { left: 62, right: 18, top: 30, bottom: 40 }

interface Point {
  row: PageRow
  x: number
  /** Off the axis: drawn at its edge. */
  off: 'above' | 'below' | null
}

export function Chart({ height = 316 }: { height?: number }) {
  const [box, width] = useWidth()
  const data = head.value
  const version = rowsVersion.value
  selected.value
  const axis = AXES.find((name) => name === param('x')) ?? 'experiments'
  const last = until()
  const made = useMemo(
    () => (data ? layout(data, axis, width, height, last) : null),
    [data, version, axis, width, height, last],
  )
  if (!data || !made) return null
  const cheap = data.costs.timeline.length === 0
  return (
    <div class="chart">
      <div class="filters">
        <fieldset class="chips">
          <legend class="unseen">Horizontal axis</legend>
          {AXES.filter((name) => name !== 'cost' || !cheap).map((name) => (
            <button
              key={name}
              type="button"
              class="chip"
              aria-pressed={axis === name}
              onClick={() => go({ x: name === 'experiments' ? null : name }, { replace: true })}
            >
              over {name}
            </button>
          ))}
        </fieldset>
        <label class="replay">
          replay{' '}
          <input
            type="range"
            min={1}
            max={Math.max(1, made.total)}
            value={last ?? made.total}
            aria-valuetext={`${last ?? made.total} of ${made.total} experiments`}
            onInput={({ currentTarget }) => {
              const n = Number(currentTarget.value)
              go({ until: n >= made.total ? null : String(n) }, { replace: true })
            }}
          />
          <span class="figure">{(last ?? made.total).toLocaleString('en')}</span>
        </label>
      </div>
      <div ref={box} class="plot" style={{ height: `${height}px` }}>
        {width > 0 ? <Plot made={made} data={data} width={width} height={height} axis={axis} /> : null}
      </div>
      <Legend made={made} />
    </div>
  )
}

interface Made {
  points: Point[]
  x: ScaleLinear<number, number>
  y: ScaleLinear<number, number>
  stair: { x: number; value: number; row: PageRow }[]
  total: number
  earlier: number
  without: number
  beyond: number
  shown: PageRow[]
}

function layout(data: PageHead, axis: Axis, width: number, height: number, last: number | null): Made {
  const all = [...rows.values()]
  const shown = last === null ? all : all.slice(0, last)
  const now = shown.filter(({ epoch }) => epoch === data.epoch)
  const ids = new Map(all.map(({ experiment }, i) => [experiment, i]))
  const costAt = costsAt(data)
  const xOf = (row: PageRow): number => {
    if (axis === 'experiments') return ids.get(row.experiment) ?? 0
    const at = row.judged ?? row.created
    return axis === 'time' ? at : costAt(at)
  }
  const valued = now.flatMap((row) => (row.value === null ? [] : [{ row, value: row.value }]))
  const bests = new Set(data.bests)
  const better = data.metric.direction === 'minimize' ? -1 : 1
  // By the axis, not by the order of verdicts: an earlier experiment may have been judged later.
  const stair: Made['stair'] = []
  for (const { row, value } of valued
    .filter((one) => bests.has(one.row.experiment))
    .sort((a, b) => xOf(a.row) - xOf(b.row))) {
    const before = stair.at(-1)
    if (before === undefined || better * (value - before.value) > 0) stair.push({ x: xOf(row), value, row })
  }
  const x = scaleLinear()
    // A little room, so that the newest best has a step of its own.
    .domain([0, 1.02 * Math.max(1, ...extremes(shown.map(xOf)))])
    .range([EDGE.left, Math.max(EDGE.left + 10, width - EDGE.right)])
  const y = scaleLinear()
    .domain(
      domainOf(
        data,
        stair.map(({ value }) => value),
        valued.map(({ value }) => value),
      ),
    )
    .nice()
    .range([height - EDGE.bottom, EDGE.top])
  const [low = 0, high = 1] = y.domain()
  const points = valued.map(
    ({ row, value }): Point => ({
      row,
      x: xOf(row),
      off: value > high ? 'above' : value < low ? 'below' : null,
    }),
  )
  return {
    points,
    x,
    y,
    stair,
    total: all.length,
    earlier: shown.length - now.length,
    without: now.length - valued.length,
    beyond: points.filter(({ off }) => off !== null).length,
    shown,
  }
}

const extremes = (values: readonly number[]): number[] => extent(values).flatMap((value) => value ?? [])

/** All that became the best, the baseline with its noise, and nine tenths of the rest: one failure must not flatten the others. */
function domainOf(data: PageHead, bests: readonly number[], values: readonly number[]): [number, number] {
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = extremes([
    ...bests,
    ...(data.baseline.value === null ? [] : [data.baseline.value]),
    ...(data.baseline_band ?? []),
    quantile(sorted, 0.05) ?? Number.NaN,
    quantile(sorted, 0.95) ?? Number.NaN,
  ])
  if (low === undefined || high === undefined) return [0, 1]
  const room = (high - low) * 0.06 || Math.abs(high) * 0.05 || 1
  return [low - room, high + room]
}

/** Cumulative dollars, or tokens where no dollars are known. */
function costsAt({ costs: { timeline } }: PageHead): (ms: number) => number {
  const inDollars = (timeline.at(-1)?.[1] ?? 0) > 0
  const find = bisector<PageHead['costs']['timeline'][number], number>(([ms]) => ms)
  return (ms) => timeline[find.right(timeline, ms) - 1]?.[inDollars ? 1 : 2] ?? 0
}

function tickOf(data: PageHead, axis: Axis, value: number): string {
  if (axis === 'time') return value === 0 ? '0' : timeSpan(value)
  if (axis === 'experiments') return value.toLocaleString('en')
  return (data.costs.timeline.at(-1)?.[1] ?? 0) > 0 ? `$${figure(value)}` : `${figure(value / 1000)} k`
}

const AXIS_TITLES: Record<Axis, string> = {
  experiments: 'experiments, in the order in which they were opened',
  time: 'time since the run began',
  cost: 'what agents were known to cost by then',
}

function Plot({
  made,
  data,
  width,
  height,
  axis,
}: {
  made: Made
  data: PageHead
  width: number
  height: number
  axis: Axis
}) {
  const { x, y, stair, points } = made
  const [focus, setFocus] = useState<number | null>(null)
  const [low = 0, high = 1] = y.domain()
  const placeOf = ({ row, x: at, off }: Point): [number, number] => [
    x(at),
    off === 'above' ? EDGE.top : off === 'below' ? height - EDGE.bottom : y(row.value ?? 0),
  ]
  const end = x.range()[1] ?? width
  const path = line<{ x: number; value: number }>()
    .x((point) => x(point.x))
    .y((point) => y(point.value))
    .curve(curveStepAfter)
  const lastStep = stair.at(-1)
  const steps = lastStep ? [...stair, { ...lastStep, x: x.invert(end) }] : []
  const nearest = (px: number, py: number): number | null => {
    let best = 24 ** 2
    let found: number | null = null
    points.forEach((point, i) => {
      const [cx, cy] = placeOf(point)
      const far = (cx - px) ** 2 + (cy - py) ** 2
      if (far < best) {
        best = far
        found = i
      }
    })
    return found
  }
  const chosen = points.find(({ row }) => row.experiment === selected.value)
  const shown = focus === null ? null : points[focus]
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -points.length, End: points.length }[event.key]
    if (step !== undefined) {
      setFocus((now) => Math.min(points.length - 1, Math.max(0, (now ?? (step > 0 ? -1 : 0)) + step)))
      event.preventDefault()
    } else if (event.key === 'Enter' && shown) go({ node: shown.row.experiment })
    else if (event.key === 'Escape') setFocus(null)
  }
  const summary = `${data.metric.name} of ${counted(points.length, 'experiment')}: baseline ${figure(data.baseline.value)}, best ${figure(data.best?.value ?? null)}. Arrow keys go from point to point.`
  const marks = { low, high }
  return (
    <>
      <Points made={made} width={width} height={height} placeOf={placeOf} />
      <svg
        width={width}
        height={height}
        role="application"
        aria-label={summary}
        tabIndex={0}
        onKeyDown={onKey}
        onPointerMove={(event) => setFocus(nearest(event.offsetX, event.offsetY))}
        onPointerLeave={() => setFocus(null)}
        onBlur={() => setFocus(null)}
        onClick={() => shown && go({ node: shown.row.experiment })}
      >
        <g class="axis" aria-hidden="true">
          {y.ticks(5).map((tick) => (
            <g key={tick}>
              <line x1={EDGE.left} x2={end} y1={y(tick)} y2={y(tick)} class="grid" />
              <text x={EDGE.left - 8} y={y(tick)} dy="0.32em" text-anchor="end">
                {figure(tick)}
              </text>
            </g>
          ))}
          {x.ticks(Math.max(2, Math.min(8, width / 90))).map((tick) =>
            axis === 'experiments' && !Number.isInteger(tick) ? null : (
              <text key={tick} x={x(tick)} y={height - EDGE.bottom + 18} text-anchor="middle">
                {tickOf(data, axis, tick)}
              </text>
            ),
          )}
          <text x={end} y={height - 4} text-anchor="end" class="title">
            {AXIS_TITLES[axis]}
          </text>
          <text x={0} y={12} class="title">
            {data.metric.name}: {data.metric.direction === 'minimize' ? 'lower' : 'higher'} is better
          </text>
        </g>
        {data.baseline_band ? (
          <rect
            class="noise"
            x={EDGE.left}
            width={Math.max(0, end - EDGE.left)}
            y={y(Math.min(marks.high, data.baseline_band[1]))}
            height={Math.max(1, y(data.baseline_band[0]) - y(Math.min(marks.high, data.baseline_band[1])))}
          />
        ) : null}
        {data.baseline.value === null ? null : (
          <line
            class="baseline"
            x1={EDGE.left}
            x2={end}
            y1={y(data.baseline.value)}
            y2={y(data.baseline.value)}
          />
        )}
        {epochLines(data, made, axis).map(({ at, epoch }) => (
          <g key={epoch} class="epoch-mark">
            <line class="epoch" x1={x(at)} x2={x(at)} y1={EDGE.top - 6} y2={height - EDGE.bottom} />
            <text x={x(at)} y={EDGE.top - 10} text-anchor={x(at) > end - 60 ? 'end' : 'middle'}>
              epoch {epoch}
            </text>
          </g>
        ))}
        {stair.map(({ row, x: at }) =>
          row.range ? (
            <line
              key={row.experiment}
              class="interval"
              x1={x(at)}
              x2={x(at)}
              y1={y(Math.max(low, Math.min(high, row.range[0])))}
              y2={y(Math.max(low, Math.min(high, row.range[1])))}
            />
          ) : null,
        )}
        {steps.length > 1 ? <path class="stair" d={path(steps) ?? ''} /> : null}
        {chosen ? <Ring at={placeOf(chosen)} /> : null}
        {shown ? <Ring at={placeOf(shown)} /> : null}
      </svg>
      {shown ? <Tip point={shown} at={placeOf(shown)} width={width} /> : null}
    </>
  )
}

/** Where an epoch began: between the experiments that were judged before and after it. */
function epochLines(data: PageHead, made: Made, axis: Axis): { at: number; epoch: number }[] {
  return data.epochs.flatMap(({ epoch, at }) => {
    const ms = Date.parse(at) - Date.parse(data.started)
    if (axis === 'time') return [{ at: ms, epoch }]
    if (axis === 'cost') return [{ at: costsAt(data)(ms), epoch }]
    return [{ at: made.shown.filter(({ created }) => created < ms).length - 0.5, epoch }]
  })
}

function Points({
  made,
  width,
  height,
  placeOf,
}: {
  made: Made
  width: number
  height: number
  placeOf: (point: Point) => [number, number]
}) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const dark = isDark.value
  // Before the next paint: paper waits for no other.
  useLayoutEffect(() => {
    const element = canvas.current
    const to = element?.getContext('2d')
    if (!element || !to) return
    const style = getComputedStyle(document.documentElement)
    const scale = devicePixelRatio || 1
    element.width = width * scale
    element.height = height * scale
    const colours: Colours = {
      accent: style.getPropertyValue('--accent').trim(),
      ink: style.getPropertyValue('--ink').trim(),
      soft: style.getPropertyValue('--faint').trim(),
      scale,
    }
    to.clearRect(0, 0, element.width, element.height)
    const began = performance.now()
    // What was kept is drawn last, over the many that were not.
    const isKept = ({ row }: Point) =>
      row.mark === 'kept' || row.mark === 'confirmed' || row.mark === 'merged'
    for (const kept of [false, true]) {
      for (const point of made.points) {
        if (isKept(point) !== kept) continue
        const [px, py] = placeOf(point)
        if (point.off === null) drawMark(to, point.row.mark, px, py, colours)
        else {
          to.setTransform(scale, 0, 0, scale, px * scale, py * scale)
          to.fillStyle = colours.soft
          to.beginPath()
          const tip = point.off === 'above' ? -4 : 4
          to.moveTo(0, tip)
          to.lineTo(3.5, -tip / 2)
          to.lineTo(-3.5, -tip / 2)
          to.fill()
        }
      }
    }
    element.dataset.ms = String(performance.now() - began)
  }, [made, width, height, dark])
  return <canvas ref={canvas} style={{ width: `${width}px`, height: `${height}px` }} aria-hidden="true" />
}

const Ring = ({ at: [cx, cy] }: { at: [number, number] }) => <circle class="ring" cx={cx} cy={cy} r={9} />

function Tip({ point: { row }, at: [px, py], width }: { point: Point; at: [number, number]; width: number }) {
  const side = px > width / 2 ? { right: `${width - px + 14}px` } : { left: `${px + 14}px` }
  return (
    <div class="tip" role="status" style={{ ...side, top: `${Math.max(0, py - 20)}px` }}>
      <b>{row.experiment}</b> <MarkIcon mark={row.mark} size={10} /> {wordOf(row)}
      <br />
      <span class="figure">
        {figure(row.value)} {percent(row.improvement)}
      </span>
      <br />
      {row.parent === null ? 'the baseline' : row.hypothesis}
    </div>
  )
}

function Legend({ made }: { made: Made }) {
  const found = new Set(made.points.map(({ row }) => row.mark))
  const left = [
    made.earlier > 0 ? `${made.earlier.toLocaleString('en')} of an earlier epoch` : '',
    made.without > 0 ? `${made.without.toLocaleString('en')} without a value` : '',
  ].filter(Boolean)
  return (
    <p class="legend small">
      {MARKS.filter((mark) => found.has(mark)).map((mark) => (
        <span key={mark}>
          <MarkIcon mark={mark} size={10} /> {SHAPES[mark].word}
        </span>
      ))}
      <span>
        <svg class="key stair" width="22" height="8" aria-hidden="true">
          <path d="M0 2H11V6H22" />
        </svg>{' '}
        best so far
      </span>
      <span>
        <svg class="key baseline" width="22" height="8" aria-hidden="true">
          <path d="M0 4H22" />
        </svg>{' '}
        baseline{head.value?.baseline_band ? ' with the spread of its samples' : ''}
      </span>
      {made.beyond > 0 ? <span>▴ {made.beyond.toLocaleString('en')} beyond the axis</span> : null}
      {left.length > 0 ? <span>not drawn: {left.join(', ')}</span> : null}
    </p>
  )
}
