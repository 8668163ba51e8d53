/**
 * Decisions that were made while an attempt was judged and that its samples and gates do not show. Each decision is a step in the
 * attempt's record; a process that resumes the attempt, and `show --recompute`, read it there instead of deciding again.
 * The union is closed: whatever a verdict rests on is a sample, a gate, or one of these.
 */
import type { StageContext } from '../evaluate/compare-pairs.ts'
import type { TestFinding } from '../evaluate/tests-gone.ts'
import type { VerdictFacts } from '../evaluate/verdict.ts'
import type {
  AnchorAnswer,
  GatePhase,
  NoiseMode,
  SampleFault,
  Side,
  Stage,
  StepLine,
  StepName,
  Usage,
} from '../ledger/events.ts'
import { unreachable } from '../result.ts'

/** What setup and build came to. */
export interface Preparation extends Pick<VerdictFacts, 'setup' | 'build'> {
  /** Why nothing can be measured although both worked. */
  seed: SampleFault | null
}

/** A stage of pairs that a comparison may take. */
export type PairedStageName = 'judge' | 'confirm' | 'best'

export type Decision =
  /** What the candidate did to tests. */
  | { is: 'tests'; tests: TestFinding[] }
  /** Files that lay among the artifacts before the first build, by the names that the benchmark knows. */
  | { is: 'loose'; loose: string[] }
  | { is: 'prepared'; preparation: Preparation }
  /** How the metric is compared, as it was when the measurement began. */
  | { is: 'mode'; mode: NoiseMode }
  /** What a stage of pairs knew before its first pair. */
  | { is: 'stage'; stage: PairedStageName; context: StageContext }
  /**
   * The best as of the confirmation, and whether the score says that the candidate could be better. `instead`: it may be
   * finished in place of the best, which it reduces.
   */
  | { is: 'rival'; best: string | null; could: boolean; instead?: true }
  /** An experiment that the candidate is compared with could not be prepared. */
  | { is: 'broken'; placed: string; broken: SampleFault }
  /** An experiment whose record may not hold is measured beside the candidate. `because`: how its machine differs; null = its value is in question. */
  | { is: 'asked'; asked: string; because: string | null }
  /** Why an experiment that passed a gate fails it now; null when it passes. Asked when the candidate fails it. */
  | { is: 'other_gate'; gate: string; phase: GatePhase; other: SampleFault | null }
  /** Why a gate that the candidate failed fails again; null when it passes now. */
  | { is: 'gate_again'; gate: string; phase: GatePhase; again: SampleFault | null }
  /** Why the artifacts that a sample declared do not hold. */
  | { is: 'declared'; stage: Stage; pair: number; declared: SampleFault }
  /** What the candidate is built on was revoked. */
  | { is: 'orphaned'; orphaned: string }
  /**
   * Files that a run changed; `beside`: a job in a different slot could have done it; `by`: the experiment with which the
   * candidate is compared did it; null = the candidate itself, as far as can be told.
   */
  | { is: 'tampered'; tampered: string[]; beside: boolean; by: string | null }
  /** Why the held-out data could not be used; `true` in records of 0.1.0: they had changed. */
  | { is: 'gone'; gone: string | true }
  /** What the judge said to one question. */
  | { is: 'judgement'; judgement: JudgeAnswer }
  /** What a judged pair came to: of the items that were asked for, those with different answers were judged. */
  | {
      is: 'batch'
      stage: Stage
      pair: number
      asked: string[]
      changed: number
      judged: JudgedItem[]
      d: number
    }
  /** Why a pair could not be judged. */
  | { is: 'unjudged'; stage: Stage; pair: number; unjudged: SampleFault }
  /** The judge passed so many questions with known answers. */
  | { is: 'anchored'; anchored: number }

/** One item of a judged pair. */
export interface JudgedItem {
  item: string
  /** Of the candidate: positive is better. */
  score: number
  /** Length of the answers of the candidate and of what it is compared with, in characters. */
  chars: [number, number]
}

/** One answer of the judge. */
export interface JudgeAnswer {
  stage: Stage
  pair: number
  item: string
  /** How often the items had been gone through before. */
  draw: number
  /** Whose answer stood first. Of a question with a known answer, `candidate` is the altered copy. */
  first: Side
  /** Of the judge, its prompt, the order and the draw: the same question has the same key. */
  key: string
  /** How much better the first answer is; null = it is unscored. */
  of_first: number | null
  /** What the judge said. */
  answer: unknown
  /** Why it is unscored. */
  why?: string
  anchor?: AnchorAnswer
  outcome: string
  ms: number
  usage: Usage
}

export type DecisionName = Decision['is']
export type DecisionOf<N extends DecisionName> = Extract<Decision, { is: N }>

/** A step as the record has it. */
export interface DecidedStep {
  step: StepName
  state: 'began' | 'ended'
  detail: unknown
}

/** The step of the record in which a stage of pairs is taken. */
export const stepOfStage = (stage: PairedStageName): StepName =>
  stage === 'judge' ? 'comparison' : 'confirm'

/** The step of the record in which the gates of a phase run. */
export const stepOfGates = (phase: GatePhase): StepName =>
  phase === 'before' ? 'gates_before' : 'gates_after'

/** The step that says so. Its bytes are the record's format. */
export function stepOfDecision(decision: Decision): DecidedStep {
  const ended = (step: StepName, detail: unknown): DecidedStep => ({ step, state: 'ended', detail })
  switch (decision.is) {
    case 'tests':
      return ended('scope', { tests: decision.tests })
    case 'loose':
      return ended('setup', { loose: decision.loose })
    case 'prepared':
      return ended('build', decision.preparation)
    case 'mode':
      return ended('measure', { mode: decision.mode })
    case 'stage': {
      const { stage, context } = decision
      return { step: stepOfStage(stage), state: 'began', detail: { stage, context } }
    }
    case 'rival':
      return ended('confirm', {
        best: decision.best,
        could: decision.could,
        ...(decision.instead ? { instead: true } : {}),
      })
    case 'broken':
      return ended('setup', { placed: decision.placed, broken: decision.broken })
    case 'other_gate': {
      const { gate, phase, other } = decision
      return ended(stepOfGates(phase), { gate, other })
    }
    case 'gate_again': {
      const { gate, phase, again } = decision
      return ended(stepOfGates(phase), { gate, again })
    }
    case 'declared': {
      const { stage, pair, declared } = decision
      return ended('measure', { stage, pair, declared })
    }
    case 'asked':
      return ended('measure', { asked: decision.asked, because: decision.because })
    case 'orphaned':
      return ended('measure', { orphaned: decision.orphaned })
    case 'tampered': {
      const { tampered, beside, by } = decision
      return ended('measure', { tampered, ...(beside ? { beside } : {}), ...(by === null ? {} : { by }) })
    }
    case 'gone':
      return ended('holdout', { gone: decision.gone })
    case 'judgement':
      return ended('measure', { judgement: decision.judgement })
    case 'batch': {
      const { is: _, ...batch } = decision
      return ended('measure', { batch })
    }
    case 'unjudged': {
      const { stage, pair, unjudged } = decision
      return ended('measure', { stage, pair, unjudged })
    }
    case 'anchored':
      return ended('measure', { anchored: decision.anchored })
    default:
      return unreachable(decision)
  }
}

/** All decisions of a record, in order. */
export const decisionsIn = (steps: readonly StepLine[]): Decision[] =>
  steps.flatMap((line) => ('detail' in line ? (decisionOf(line.step, line.detail) ?? []) : []))

/** The decision that a step of a record says; null for one that says none, such as a conclusion for readers. */
export function decisionOf(step: StepName, detail: unknown): Decision | null {
  const said = Object(detail) as Record<string, never>
  const has = (key: string) => Object.hasOwn(said, key)
  if (step === 'scope' && has('tests')) return { is: 'tests', tests: said.tests ?? [] }
  if (step === 'build') return { is: 'prepared', preparation: detail as Preparation }
  if (step === 'setup' && has('loose')) return { is: 'loose', loose: said.loose ?? [] }
  if (step === 'setup' && has('broken'))
    return { is: 'broken', ...(detail as Omit<DecisionOf<'broken'>, 'is'>) }
  for (const phase of ['before', 'after'] as const) {
    if (step !== stepOfGates(phase)) continue
    if (has('other'))
      return { is: 'other_gate', phase, ...(detail as Omit<DecisionOf<'other_gate'>, 'is' | 'phase'>) }
    if (has('again'))
      return { is: 'gate_again', phase, ...(detail as Omit<DecisionOf<'gate_again'>, 'is' | 'phase'>) }
  }
  if (step === 'holdout' && has('gone')) return { is: 'gone', ...(detail as Omit<DecisionOf<'gone'>, 'is'>) }
  if ((step === 'comparison' || step === 'confirm') && has('context'))
    return { is: 'stage', ...(detail as Omit<DecisionOf<'stage'>, 'is'>) }
  if (step === 'confirm' && has('could'))
    return { is: 'rival', ...(detail as Omit<DecisionOf<'rival'>, 'is'>) }
  if (step !== 'measure') return null
  if (has('mode')) return { is: 'mode', ...(detail as Omit<DecisionOf<'mode'>, 'is'>) }
  if (has('declared')) return { is: 'declared', ...(detail as Omit<DecisionOf<'declared'>, 'is'>) }
  if (has('orphaned')) return { is: 'orphaned', ...(detail as Omit<DecisionOf<'orphaned'>, 'is'>) }
  if (has('because')) return { is: 'asked', ...(detail as Omit<DecisionOf<'asked'>, 'is'>) }
  if (has('judgement')) return { is: 'judgement', ...(detail as Omit<DecisionOf<'judgement'>, 'is'>) }
  if (has('batch')) return { is: 'batch', ...(detail as { batch: Omit<DecisionOf<'batch'>, 'is'> }).batch }
  if (has('unjudged')) return { is: 'unjudged', ...(detail as Omit<DecisionOf<'unjudged'>, 'is'>) }
  if (has('anchored')) return { is: 'anchored', ...(detail as Omit<DecisionOf<'anchored'>, 'is'>) }
  if (has('tampered')) {
    const { tampered, beside = false, by = null } = detail as Partial<DecisionOf<'tampered'>>
    return { is: 'tampered', tampered: tampered ?? [], beside, by }
  }
  return null
}
