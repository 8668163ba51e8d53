/** What a running loop shows: a live frame on a terminal, plain lines elsewhere, nothing with --quiet or --json. */
import { counted, gainText, shown } from '../evaluate/figure.ts'
import { parkedIdeas } from '../ledger/backlog.ts'
import type { Event } from '../ledger/events.ts'
import { currentRound, stallOf } from '../ledger/state.ts'
import { approvalLines, waitingIdea } from '../loop/parked.ts'
import type { Notice, Tell } from '../notices.ts'
import { experimentsLeft, marksOf } from '../run/budget.ts'
import type { OpenRun } from '../run/open.ts'
import { plain } from '../text.ts'
import { buysLine } from '../view/loop-plan.ts'
import { statusOf } from '../view/run.ts'
import { painter } from './colour.ts'
import type { Context } from './command.ts'
import { type LiveLane, type LiveModel, liveFrame } from './live.ts'
import { LivePainter } from './painter.ts'
import { spent } from './summary.ts'

export interface LoopView {
  tell: Tell
  close(): void
}

const TICK_MS = 200
const RECENT = 6
/** What a lane does while one of these commands runs; others are shown as they are called. */
const DOING: Record<string, string> = {
  new: 'opening',
  seal: 'sealing',
  check: 'checking',
  run: 'judging',
  wait: 'judging',
}

export async function showLoop(run: OpenRun, context: Context, json: boolean): Promise<LoopView> {
  if (context.quiet || json) return { tell: () => {}, close: () => {} }
  const activity = new Activity()
  const live = process.stderr.isTTY === true
  const screen = live ? new LivePainter(process.stderr, await painter(context.colour)) : null
  const began = performance.now()
  const say = (line: string) => {
    if (screen) activity.say(line)
    else process.stderr.write(`${line}\n`)
  }
  const buys = experimentsLeft(run.ledger.state)
  if (buys) say(buysLine(buys))
  const warned = new Map(marksOf(run.ledger.state).map(({ cap, mark }) => [cap, mark]))
  const warn = () => {
    for (const { cap, mark, used } of marksOf(run.ledger.state)) {
      if ((warned.get(cap) ?? 0) >= mark) continue
      warned.set(cap, mark)
      say(`warning: ${mark} % of budget.${cap} is used (${spent(used, cap)})`)
    }
  }
  run.ledger.listen((event) => {
    warn()
    const line = logLineOf(event, run)
    if (line === null) return
    if (screen) activity.remember(event, line)
    else process.stderr.write(`${line}\n`)
  })
  const look = () => {
    run.ledger.refresh()
    screen?.draw((width, height) =>
      liveFrame(modelOf(run, activity, performance.now() - began), width, height),
    )
  }
  const timer = setInterval(look, TICK_MS)
  return {
    tell: (fact) => {
      activity.note(fact, run)
      if (!screen && fact.type === 'log') process.stderr.write(`  ${plain(fact.message, 400)}\n`)
    },
    close: () => {
      clearInterval(timer)
      look()
      screen?.close()
    },
  }
}

/** What each lane does now, from the labels of the calls that run. */
class Activity {
  phase = ''
  recent: LiveModel['recent'][number][] = []
  readonly #lanes = new Map<
    number,
    { step: string; since: number; experiment: string | null; note: string }
  >()

  note(fact: Notice, run: OpenRun): void {
    if (fact.type === 'phase') this.phase = fact.title
    if (fact.type === 'step') this.#enter({ ...fact, lane: null }, run)
    if (fact.type !== 'agent' || fact.state !== 'started') return
    const called = /^(?:assay )?([a-z]+)/.exec(fact.label)?.[1] ?? fact.label
    const experiment = /exp_\d+/.exec(fact.label)?.[0] ?? null
    const lane = /lane (\d+)/.exec(fact.label)?.[1] ?? null
    this.#enter({ experiment, lane, step: DOING[called] ?? called }, run)
  }

  #enter(
    { experiment, lane, step }: { experiment: string | null; lane: string | null; step: string },
    run: OpenRun,
  ): void {
    const node = experiment === null ? undefined : run.ledger.state.experiments.get(experiment)
    const number = Number(lane ?? node?.created.lane ?? Number.NaN)
    if (Number.isNaN(number)) return
    const note = node?.hypothesis ?? ''
    this.#lanes.set(number, { step, since: performance.now(), experiment, note })
  }

  say(line: string): void {
    this.recent = [{ status: 'open' as const, text: line }, ...this.recent].slice(0, RECENT)
  }

  remember(event: Event, line: string): void {
    if (event.type === 'round_opened' || event.type === 'round_closed') this.#lanes.clear()
    if (event.type === 'judged')
      this.recent = [{ status: event.status, text: line }, ...this.recent].slice(0, RECENT)
  }

  get lanes(): LiveLane[] {
    const now = performance.now()
    return [...this.#lanes]
      .sort(([a], [b]) => a - b)
      .map(([lane, { step, since, experiment, note }]) => ({
        lane,
        experiment,
        step,
        since_ms: now - since,
        note,
      }))
  }
}

function modelOf(run: OpenRun, activity: Activity, elapsedMs: number): LiveModel {
  const { state } = run.ledger
  const { metric, baseline, best, budget, stop, waiting } = statusOf(run)
  return {
    run: run.run,
    round: state.rounds.at(-1)?.round ?? null,
    phase: waiting === null ? activity.phase : `waiting for ${waiting.host} until ${waiting.until}`,
    elapsed_ms: elapsedMs,
    metric,
    baseline: baseline.value,
    best,
    budget,
    stall: { now: stallOf(state), limit: state.knobs?.stall ?? null },
    lanes: currentRound(state) ? activity.lanes : [],
    recent: activity.recent,
    stop,
  }
}

/** One line for a log, null for an event that is not worth a line. */
export function logLineOf(event: Event, run: OpenRun): string | null {
  switch (event.type) {
    case 'round_opened':
      if (event.suite)
        return `round ${event.round}: ${event.suite === 'repeat' ? 'the suite is run again, unchanged' : 'a better text for the suite'}`
      return `round ${event.round}: ${counted(event.width, 'lane')}, ${event.depth} deep, from ${event.parents.map(({ experiment }) => experiment).join(', ')}`
    case 'judged': {
      const hypothesis = run.ledger.state.experiments.get(event.experiment)?.hypothesis ?? ''
      const word =
        event.reason && event.reason !== 'improved' ? `${event.status} (${event.reason})` : event.status
      return `  ${event.experiment} ${word}${event.value === null ? '' : ` ${shown(event.value)}`} ${gainText(event.improvement)}  ${plain(hypothesis, 100)}`.trimEnd()
    }
    case 'round_closed': {
      const { best } = statusOf(run)
      const reached = best === null || best.experiment !== event.best ? '' : ` ${shown(best.value)}`
      return `round ${event.round} closed: ${event.improved ? `new best ${event.best}${reached}` : `no new best, stall ${event.stall}`}`
    }
    case 'ideas_parked': {
      const told = parkedIdeas(run.ledger.state).filter(({ idea }) => event.ideas.includes(idea.id))
      return told.length === 0 ? null : approvalLines(told.map(waitingIdea)).map(String).join('\n')
    }
    case 'alerted':
      return `warning: ${plain(event.text, 500)}`
    case 'paused':
      return `paused: ${plain(event.why, 200)}; continue with: assay loop resume`
    case 'stopped':
      return `stopping after the work that has begun: ${plain(event.why, 200)}`
    case 'resumed':
      return `continuing: ${plain(event.why, 200)}`
    default:
      return null
  }
}
