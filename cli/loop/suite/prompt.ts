/** What the agent of a text gradient reads, and what it answers. Pure. */
import { figure } from '../../evaluate/figure.ts'
import type { Sample, TaskScore } from '../../ledger/events.ts'
import { ANSWERS_OF } from '../answer-schemas.ts'
import { cardHead, framed, type OwnWords, quotedText } from '../prompts.ts'

export interface GradientInputs {
  /** Of the task: `r3/gradient/of/preamble`. */
  id: string
  run: string
  round: number
  goal: string
  suite: string
  artifact: string
  content: string
  maxChars: number
  learningRate: number
  /** Mean loss with the texts as they are now. */
  loss: number | null
  defects: readonly TaskDefects[]
  /** What a person says to this round. */
  steering: readonly string[]
  /** The user's own words around it. */
  own?: OwnWords
}

/** Beyond it, the text itself would be cut. */
const LONGEST = 400_000

export function gradientPrompt(inputs: GradientInputs): string {
  const { id, run, round, goal, own, artifact, content, defects, steering } = inputs
  const card = {
    ...cardHead(id, 'gradient', { run, round }),
    brief: {
      ...{
        suite: inputs.suite,
        artifact,
        content,
        max_chars: inputs.maxChars,
        learning_rate: inputs.learningRate,
      },
      ...{ loss: inputs.loss, tasks: defects },
    },
    capsule: {},
    answer: ANSWERS_OF.gradient,
  }
  const text = `Agents of a program start from texts. You improve one of them, ${artifact}, for: ${goal}
The text now:
${quotedText(content, LONGEST)}
Each task was run with it. The loss is 0 at best and 1 at worst; its mean over the tasks is ${figure(inputs.loss)}. What the runs left, word for word:
${quotedText(defects.map(inWords).join('\n\n'), LONGEST)}
${steering.length > 0 ? `The person who runs this search says:\n${quotedText(steering.join('\n'))}\n` : ''}Learning rate: ${inputs.learningRate}. With 1 you may write the whole text anew; with 0.2 change only what one of these failures calls for, and leave the rest word for word.
Look for the cause that several failures share, and write what would have prevented it. Name no task and no expected answer: the text is used for other tasks too.
Answer with the name of the artifact, its whole new content (at most ${inputs.maxChars} characters), a rationale of one or two sentences, by how much the mean loss will fall (0.05 is 0.05 of the loss above), and how sure you are (0 to 1). If no change would help, answer with "artifact": null.`
  return framed(text, own, card)
}

function inWords({ task, loss, samples, parts, recurring }: TaskDefects): string {
  const measured = parts.map(({ part, mean }) => `${part} ${mean === null ? 'missing' : figure(mean)}`)
  return [
    `${task}: loss ${figure(loss)} (${measured.join(', ')})`,
    ...recurring.map(({ text, times }) => `- ${times} of ${samples}: ${text}`),
  ].join('\n')
}

// ---------------------------------------------------------------- what went wrong in the tasks of a suite, in the words that their runs left

export interface TaskDefects {
  task: string
  /** Mean over the samples. */
  loss: number
  samples: number
  /** Parts of the loss, the worst first; null = the signal was missing. */
  parts: { part: string; mean: number | null }[]
  /** Word for word, the most frequent first; `times`: in how many of the samples. */
  recurring: { text: string; times: number }[]
}

/** More would not be read. */
const MOST = 8

/** Of all samples of one candidate, the worst task first. With several samples, what occurred once did not recur. */
export function defectsOf(samples: readonly Pick<Sample, 'tasks'>[]): TaskDefects[] {
  const names = new Set(samples.flatMap(({ tasks }) => Object.keys(tasks ?? {})))
  return [...names]
    .map((task) => {
      const scores = samples.flatMap(({ tasks }) => tasks?.[task] ?? [])
      return {
        task,
        loss: meanOf(scores.map(({ score }) => score)) ?? 0,
        samples: scores.length,
        parts: partsOf(scores),
        recurring: recurringIn(scores),
      }
    })
    .sort((a, b) => b.loss - a.loss)
}

function partsOf(scores: readonly TaskScore[]): TaskDefects['parts'] {
  const names = new Set(scores.flatMap(({ parts }) => Object.keys(parts ?? {})))
  return [...names]
    .map((part) => ({ part, mean: meanOf(scores.flatMap(({ parts }) => parts?.[part] ?? [])) }))
    .sort((a, b) => (b.mean ?? 0) - (a.mean ?? 0))
}

function recurringIn(scores: readonly TaskScore[]): TaskDefects['recurring'] {
  const times = new Map<string, number>()
  for (const { defects = [], reason } of scores)
    for (const text of new Set([...(reason ? [reason] : []), ...defects]))
      times.set(text, (times.get(text) ?? 0) + 1)
  return [...times]
    .filter(([, count]) => scores.length === 1 || count > 1)
    .map(([text, count]) => ({ text, times: count }))
    .sort((a, b) => b.times - a.times)
    .slice(0, MOST)
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
