/** What a run took, and what it leaves. */
import { repairable } from '../ledger/ancestry.ts'
import { lastJudged } from '../ledger/state.ts'
import { sameWords, wordsOf } from '../round/likeness.ts'
import type { OpenRun } from '../run/open.ts'

/** First to last event of the ledger; `active` is what the driver, or judging by hand, took of it. */
export function durationOf({ started, ledger: { state } }: OpenRun) {
  const last = state.lastAt ?? started.at
  return {
    first: started.at,
    last,
    ms: Math.max(0, Date.parse(last) - Date.parse(started.at)),
    active_ms: state.activeMs,
  }
}

/** Of the calls that told what they cost; `at_least` when some did not. */
export function spendOf({ ledger: { state } }: OpenRun) {
  const { calls, tokensIn, tokensOut, usd, unknown } = state.usage
  return { calls, tokens_in: tokensIn, tokens_out: tokensOut, usd, at_least: unknown > 0 }
}

/** What could be gone on with. */
export function leftOf({ ledger: { state } }: OpenRun) {
  const all = [...state.experiments.values()]
  const done = state.ideas.length === 0 ? [] : all.map((node) => wordsOf(node.hypothesis))
  const ideas = state.ideas.filter(({ hypothesis }) => {
    const words = wordsOf(hypothesis)
    return !done.some((other) => sameWords(words, other))
  })
  return {
    repairable: repairable(state).map(({ id }) => id),
    retests: all
      .filter((node) => node.status === 'failed' && lastJudged(node)?.failure_class === 'eval')
      .map(({ id }) => id),
    ideas: ideas.map(({ hypothesis }) => hypothesis),
  }
}
