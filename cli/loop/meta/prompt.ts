/** What the agent of the meta controller reads, and what it answers. Pure. */
import { type Knobs, META_KNOBS, META_PHASES, META_PROMPTS, SEAMS } from '../../ledger/events.ts'
import type { Directions } from '../../ledger/meta.ts'
import { ANSWERS_OF } from '../answer-schemas.ts'
import { cardHead, framed, type OwnWords, quotedText, reading } from '../prompts.ts'

export interface MetaInputs {
  /** Of the task: `meta/3`. */
  id: string
  run: string
  round: number | null
  goal: string
  facts: readonly { name: string; message: string; experiments: readonly string[] }[]
  knobs: Knobs | null
  phases: Directions['phases']
  edits: readonly unknown[]
  /** The user's own words around it. */
  own?: OwnWords
}

export function metaPrompt({ id, run, round, goal, own, ...brief }: MetaInputs): string {
  const card = { ...cardHead(id, 'meta', { run, round }), brief, capsule: {}, answer: ANSWERS_OF.meta }
  const facts = brief.facts.map(({ name, message }) => `${name}: ${message}`).join('\n')
  const text = `You watch over a search for: ${goal}
What the CLI sees, new since you were last asked:
${quotedText(facts)}
Judge whether it calls for anything. Doing nothing is the usual answer. An edit holds from the next round on, and has a rationale and evidence: the name of a fact above, or an experiment. Kinds:
- {kind: knob, knob, value}: ${META_KNOBS.join(', ')}
- {kind: phase, phase, on}: ${META_PHASES.join(', ')}
- {kind: prompt, prompt, mode, text}: append to one of ${META_PROMPTS.join(', ')}; replace keeps the prompt's placeholders, which its refusal names
- {kind: step, seam, text, rounds}: a task for one more agent at one of ${SEAMS.join(', ')}, for so many rounds
- {kind: undo, edit}: takes an earlier one back, by its id
Verifier, gates, benchmark and verdict are not yours. Do not stop an experiment (stops) unless a fact about that very one shows that it cannot come to a result: name that fact as evidence, and the fix for the next try. An alert is a sentence that a person should read.`
  return `${reading('meta', `assay context --run ${run}`)}\n\n${framed(text, own, card)}`
}
