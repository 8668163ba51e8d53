/** What `assay loop` would do and cost. Reads the run, changes nothing. */
import { counted, duration, shown } from '../evaluate/figure.ts'
import type { Knobs } from '../ledger/events.ts'
import { SUITE_ROUND, suiteRound } from '../loop/open.ts'
import { roundSize } from '../loop/round.ts'
import { type Cost, costOf } from '../measure/cost.ts'
import { call, next, type Said } from '../next.ts'
import { CAPS, type Cap, experimentsLeft } from '../run/budget.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { forecastLine, judgingLine, judgingOf } from './judging.ts'
import type { JudgingData } from './page-model.ts'
import { type StatusData, statusOf } from './run.ts'

export interface LoopPlan {
  run: string
  workflow: string
  /** null = the spec names no agent that proposes candidates. */
  host: string | null
  model: string | null
  /** Agents at once. */
  concurrency: number | null
  /** Not null = the loop would end at once. */
  stop: StatusData['stop']
  rounds: {
    /** `--rounds`; null = until a stop rule holds. */
    limit: number | null
    /** Rounds of full size that the rest of the budget pays for; null = no cap on experiments. */
    budgeted: number | null
    /** Rounds in a row without a new best that end it. */
    stall: number
    target: number | null
  }
  /** The next round, at most. */
  round: {
    lanes: number
    depth: number
    experiments: number
    /** Without calls of the CLI; null for a workflow that is not ours. */
    agent_calls: number | null
    /** To judge them, one after the other: best and worst. */
    judging_ms: [number, number] | null
  }
  budget: Record<Cap, { used: number; limit: number | null; left: number | null }>
  /** About how many experiments the tightest cap still pays for; null when none says. */
  buys: { count: number; cap: Cap } | null
  candidate: Cost | null
  /** Absent when no judge scores. */
  judging?: JudgingData
}

export function planLoop(run: OpenRun, { rounds }: { rounds: number | null }): LoopPlan {
  const { state } = run.ledger
  const { agent, loop, gradient } = liveSpec(run)
  const suite = suiteRound(run)
  const { knobs } = state
  if (!knobs) throw new Error('a run that has started has knobs')
  const { width, depth } = suite === null ? roundSize(state) : SUITE_ROUND
  const experiments = suite === 'repeat' ? 0 : width * depth
  const { budget, stop } = statusOf(run)
  const left = (name: keyof LoopPlan['budget']) => {
    const { used, limit } = budget[name]
    return { used, limit, left: limit === null ? null : Math.max(0, limit - used) }
  }
  const full = suite === null ? Math.max(1, knobs.width * knobs.depth) : 1
  const rest = left('experiments').left
  const candidate = costOf(run)
  const judging = judgingOf(run)
  return {
    run: run.run,
    workflow: loop.workflow,
    host: agent?.host ?? null,
    model: agent?.model ?? null,
    concurrency: agent?.concurrency ?? null,
    stop,
    rounds: {
      limit: rounds,
      budgeted: rest === null ? null : Math.ceil(rest / full),
      stall: knobs.stall,
      target: run.started.metric.target,
    },
    round: {
      lanes: width,
      depth,
      experiments,
      agent_calls:
        loop.workflow !== 'optimize'
          ? null
          : suite === null
            ? agentCalls(knobs, experiments)
            : (gradient?.candidates.length ?? 0),
      judging_ms: candidate && [experiments * candidate.best_ms, experiments * candidate.worst_ms],
    },
    budget: {
      experiments: left('experiments'),
      hours: left('hours'),
      failures: left('failures'),
      tokens: left('tokens'),
      usd: left('usd'),
    },
    buys: experimentsLeft(state),
    candidate,
    ...(judging && { judging }),
  }
}

/**
 * Of `workflows/optimize.js`, when everything that can be asked for is: the scan's batches, ideas, briefs twice, and
 * collecting; for each experiment implement, all revisions with a verification each, one mended build, and an audit.
 */
function agentCalls({ revise, scan_batch, scan_max, briefs }: Knobs, experiments: number): number {
  const each = 1 + revise + (1 + revise) + 2 + 1
  const before = briefs === 'backlog' ? 0 : 2
  return Math.ceil(scan_max / scan_batch) + 1 + before + 1 + experiments * each
}

export function describePlan(plan: LoopPlan): Said[] {
  const { round, rounds, budget, host, model, concurrency, candidate } = plan
  const lines: Said[] = [
    plan.stop === null
      ? `${plan.run}: assay loop would run ${plan.workflow}. Nothing was changed.`
      : `${plan.run}: assay loop would end at once, because of the stop rule ${plan.stop}. Nothing was changed.`,
    host === null
      ? 'Host: none; the spec has no agent section, so no agent would propose candidates'
      : `Host: ${host}${model === null ? '' : `, model ${model}`}, at most ${concurrency} at once`,
  ]
  if (plan.stop !== null)
    return [
      ...lines,
      ...limits(budget),
      next`Next: ${call('report')}, or another limit: ${call('config get')}`,
    ]
  lines.push(
    `A round: ${counted(round.lanes, 'lane')}, up to ${round.depth} deep: at most ${counted(round.experiments, 'experiment')}${round.agent_calls === null ? '' : ` and ${counted(round.agent_calls, 'agent call')}`}`,
  )
  if (candidate && round.judging_ms)
    lines.push(
      `Judging one candidate takes ${duration(candidate.best_ms)} to ${duration(candidate.worst_ms)}, such a round ${round.judging_ms.map(duration).join(' to ')}; the agents' own time comes on top`,
    )
  if (plan.judging) lines.push(forecastLine(plan.judging), judgingLine(plan.judging))
  lines.push(`Rounds: ${roundsLine(rounds)}`)
  lines.push(...limits(budget))
  if (plan.buys) lines.push(buysLine(plan.buys))
  lines.push(host !== null ? next`Next: ${call('loop')}` : next`Next: ${call('guide', 'spec')}`)
  return lines
}

function limits(budget: LoopPlan['budget']): string[] {
  const limited = CAPS.filter((name) => budget[name].limit !== null)
  return [
    ...limited.map(
      (name) => `Budget: ${name} ${shown(budget[name].used)} of ${shown(budget[name].limit)} used`,
    ),
    `Not limited: ${CAPS.filter((name) => !limited.includes(name)).join(', ') || 'nothing'}`,
  ]
}

export const buysLine = ({ count, cap }: NonNullable<LoopPlan['buys']>): string =>
  `This budget buys about ${count} more ${count === 1 ? 'experiment' : 'experiments'} (budget.${cap} is the tightest)`

function roundsLine({ limit, budgeted, stall, target }: LoopPlan['rounds']): string {
  const ends = [
    ...(limit === null ? [] : [`after ${limit} (--rounds)`]),
    ...(target === null ? [] : [`at the target ${target}`]),
    `after ${stall} without a new best`,
    ...(budgeted === null ? [] : [`when the budget is used: about ${budgeted} of full size`]),
  ]
  return `until one of these: ${ends.join('; ')}`
}
