/**
 * The texts of a suite, from the ledger alone: their versions, which one is active, what each pass cost, and what is known
 * of the expectations of agents. A pass is a measured experiment. A version of a text is the blob of a kept one; version 0
 * is the text at the baseline. Pure.
 */
import { bestOf } from './best.ts'
import type { MadeText } from './events.ts'
import { BASELINE, type Experiment, lastJudged, lineageOf, type State } from './state.ts'

export interface TextVersion {
  version: number
  /** The experiment that was kept with it first. */
  experiment: string
  /** null: of version 0, which the baseline has. */
  blob: string | null
  /** The version from which it was made. */
  parent: number | null
  /** Mean loss of that experiment. */
  loss: number | null
  at: string
  /** Whether its experiment still stands. */
  stands: boolean
}

/** All that were ever kept, version 0 first. */
export function versionsOf(state: State, artifact: string): TextVersion[] {
  const baseline = state.experiments.get(BASELINE)
  if (!baseline) return []
  const found: TextVersion[] = [versionAt(baseline, { version: 0, blob: null, parent: null })]
  for (const node of measured(state)) {
    const blob = blobOf(node, artifact)
    if (blob === null || lastJudged(node)?.status !== 'kept' || restoredVersion(node, artifact) !== null)
      continue
    if (found.some((one) => one.blob === blob)) continue
    const parent = node.parent === null ? null : versionAtNode(state, node.parent, artifact, found)
    found.push(versionAt(node, { version: found.length, blob, parent }))
  }
  return found
}

const versionAt = (node: Experiment, of: Pick<TextVersion, 'version' | 'blob' | 'parent'>): TextVersion => ({
  ...of,
  experiment: node.id,
  loss: lastJudged(node)?.value ?? null,
  at: lastJudged(node)?.at ?? node.created.at,
  stands: node.status === 'kept' || node.status === 'pruned',
})

/** Of the best; 0 before there is one. */
export const activeVersion = (
  state: State,
  artifact: string,
  versions = versionsOf(state, artifact),
): number => versionAtNode(state, bestOf(state)?.id ?? BASELINE, artifact, versions)

/** That an experiment was made with; of its parents, if it did not change the text itself. */
export function versionAtNode(
  state: State,
  id: string,
  artifact: string,
  versions: readonly TextVersion[],
): number {
  for (const node of lineageOf(state, id).reverse()) {
    const restored = restoredVersion(node, artifact)
    if (restored !== null) return restored
    const blob = blobOf(node, artifact)
    const known = blob === null ? undefined : versions.find((one) => one.blob === blob)
    if (known) return known.version
  }
  return 0
}

/** The text that it changed, as it was judged; null = it changed a different one, or none. */
function blobOf(node: Experiment, artifact: string): string | null {
  const attempt = node.attempts.findLast(({ judged }) => judged !== null)
  return attempt?.sealed.texts?.find((one) => one.artifact === artifact)?.blob ?? null
}

function restoredVersion({ created: { text } }: Experiment, artifact: string): number | null {
  return text?.by === 'restore' && text.artifact === artifact ? text.version : null
}

/** Experiments with a loss, in the order of their verdicts. */
const measured = (state: State): Experiment[] =>
  [...state.experiments.values()]
    .filter((node) => lastJudged(node)?.value != null)
    .sort((a, b) => (a.judgedSeq ?? 0) - (b.judgedSeq ?? 0))

// ---------------------------------------------------------------- passes

export interface SuitePass {
  /** From 1; the first is the baseline. */
  epoch: number
  experiment: string
  /** Mean loss. */
  loss: number
  /** Mean of the last three passes, this one included. */
  average: number
  tasks: Record<string, number> | null
  /** The text that it changed; null = none. */
  artifact: string | null
  from: number | null
  /** null: it was not kept, so it is no version. */
  to: number | null
  outcome: 'baseline' | 'kept' | 'not_kept' | 'revoked' | 'unchanged'
}

const SPAN = 3

export function suitePasses(state: State, artifacts: readonly string[]): SuitePass[] {
  const versions = new Map(artifacts.map((name) => [name, versionsOf(state, name)]))
  const losses: number[] = []
  return measured(state).map((node, index) => {
    const judged = lastJudged(node)
    losses.push(judged?.value ?? 0)
    const last = losses.slice(-SPAN)
    const artifact = artifacts.find((name) => blobOf(node, name) !== null) ?? null
    const known = artifact === null ? [] : (versions.get(artifact) ?? [])
    const isKept = judged?.status === 'kept'
    return {
      epoch: index + 1,
      experiment: node.id,
      loss: judged?.value ?? 0,
      average: last.reduce((sum, loss) => sum + loss, 0) / last.length,
      tasks: judged?.tasks ?? null,
      artifact,
      from: artifact === null ? null : versionAtNode(state, node.parent ?? BASELINE, artifact, known),
      to: artifact === null || !isKept ? null : versionAtNode(state, node.id, artifact, known),
      outcome:
        node.id === BASELINE
          ? 'baseline'
          : node.status === 'revoked'
            ? 'revoked'
            : isKept
              ? 'kept'
              : 'not_kept',
    }
  })
}

// ---------------------------------------------------------------- the text gradient

/** Experiments that the loop made of the answer of an agent, in order. */
const gradientSteps = (state: State): Experiment[] =>
  [...state.experiments.values()].filter(({ created }) => created.text?.by === 'gradient')

/** As it was declared, halved for each text since then that was not kept. */
export const learningRate = ({ halvings }: State, declared: number): number => declared * 0.5 ** halvings

/** What an agent expected of a text, and what was measured. */
export interface Expectation {
  experiment: string
  artifact: string
  expected: number
  confidence: number
  /** How much lower the loss was than that of its parent. */
  measured: number
}

/** Of the gradient steps that were measured, in order. */
export function expectations(state: State): Expectation[] {
  return gradientSteps(state).flatMap((node) => {
    const judged = lastJudged(node)
    const text = node.created.text as Extract<MadeText, { by: 'gradient' }>
    const gain = judged?.improvement_abs ?? null
    return judged?.failure_class === 'environment' || gain === null
      ? []
      : [
          {
            experiment: node.id,
            artifact: text.artifact,
            expected: text.expected,
            confidence: text.confidence,
            measured: gain,
          },
        ]
  })
}

/** Steps from which expectations are scaled. */
const ENOUGH = 5
/** A text whose rewrites never helped may still be tried: its agent may learn. */
const LEAST = 0.1

/**
 * What expectations of this text are worth: the sum of what was measured ÷ the sum of what was expected, from 0.1 to 1. Of a
 * text that was not tried: that of all texts. 1 before there were five steps.
 */
export function expectationScale(all: readonly Expectation[], artifact: string): number {
  if (all.length < ENOUGH) return 1
  const own = all.filter((one) => one.artifact === artifact)
  const of = own.length > 0 ? own : all
  const sum = (pick: (one: Expectation) => number) => of.reduce((total, one) => total + pick(one), 0)
  return Math.max(LEAST, Math.min(1, sum(({ measured }) => measured) / sum(({ expected }) => expected)))
}
