/** What the ledger and the clock say of the loop as a whole. Pure. */
import { currentRound, lastAttempt, type State, stallOf } from '../../ledger/state.ts'
import { deadEnds, plateau } from '../../search/axis.ts'
import { observedIn } from '../facts.ts'
import type { Fact } from './fact.ts'

/** How often the longest of its peers, and how much beyond, something takes before it is far longer. */
const FAR = { times: 3, ms: 30_000 }
const PEERS = { least: 3, most: 50 }
/** Rounds in a row whose lanes stayed empty. */
const IDLE_ROUNDS = 3

export function recordFacts(state: State, now: Date): Fact[] {
  return [
    ...slowExperiments(state, now),
    ...slowRound(state, now),
    ...worn(state),
    ...nearStall(state),
    ...idleLanes(state),
  ]
}

function slowExperiments(state: State, now: Date): Fact[] {
  const peers = [...state.experiments.values()].flatMap(({ attempts }) =>
    attempts.flatMap(({ judged }) => (judged && judged.samples > 0 ? [judged.wall_ms] : [])),
  )
  const found: Fact[] = []
  for (const node of state.experiments.values()) {
    const attempt = node.status === 'running' ? lastAttempt(node) : null
    if (!attempt?.claim) continue
    const ms = now.getTime() - Date.parse(attempt.claim.at)
    const times = farLonger(ms, peers)
    if (times === null) continue
    found.push({
      name: `slow_experiment:${node.id}:x${times}`,
      message: `${node.id} has been judged for ${seconds(ms)}, more than ${times} times as long as the longest of its peers`,
      experiments: [node.id],
    })
  }
  return found
}

function slowRound(state: State, now: Date): Fact[] {
  const open = currentRound(state)
  if (!open) return []
  const peers = state.rounds.flatMap(({ opened, closed }) =>
    closed ? [Date.parse(closed.at) - Date.parse(opened.at)] : [],
  )
  const ms = now.getTime() - Date.parse(open.opened.at)
  const times = farLonger(ms, peers)
  if (times === null) return []
  return [
    {
      name: `slow_round:${open.round}:x${times}`,
      message: `round ${open.round} has been open for ${seconds(ms)}, more than ${times} times as long as the longest of its peers`,
      experiments: [],
    },
  ]
}

/** 3, 6, 12, …: how often the longest peer was exceeded, so that the fact is told anew only when that doubled. */
function farLonger(ms: number, peers: readonly number[]): number | null {
  const known = peers.slice(-PEERS.most)
  if (known.length < PEERS.least) return null
  const longest = Math.max(...known, 1)
  if (ms < FAR.times * longest || ms < longest + FAR.ms) return null
  return FAR.times * 2 ** Math.floor(Math.log2(ms / longest / FAR.times))
}

/** Axes and directions that are used up, named by the newest experiment that says so. */
function worn(state: State): Fact[] {
  const observed = observedIn(state)
  const named = (name: string, { experiments, message }: { experiments: string[]; message: string }) => ({
    name: `${name}:${experiments.at(-1)}`,
    message,
    experiments: experiments.slice(-12),
  })
  return [
    ...plateau(observed).map((found) => named('saturated_axis', found)),
    ...deadEnds(observed).map((found) => named('dead_direction', found)),
  ]
}

function nearStall({ knobs, rounds, ...rest }: State): Fact[] {
  const stall = stallOf({ knobs, rounds, ...rest })
  if (!knobs || knobs.stall < 2 || stall < knobs.stall - 1 || stall >= knobs.stall) return []
  return [
    {
      name: `near_stall:${rounds.length}`,
      message: `${stall} rounds without a new best; after ${knobs.stall} the loop ends`,
      experiments: [],
    },
  ]
}

function idleLanes({ rounds }: State): Fact[] {
  const last = rounds.filter(({ closed }) => closed).slice(-IDLE_ROUNDS)
  const [first] = last
  const idle = last.every(({ opened, briefed }) => (briefed?.lanes.length ?? 0) < opened.width)
  if (first === undefined || last.length < IDLE_ROUNDS || !idle) return []
  return [
    {
      name: `idle_lanes:${last.at(-1)?.round}`,
      message: `${IDLE_ROUNDS} rounds in a row had more lanes than briefs: width is out of proportion`,
      experiments: [],
    },
  ]
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`
