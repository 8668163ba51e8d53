/** What agents predicted of their changes, beside what was measured. */
import { median } from '../evaluate/stats.ts'
import type { Direction } from '../ledger/events.ts'
import { type Experiment, lastJudged, roundAt, type State } from '../ledger/state.ts'
import { sameWords, wordsOf } from '../text.ts'
import { roleOf } from './objections.ts'

/** The predictions of one role, program and kind of brief. Gains are shares of the parent's value; positive is better. */
export interface PredictionRow {
  role: string
  /** The program, and its model where the spec or the call names one; null when no call was recorded. */
  agent: string | null
  /** Of the brief; null for an idea that names none. */
  kind: string | null
  /** Experiments with a prediction in numbers and a measured gain. */
  experiments: number
  /** Of them: those that are better than their parent, as predicted. */
  better: number
  /** Medians. */
  predicted: number
  measured: number
}

type Predicted = Pick<PredictionRow, 'role' | 'agent' | 'kind' | 'predicted' | 'measured'>

/** Most predictions first; empty when no agent predicted anything in numbers that was measured. */
export function predictionsOf(state: State, direction: Direction): PredictionRow[] {
  const groups = new Map<string, Predicted[]>()
  for (const one of [...ofEdits(state, direction), ...ofIdeas(state)]) {
    const key = JSON.stringify([one.role, one.agent, one.kind])
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()]
    .map((group): PredictionRow => {
      const [{ role, agent, kind }] = group as [Predicted]
      return {
        role,
        agent,
        kind,
        experiments: group.length,
        better: group.filter(({ measured }) => measured > 0).length,
        predicted: median(group.map(({ predicted }) => predicted)),
        measured: median(group.map(({ measured }) => measured)),
      }
    })
    .sort((a, b) => b.experiments - a.experiments)
}

/** What was predicted of one experiment, by the agent that made it or by the author of its idea. */
export interface Prediction {
  /** The agent's own words; null when only the idea promises a gain. */
  text: string | null
  /** As a share of the parent's value; null when the words name none. */
  gain: number | null
}

/** null when nothing was predicted. */
export function predictionOf(state: State, node: Experiment, direction: Direction): Prediction | null {
  for (const { task, experiment, answer } of state.answers.values()) {
    const role = roleOf(task)
    if (experiment !== node.id || (role !== 'implement' && role !== 'revise')) continue
    const text = typeof answer?.predicted === 'string' ? answer.predicted : ''
    if (text.trim() !== '') return { text, gain: gainIn(text, direction) }
  }
  const words = wordsOf(node.hypothesis)
  const idea = state.ideas.find(
    ({ hypothesis, uplift }) => uplift !== undefined && sameWords(wordsOf(hypothesis), words),
  )
  return idea?.uplift === undefined ? null : { text: null, gain: idea.uplift }
}

/** Of the agent that made the change: in words, before anything was measured. */
function ofEdits(state: State, direction: Direction): Predicted[] {
  const kindOf = ({ created: { round, lane } }: Experiment): string | null =>
    roundAt(state, round ?? 0)?.briefed?.lanes.find((one) => one.lane === lane)?.brief.kind ?? null
  return [...state.answers.values()].flatMap(({ task, experiment, answer }) => {
    const role = roleOf(task)
    const node = state.experiments.get(experiment ?? '')
    if (!node || (role !== 'implement' && role !== 'revise')) return []
    const predicted = typeof answer?.predicted === 'string' ? gainIn(answer.predicted, direction) : null
    const measured = measuredGain(node)
    if (predicted === null || measured === null) return []
    return [{ role, agent: node.agent ?? null, kind: kindOf(node), predicted, measured }]
  })
}

/** Of the author of an idea: a number, and the experiment is the first that says the same. */
function ofIdeas(state: State): Predicted[] {
  const promising = state.ideas.filter(({ uplift }) => uplift !== undefined)
  if (promising.length === 0) return []
  const tried = [...state.experiments.values()].map((node) => ({ node, words: wordsOf(node.hypothesis) }))
  return promising.flatMap(({ hypothesis, uplift = 0, kind = null }) => {
    const words = wordsOf(hypothesis)
    const found = tried.find((one) => sameWords(words, one.words))
    const measured = found ? measuredGain(found.node) : null
    return measured === null ? [] : [{ role: 'ideate', agent: null, kind, predicted: uplift, measured }]
  })
}

const measuredGain = (node: Experiment): number | null => lastJudged(node)?.improvement ?? null

const NUMBER = String.raw`(\d+(?:\.\d+)?)`
const PERCENT = new RegExp(String.raw`${NUMBER}\s*(?:%?\s*(?:-|–|to|…|\.\.\.?)\s*[-+]?${NUMBER})?\s*%`)
const TIMES = new RegExp(String.raw`${NUMBER}\s*(?:[x×]|times)(?![\p{L}\d])`, 'u')
const WORSE = /\b(?:worse|slower|regress)/i

/**
 * The gain that a sentence names, as a share: `about 20–30 % less` is 0.25, `3x faster` is 2/3 of a time and twice more of a rate.
 * null when it names none, or a loss.
 */
export function gainIn(text: string, direction: Direction): number | null {
  if (WORSE.test(text)) return null
  const percent = PERCENT.exec(text)
  if (percent) return (Number(percent[1]) + Number(percent[2] ?? percent[1])) / 200
  const times =
    TIMES.exec(text)?.[1] ?? (/\b(?:halve[sd]?|half|twice|double[sd]?)\b/i.test(text) ? '2' : null)
  const factor = Number(times)
  if (times === null || !(factor > 1)) return null
  return direction === 'minimize' ? 1 - 1 / factor : factor - 1
}
