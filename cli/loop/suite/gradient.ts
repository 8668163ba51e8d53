/** One step of a text gradient: what its agents are asked, and the experiment that the CLI makes of the best answer. */

import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeTextExperiment, suiteTextContent } from '../../experiment/text.ts'
import { fileText } from '../../files.ts'
import { bestOf } from '../../ledger/best.ts'
import { BASELINE, currentRound, lastJudged, nodeValue, type State } from '../../ledger/state.ts'
import { gradientTask, lastWord, notMadeRecord } from '../../ledger/task-id.ts'
import { expectations, learningRate } from '../../ledger/texts.ts'
import { recordedSamples } from '../../measure/steps.ts'
import { proposedText } from '../../paths.ts'
import { fail, ok, type Result } from '../../result.ts'
import { liveSpec, type OpenRun } from '../../run/open.ts'
import type { Effect, Task } from '../agenda.ts'
import { recordOwn } from '../record-answer.ts'
import { type CurrentText, type ProposedText, rankProposals } from './choose.ts'
import { defectsOf, gradientPrompt } from './prompt.ts'

/** The experiment whose texts the next ones start from. */
const startOf = (state: State) => bestOf(state)?.id ?? BASELINE

const rateNow = (run: OpenRun): number =>
  learningRate(run.ledger.state, liveSpec(run).gradient?.learning_rate ?? 0)

/** The text that a task asks for: `r3/gradient/of/preamble` → `preamble`. */

/** The whole prompt for one text. */
export async function gradientPromptOf(run: OpenRun, { id }: Task): Promise<Result<string>> {
  const { state } = run.ledger
  const { suite } = run.spec.measure
  const name = lastWord(id)
  const artifact = suite?.artifacts.find((one) => one.name === name)
  const node = state.experiments.get(startOf(state))
  if (!suite || !artifact || !node) throw new Error(`${id} asks for a text that the suite does not have`)
  const content = await suiteTextContent(run, node.id, artifact)
  if (!content.ok) return content
  const round = currentRound(state)
  const live = liveSpec(run)
  const own = live.loop.prompts?.gradient
  const judged = lastJudged(node)
  const samples = judged === null ? [] : recordedSamples(run, node.id, judged.attempt)
  return ok(
    gradientPrompt({
      ...{ id, run: run.run, round: round?.round ?? 0, goal: live.goal, suite: suite.name, artifact: name },
      content: content.value,
      maxChars: artifact.maxChars,
      learningRate: rateNow(run),
      loss: nodeValue(node),
      defects: defectsOf(samples.filter(({ side, fault }) => side === 'candidate' && fault === null)),
      steering: state.steers.flatMap(({ id, text }) => (round?.opened.steering?.includes(id) ? [text] : [])),
      ...(own ? { own } : {}),
    }),
  )
}

/** Keeps a proposed text beside the ledger, whose lines are too short for it; the answer names it. */
export function keepText(run: OpenRun, answer: Record<string, unknown>): Record<string, unknown> {
  const { content, ...rest } = answer
  if (typeof content !== 'string') return rest
  const sha256 = createHash('sha256').update(content).digest('hex')
  const path = proposedText(run.paths, sha256)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return { ...rest, content: { sha256, chars: [...content].length } }
}

/** Chooses once, then makes the experiment; each may be done again after a kill. */
export async function descend(
  run: OpenRun,
  { round, record, key }: Extract<Effect, { do: 'descend' }>,
): Promise<Result<unknown>> {
  const { state } = run.ledger
  const { suite } = run.spec.measure
  if (!suite) return ok(undefined)
  const texts = await textsNow(run, startOf(state))
  if (!texts.ok) return texts
  if (!state.answers.has(record)) {
    const { choices, refused } = rankProposals(proposalsIn(run, round), texts.value, expectations(state))
    const [best] = choices
    const others = choices.slice(1).map(({ artifact, product }) => ({ artifact, product }))
    const { content, ...chosen } = best ?? { content: null }
    const recorded = recordOwn(run, record, null, {
      ...(content === null ? { artifact: null } : { ...chosen, parent: startOf(state), rate: rateNow(run) }),
      others,
      declined: refused,
    })
    if (!recorded.ok) return recorded
  }
  const taken = state.answers.get(record)?.answer ?? {}
  if (typeof taken.artifact !== 'string') return ok(undefined)
  const content = proposalsIn(run, round).find(({ asked }) => asked === taken.artifact)?.content
  if (content == null)
    return recordOwn(run, notMadeRecord(round), null, { refused: 'the proposed text is gone' })
  const made = await makeTextExperiment(run, {
    parent: String(taken.parent),
    artifact: taken.artifact,
    content,
    hypothesis: `${taken.artifact}: ${String(taken.rationale)}`,
    round,
    key,
    text: {
      by: 'gradient',
      artifact: taken.artifact,
      expected: Number(taken.expected),
      confidence: Number(taken.confidence),
      product: Number(taken.product),
      learning_rate: Number(taken.rate),
    },
  })
  return made.ok || made.problem.code === 'disk_full' ? made : notMade(run, round, made.problem.message)
}

/** What cannot be made ends the round. */
function notMade(run: OpenRun, round: number, why: string): Result<unknown> {
  return recordOwn(run, notMadeRecord(round), null, { refused: why })
}

async function textsNow(run: OpenRun, at: string): Promise<Result<Map<string, CurrentText>>> {
  const found = new Map<string, CurrentText>()
  for (const artifact of run.spec.measure.suite?.artifacts ?? []) {
    const content = await suiteTextContent(run, at, artifact)
    if (!content.ok) return fail(content.problem)
    found.set(artifact.name, { content: content.value, maxChars: artifact.maxChars })
  }
  return ok(found)
}

function proposalsIn(run: OpenRun, round: number): ProposedText[] {
  const prefix = gradientTask(round, '')
  return [...run.ledger.state.answers.values()]
    .filter(({ task }) => task.startsWith(prefix))
    .map(({ task, answer }) => {
      const { sha256 } = (answer?.content ?? {}) as { sha256?: unknown }
      return {
        asked: task.slice(prefix.length),
        artifact: answer?.artifact ?? null,
        content: typeof sha256 === 'string' ? fileText(proposedText(run.paths, sha256)) : null,
        rationale: typeof answer?.rationale === 'string' ? answer.rationale : '',
        expected: answer?.expected_loss_reduction,
        confidence: answer?.confidence,
      }
    })
}
