/**
 * One pair of a metric that a model judges: of the items whose answers differ, a batch is shown to the judge, with both sides in an
 * order that a coin draws. Each judgement is recorded before the next call, so a process that resumes the attempt pays nothing twice.
 * The result of the pair is recorded, too, and read when the verdict is computed again. Also here: the questions with known
 * answers (anchors) that show whether the judge can be trusted. Pairs and held-out measurements ask for it.
 */
import { createHash } from 'node:crypto'
import { figure } from '../evaluate/figure.ts'
import { median, sum } from '../evaluate/stats.ts'
import {
  ANCHOR_EVERY,
  ANCHORS_AT_FIRST,
  anchorAt,
  degraded,
  injected,
  readAnchors,
} from '../judge/anchors.ts'
import { differenceOf, type Showing, showingOf, signedScore } from '../judge/batch.ts'
import { drawOf, type Item } from '../judge/items.ts'
import { answerSchema, judgePrompt, scoreOfFirst } from '../judge/prompt.ts'
import type { AnchorAnswer, Sample, SampleFault, Side, Stage } from '../ledger/events.ts'
import { callsPerItem } from '../run/items.ts'
import type { JudgeConfig } from '../spec/spec.ts'
import type { DecisionOf, JudgeAnswer, JudgedItem } from './decisions.ts'
import {
  addFault,
  batchesBefore,
  type ItemJudge,
  itemsOfPair,
  lacking,
  must,
  setOf,
  type Trial,
} from './trial.ts'

/** If the judge gives this many invalid answers in a row, it does not work, and the attempt ends. */
const UNSCORED = 3

export interface PairOfAnswers {
  stage: Stage
  pair: number
  candidate: Sample
  other: Sample
}

/** How much better the candidate's answers are in one pair; null when the attempt ends here, by a fault or because its answers are too long. */
export async function judgedPair(trial: Trial, pair: PairOfAnswers): Promise<DecisionOf<'batch'> | null> {
  const known = trial.record
    .decided('batch')
    .find((one) => one.stage === pair.stage && one.pair === pair.pair)
  const batch = known ?? (await judgeBatch(trial, pair))
  if (batch === null || !trial.plan.endsEarly) return batch
  const tooLong = lengthObjection(trial, pair.stage)
  if (tooLong === null) return batch
  const { facts } = trial.evidence
  facts.constraints = [...facts.constraints, tooLong]
  return null
}

/** With fewer items, two long answers by chance would reject an honest candidate. */
const ENOUGH_ITEMS = 8

/**
 * Why the answers are too long in comparison with those of the other side; null when they are not, or when that cannot be said yet. A
 * judge likes long answers, which no order of the sides can cancel. The mean counts as well as the median, since a candidate
 * could write long answers to less than half of the items. `confirm` goes on with what `judge` compared.
 */
export function lengthObjection({ run, record }: Trial, stage: Stage): { message: string } | null {
  const most = run.spec.judge?.max_length
  const items = record
    .decided('batch')
    .filter((one) => one.stage === stage || (stage === 'confirm' && one.stage === 'judge'))
    .flatMap((one) => one.judged)
  if (most === undefined || items.length < ENOUGH_ITEMS) return null
  for (const [what, of] of [
    ['answer_chars', median],
    ['the mean of answer_chars', (lengths: number[]) => sum(lengths) / lengths.length],
  ] as const) {
    const [own, theirs] = ([0, 1] as const).map((side) => of(items.map(({ chars }) => chars[side])))
    if (own !== undefined && theirs !== undefined && own > most * theirs)
      return {
        message: `${what} = ${figure(own)}, more than ${figure(most)} times the ${figure(theirs)} of what it is compared with (judge.max_length)`,
      }
  }
  return null
}

async function judgeBatch(trial: Trial, pair: PairOfAnswers): Promise<DecisionOf<'batch'> | null> {
  const { record, source, run } = trial
  const [gone] = record
    .decided('unjudged')
    .filter((one) => one.stage === pair.stage && one.pair === pair.pair)
  if (gone) return addFault(trial, gone.unjudged) || null
  const { judge } = source
  const { judge: config } = run.spec
  if (judge === null || config === undefined) throw lacking('a judged pair')
  const { stage } = pair
  const ids = itemsOfPair(trial, judge.sets, stage, pair.pair)
  const items = new Map(judge.sets[setOf(stage)].map((item) => [item.id, item]))
  for (const [whose, sample] of [
    ['the candidate', pair.candidate],
    ['what it is compared with', pair.other],
  ] as const)
    if (!judge.holds(sample, ids))
      return new Asking(trial, judge, config, pair, []).end({
        reason: 'environment',
        message: `the answers of ${whose} were changed after its sample had ended; measure in isolation (measure.isolation: auto)`,
      })
  const differing = ids.flatMap((id) => {
    const answers = answersTo(judge, pair, id)
    const item = items.get(id)
    return item && answers.candidate !== answers.parent ? [{ item, answers }] : []
  })
  const batch = differing.slice(0, stage === 'holdout' ? undefined : judge.sets.batch)
  const others = differing.map(({ answers }) => answers.parent)
  const asking = new Asking(trial, judge, config, pair, others)
  const judged: JudgedItem[] = []
  const calls = callsPerItem(config)
  // A whole batch must fit: half of one would be paid for nothing.
  const refused = batch.length === 0 ? null : asking.refuses(batch.length * calls - asking.paidInPair)
  if (refused) return asking.end(refused)
  for (const { item, answers } of batch) {
    const score = await asking.item(item, answers)
    if (typeof score === 'object') return asking.end(score)
    judged.push({ item: item.id, score, chars: [lengthOf(answers.candidate), lengthOf(answers.parent)] })
  }
  const decision: DecisionOf<'batch'> = {
    is: 'batch',
    stage,
    pair: pair.pair,
    asked: ids,
    changed: differing.length,
    judged,
    d: differenceOf(judged.map(({ score }) => score)),
  }
  record.decide(decision)
  return decision
}

const lengthOf = (text: string): number => [...text].length

const answersTo = (
  judge: ItemJudge,
  { candidate, other }: PairOfAnswers,
  id: string,
): Record<Side, string> => ({
  candidate: judge.answer(candidate, id),
  parent: judge.answer(other, id),
})

/** The questions of one pair, in order. */
class Asking {
  readonly #trial: Trial
  readonly #judge: ItemJudge
  readonly #config: JudgeConfig
  readonly #pair: Pick<PairOfAnswers, 'stage' | 'pair'>
  readonly #draw: number
  /** Answers of the other side to items of this pair. */
  readonly #others: readonly string[]

  constructor(
    trial: Trial,
    judge: ItemJudge,
    config: JudgeConfig,
    pair: Pick<PairOfAnswers, 'stage' | 'pair'>,
    others: readonly string[],
  ) {
    this.#others = others
    this.#trial = trial
    this.#judge = judge
    this.#config = config
    this.#pair = pair
    const set = setOf(pair.stage)
    this.#draw =
      judge.sets[set].length === 0 ? 0 : drawOf(judge.sets, set, batchesBefore(trial, pair.stage, pair.pair))
  }

  /** Judgements of this pair that were paid before. */
  get paidInPair(): number {
    const { stage, pair } = this.#pair
    return this.#trial.record
      .decided('judgement')
      .filter((one) => one.judgement.stage === stage && one.judgement.pair === pair && !one.judgement.anchor)
      .length
  }

  refuses(calls: number): SampleFault | null {
    return calls <= 0 ? null : this.#judge.refuses(calls)
  }

  /** Ends the pair without an answer; an interruption is not recorded, so that the next process goes on. */
  end(fault: SampleFault): null {
    const { stage, pair } = this.#pair
    if (fault.reason !== 'aborted')
      this.#trial.record.decide({ is: 'unjudged', stage, pair, unjudged: fault })
    addFault(this.#trial, fault)
    return null
  }

  /** The candidate's score for an item, or why there is none. */
  async item(item: Item, answers: Record<Side, string>): Promise<number | SampleFault> {
    const due = this.#trial.record.decided('judgement').filter(({ judgement }) => !judgement.anchor).length
    const { stage, pair } = this.#pair
    const about = [stage, pair, item.id, this.#draw] as const
    const known = this.#trial.record.decided('judgement').filter(({ judgement }) => judgement.anchor).length
    if (this.#trial.node.parent !== null && known < Math.floor(due / ANCHOR_EVERY)) {
      // Each attempt begins at a different one, so that few attempts have all of them.
      const start = Number.parseInt(this.#trial.choices.draws('anchors').slice(0, 8), 16)
      const broken = await this.anchor(item, answers.parent, start + known)
      if (broken) return broken
    }
    const showing = showingOf(this.#trial.choices.draws, this.#config.scoring, ...about)
    const once = await this.#signed(item, answers, showing)
    if (typeof once === 'object' || !this.#config.swap) return once
    const first = showing.first === 'candidate' ? 'parent' : 'candidate'
    const again = await this.#signed(item, answers, { ...showing, first })
    return typeof again === 'object' ? again : (once + again) / 2
  }

  async #signed(item: Item, answers: Record<Side, string>, showing: Showing): Promise<number | SampleFault> {
    const { first } = showing
    const second = first === 'candidate' ? 'parent' : 'candidate'
    const found = await this.#question(item, showing, [answers[first], answers[second]], null)
    return 'reason' in found ? found : signedScore(this.#config.scoring, first, found.of_first)
  }

  /** Asks a question whose answer is known. A fault when the judge cannot be asked. */
  async anchor(item: Item, answer: string, number: number): Promise<SampleFault | null> {
    const { kind, place } = anchorAt(number)
    const { stage, pair } = this.#pair
    const { draws } = this.#trial.choices
    const drawn = showingOf(draws, this.#config.scoring, 'anchor', stage, pair, number)
    // `candidate` stands for the altered copy.
    const showing: Showing = { ...drawn, first: place === 'first' ? 'candidate' : 'parent' }
    const copy =
      kind === 'same'
        ? answer
        : kind === 'injected'
          ? injected(answer, place)
          : degraded(answer, this.#others)
    if (copy === null) return null
    const texts: [string, string] = place === 'first' ? [copy, answer] : [answer, copy]
    const found = await this.#question(item, showing, texts, { kind, place })
    return 'reason' in found ? found : null
  }

  /** One call, or the record of it. */
  async #question(
    item: Item,
    { first, order, nonce }: Showing,
    [one, two]: readonly [string, string],
    anchor: { kind: AnchorAnswer['kind']; place: 'first' | 'second' } | null,
  ): Promise<JudgeAnswer | SampleFault> {
    const { record } = this.#trial
    const { scoring, task, model, host } = this.#config
    const prompt = judgePrompt({ task, input: item.input, first: one, second: two, scoring, order, nonce })
    const { stage, pair } = this.#pair
    const key = createHash('sha256')
      .update(JSON.stringify([host, model, prompt, first, this.#draw, anchor]))
      .digest('hex')
    const known = record.decided('judgement').find(({ judgement }) => judgement.key === key)
    if (known) {
      must(this.#judge.paid({ key, ...callOf(known.judgement) }))
      return known.judgement
    }
    const refused = this.#judge.refuses(1)
    if (refused) return refused
    const reply = await this.#judge.ask({ prompt, schema: answerSchema(scoring, order) })
    if ('fault' in reply) return reply.fault
    const of_first = reply.answer === null ? null : scoreOfFirst(scoring, order, reply.answer)
    const judgement: JudgeAnswer = {
      stage,
      pair,
      item: item.id,
      draw: this.#draw,
      first,
      key,
      of_first,
      answer: of_first === null ? null : bounded(reply.answer),
      ...(of_first === null ? { why: reply.message.slice(0, 300) || 'the answer does not hold' } : {}),
      ...(anchor ? { anchor: { kind: anchor.kind, altered: alteredOf(anchor, of_first) } } : {}),
      outcome: reply.outcome,
      ms: Math.round(reply.ms),
      usage: reply.usage,
    }
    record.decide({ is: 'judgement', judgement })
    must(this.#judge.paid({ key, ...callOf(judgement) }))
    const last = record.decided('judgement').slice(-UNSCORED)
    if (last.length === UNSCORED && last.every((said) => said.judgement.of_first === null))
      return {
        reason: 'environment',
        message: `the judge gave no valid answer ${UNSCORED} times in a row; the last time: ${judgement.why}`,
      }
    return judgement
  }
}

/** Characters of an answer that are kept: enough evidence to read. */
const KEPT = 8000

function bounded(answer: unknown): unknown {
  const text = JSON.stringify(answer)
  return text.length <= KEPT ? answer : { cut: text.slice(0, KEPT) }
}

const callOf = ({ usage, ms, outcome, of_first, anchor }: JudgeAnswer) => ({
  usage,
  ms,
  outcome,
  unscored: of_first === null,
  anchor: anchor ?? null,
})

/** Whether the judge preferred the altered copy. If both answers were equal: whether it preferred the one that stood first. */
function alteredOf(
  { kind, place }: { kind: AnchorAnswer['kind']; place: 'first' | 'second' },
  ofFirst: number | null,
): AnchorAnswer['altered'] {
  if (ofFirst === null) return null
  const score = kind === 'same' || place === 'first' ? ofFirst : -ofFirst
  return score === 0 ? 'tie' : score > 0 ? 'won' : 'lost'
}

/** At `init`: questions with known answers, made from the baseline's own. False when the judge fails them, or cannot be asked. */
export async function firstAnchors(trial: Trial, sample: Sample): Promise<boolean> {
  const { record, source, run } = trial
  const [gone] = record.decided('unjudged')
  if (gone) return addFault(trial, gone.unjudged)
  const done = record.decided('judgement').length
  if (record.decided('anchored').length > 0) return true
  const { judge } = source
  const { judge: config } = run.spec
  if (judge === null || config === undefined) throw lacking('the questions with known answers')
  const ids = itemsOfPair(trial, judge.sets, sample.stage, sample.pair)
  const items = judge.sets.judge.filter(({ id }) => ids.includes(id))
  const answers = items.map(({ id }) => judge.answer(sample, id))
  const asking = new Asking(trial, judge, config, sample, answers)
  const refused = asking.refuses(ANCHORS_AT_FIRST - done)
  if (refused) return asking.end(refused) ?? false
  for (let number = 0; number < ANCHORS_AT_FIRST; number++) {
    const [item, answer] = [items[number % items.length], answers[number % items.length]]
    if (item === undefined || answer === undefined) break
    const broken = await asking.anchor(item, answer, number)
    if (broken) return asking.end(broken) ?? false
  }
  const anchors = record.decided('judgement').flatMap(({ judgement }) => judgement.anchor ?? [])
  const { trouble } = readAnchors(anchors)
  if (trouble !== null) {
    const message = `the judge cannot be trusted: ${trouble}; use another model, sharper criteria, or another task`
    return asking.end({ reason: 'environment', message }) ?? false
  }
  record.decide({ is: 'anchored', anchored: anchors.length })
  return true
}
