/** The pairs of one stage: how much better each was, and what the bets were worth, against the bound. */
import { extent } from 'd3-array'
import { scaleLinear, scaleLog } from 'd3-scale'
import { line } from 'd3-shape'
import type { PageStage } from '../cli/view/page-model.ts'
import { NodeLink, useWidth } from './parts.tsx'
import { counted, figure } from './words.ts'

const HEIGHT = 96
const EDGE = { left: 46, right: 10, top: 8, bottom: 18 }

const TITLES = {
  judge: 'Judged against',
  confirm: 'Confirmed on fresh pairs against',
  best: 'Measured against the best,',
}
const WHY: Readonly<Record<string, string>> = {
  evidence: 'the evidence was clear',
  last_look: 'the exact test after the last pair decided',
  futility: 'pairs like these hardly ever become clear',
  too_small: 'better by less than metric.min_improvement',
  tie: 'the interval lies within ±metric.min_improvement',
  worse: 'clearly not better',
  not_typical: 'only some pairs got better',
  cap: 'the last pair allowed was not clear',
  crowd: 'other programs may have made it',
}

export function Pairs({ stage, metric }: { stage: PageStage; metric: string }) {
  const [box, width] = useWidth()
  const n = stage.differences.length
  const unit = stage.transform === 'log' ? 'log ratio' : metric
  return (
    <figure class="pairs">
      <figcaption class="small">
        {TITLES[stage.stage]} <NodeLink id={stage.against} />: {counted(n, 'pair')},{' '}
        {stage.outcome.replace('_', ' ')}
        {stage.why ? `; ended because ${WHY[stage.why] ?? stage.why}` : ''}
        {stage.crowded > 0 ? `; other programs kept the processors busy in ${stage.crowded}` : ''}
      </figcaption>
      <div ref={box}>
        {width > 0 && n > 0 ? (
          <>
            <Differences stage={stage} width={width} unit={unit} />
            {stage.evidence && stage.bounds ? <Evidence stage={stage} width={width} /> : null}
          </>
        ) : null}
      </div>
    </figure>
  )
}

function Differences({ stage, width, unit }: { stage: PageStage; width: number; unit: string }) {
  const d = stage.differences
  const [low = 0, high = 0] = extent([0, ...d])
  const x = scaleLinear([0, d.length + 1], [EDGE.left, width - EDGE.right])
  const y = scaleLinear([low, high === low ? low + 1 : high], [HEIGHT - EDGE.bottom, EDGE.top]).nice()
  return (
    <svg
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={`How much better each pair was, in ${unit}: ${d.map((value) => figure(value)).join(', ')}`}
    >
      <g class="axis">
        {y.ticks(3).map((tick) => (
          <g key={tick}>
            <line class="grid" x1={EDGE.left} x2={width - EDGE.right} y1={y(tick)} y2={y(tick)} />
            <text x={EDGE.left - 6} y={y(tick)} dy="0.32em" text-anchor="end">
              {figure(tick)}
            </text>
          </g>
        ))}
        <text class="title" x={width - EDGE.right} y={HEIGHT - 4} text-anchor="end">
          better by ({unit}), pair after pair
        </text>
      </g>
      <line class="baseline" x1={EDGE.left} x2={width - EDGE.right} y1={y(0)} y2={y(0)} />
      {d.map((value, i) => (
        <g key={`${i} ${value}`} class={value > 0 ? 'pair better' : 'pair'}>
          <line x1={x(i + 1)} x2={x(i + 1)} y1={y(0)} y2={y(value)} />
          <circle cx={x(i + 1)} cy={y(value)} r={3} />
        </g>
      ))}
    </svg>
  )
}

function Evidence({ stage, width }: { stage: PageStage; width: number }) {
  const e = stage.evidence ?? []
  const bound = stage.bounds?.e ?? 1
  const x = scaleLinear([0, e.length + 1], [EDGE.left, width - EDGE.right])
  const y = scaleLog([1, Math.max(bound * 1.5, ...e)], [HEIGHT - EDGE.bottom, EDGE.top])
  const path = line<number>()
    .x((_, i) => x(i))
    .y((value) => y(Math.max(1, value)))
  return (
    <svg
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={`Evidence after each pair: ${e.map((value) => figure(value)).join(', ')}; ${figure(bound)} decides`}
    >
      <g class="axis">
        {[1, bound].map((tick) => (
          <text key={tick} x={EDGE.left - 6} y={y(tick)} dy="0.32em" text-anchor="end">
            {figure(tick)}
          </text>
        ))}
        <text class="title" x={width - EDGE.right} y={HEIGHT - 4} text-anchor="end">
          evidence (what the bets were worth); the line decides
        </text>
      </g>
      <line class="bound" x1={EDGE.left} x2={width - EDGE.right} y1={y(bound)} y2={y(bound)} />
      <path class="stair" d={path([1, ...e]) ?? ''} />
    </svg>
  )
}
