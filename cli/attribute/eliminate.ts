/**
 * Which units of a winner are needed: backward elimination, anchored. The whole is always compared with the whole less
 * some units, never one reduction with the one before, so that small losses cannot add up unseen. Pure: what comes next
 * follows from the units, the plan and the answers so far, so the next process continues from what a killed one recorded.
 */
import { unreachable } from '../result.ts'

/** What is known of a unit beforehand. */
export interface Part {
  id: string
  /** Lines added and removed. */
  lines: number
}

export interface EliminationPlan {
  /** Pairs that the tests may take in all. The last test may go beyond: it ends by its own rule. */
  pairs: number
  /** Drop only what was found to be not better; what stays open is kept. */
  careful?: boolean
  /** Ask, at the end, what each two units that pay are worth together. For exact metrics: there it costs one sample. */
  interactions?: boolean
}

/** By default: enough for each unit to go to the end of its test now and then. */
export const pairsFor = (units: number): number => 10 * units + 40

export interface Answer {
  /** The units left out in this test, as they were asked for. */
  without: readonly string[]
  /**
   * Is the reference better than what is left? `improved`: yes. `not_better`: no. `inconclusive`: the noise hides it.
   * `same`: what is left builds to the same, so nothing was measured. `worse`: what is left was shown to be better than the
   * reference. `broken`: what is left does not build or pass the gates, which says nothing of the gain.
   */
  outcome: 'improved' | 'not_better' | 'inconclusive' | 'same' | 'worse' | 'broken'
  pairs: number
  /** How much better the reference is; null when nothing was measured. */
  estimate: number | null
  /** 95 %; null when there is none. */
  interval: readonly [number, number] | null
  /** Of `broken`: units that hold what the message names. */
  needs?: readonly string[]
}

export type UnitState =
  /** The gain is smaller without it. */
  | 'pays'
  /** Left out, and no loss was found. */
  | 'dead_weight'
  /** What is left does not build, or fails a gate, without it. */
  | 'needed'
  /** Kept, since the noise hides what it does. */
  | 'not_told_apart'
  /** Kept, since the budget ended before its test. */
  | 'not_tested'

export interface UnitResult {
  id: string
  state: UnitState
  /** Of the test that decided it: how much better the reference is than what was left. Biased up when it pays. */
  estimate: number | null
  interval: readonly [number, number] | null
  /** The units that were left out in the same test, itself included. */
  together: readonly string[]
}

/** What two units are worth together beyond what each is worth alone. */
export interface Interaction {
  units: readonly [string, string]
  beyond: number
}

/** Compare `reference` (as the candidate) with `left` (as the parent). Both are what stays of the winner. */
export interface Test {
  next: 'test'
  without: string[]
  reference: string[]
  left: string[]
}

export interface Done {
  next: 'done'
  /** The reduced winner, in the order of the units. */
  kept: string[]
  units: UnitResult[]
  pairs: number
  /** Whether the budget ended it. */
  cut: boolean
  interactions: Interaction[]
}

export type EliminationStep = Test | Done

/** From so many units on groups may come first. */
const GROUPS_FROM = 9

/**
 * Groups save pairs when one unit pays and cost pairs when three do (58 against 74, and 120 against 84, with 16 units), so
 * they come first only where one unit has at least half of all lines.
 */
export function groupsFirst(parts: readonly Part[]): boolean {
  const total = parts.reduce((sum, { lines }) => sum + lines, 0)
  return parts.length >= GROUPS_FROM && Math.max(...parts.map(({ lines }) => lines)) * 2 >= total
}

/**
 * What to do next. `parts` in the order in which they are tried. `answers` are those to the steps before, in order; an
 * answer to a test that was not asked is a bug of the caller.
 */
export function nextStep(
  parts: readonly Part[],
  plan: EliminationPlan,
  answers: readonly Answer[],
): EliminationStep {
  return replay(new Elimination(parts, plan).run(), answers, (asked, answer) => {
    const [got, wanted] = [answer.without.join(', '), asked.without.join(', ')]
    if (got !== wanted) throw new Error(`the answer is about ${got}, the test about ${wanted}`)
  })
}

/** A part of the elimination: yields tests, takes their answers. */
type Asking<T> = Generator<Test, T, Answer>

class Elimination {
  readonly #order: readonly string[]
  readonly #plan: EliminationPlan
  readonly #grouped: boolean
  readonly #results = new Map<string, UnitResult>()
  /** Of each unit that was found to be needed: how many units were left then. */
  readonly #brokeAt = new Map<string, number>()
  readonly #left: Set<string>
  #reference: readonly string[]
  #pairs = 0
  #cut = false

  constructor(parts: readonly Part[], plan: EliminationPlan) {
    this.#order = parts.map(({ id }) => id)
    this.#plan = plan
    this.#grouped = groupsFirst(parts)
    this.#left = new Set(this.#order)
    this.#reference = this.#order
  }

  *run(): Asking<Done> {
    if (yield* this.#eliminate()) yield* this.#retryNeeded()
    const interactions = this.#plan.interactions === true ? yield* this.#interactions() : []
    return {
      next: 'done',
      kept: this.#order.filter((id) => this.#left.has(id)),
      units: this.#order.map((id) => this.#results.get(id) ?? resultOf(id, 'not_tested')),
      pairs: this.#pairs,
      cut: this.#cut,
      interactions,
    }
  }

  /** Whether the budget sufficed. */
  *#eliminate(): Asking<boolean> {
    const queue = [...this.#order]
    let size = 1
    while (queue.length > 0) {
      const group = queue.splice(0, this.#grouped ? size : 1).filter((id) => !this.#results.has(id))
      if (group.length === 0) continue
      if (group.length > 1 && group.length < this.#left.size) {
        const answer = yield* this.#ask(group)
        if (answer === null) return false
        if (answer.outcome !== 'broken' && this.#drops(answer)) {
          this.#drop(group, answer)
          size *= 2
          continue
        }
      }
      // A group that is needed says nothing of its members.
      let dropped = false
      for (const id of group) {
        if (this.#results.has(id)) continue
        const gone = yield* this.#tryOne(id)
        if (gone === null) return false
        dropped = gone
      }
      size = dropped && group.length === 1 ? size * 2 : 1
    }
    return true
  }

  /** What a unit needed may have been dropped since. */
  *#retryNeeded(): Asking<void> {
    for (let before = -1; before !== this.#left.size; ) {
      before = this.#left.size
      for (const [id, left] of [...this.#brokeAt]) {
        if (!this.#left.has(id) || left === this.#left.size) continue
        if ((yield* this.#tryOne(id)) === null) return
      }
    }
  }

  /** Whether the unit was dropped; null when the budget is spent. */
  *#tryOne(id: string): Asking<boolean | null> {
    if (this.#left.size === 1) {
      // What would be left is the parent, and that the winner beats it is known.
      this.#results.set(id, resultOf(id, 'pays'))
      return false
    }
    const alone = yield* this.#ask([id])
    if (alone === null) return null
    if (alone.outcome !== 'broken') return this.#settle([id], alone)
    const helpers = (alone.needs ?? []).filter(
      (other) => other !== id && this.#left.has(other) && !this.#isSettled(other),
    )
    if (helpers.length > 0 && helpers.length + 1 < this.#left.size) {
      const both = [id, ...helpers]
      const joint = yield* this.#ask(both)
      if (joint === null) return null
      if (joint.outcome !== 'broken') return this.#settle(both, joint)
    }
    this.#brokeAt.set(id, this.#left.size)
    this.#results.set(id, resultOf(id, 'needed'))
    return false
  }

  /** Whether a measured answer says what becomes of it; a unit that is only needed to build may still go with others. */
  #isSettled(id: string): boolean {
    const state = this.#results.get(id)?.state
    return state !== undefined && state !== 'needed'
  }

  #settle(units: readonly string[], answer: Answer): boolean {
    if (this.#drops(answer)) {
      this.#drop(units, answer)
      return true
    }
    const state = answer.outcome === 'improved' ? 'pays' : 'not_told_apart'
    for (const id of units) {
      this.#brokeAt.delete(id)
      this.#results.set(id, resultOf(id, state, units, answer))
    }
    return false
  }

  #drops({ outcome }: Answer): boolean {
    switch (outcome) {
      case 'not_better':
      case 'same':
      case 'worse':
        return true
      case 'inconclusive':
        return this.#plan.careful !== true
      case 'improved':
      case 'broken':
        return false
      default:
        return unreachable(outcome)
    }
  }

  #drop(units: readonly string[], answer: Answer): void {
    for (const id of units) {
      this.#left.delete(id)
      this.#results.set(id, resultOf(id, 'dead_weight', units, answer))
    }
    if (answer.outcome === 'worse') this.#reference = this.#order.filter((id) => this.#left.has(id))
  }

  /** The answer to a test; null when the budget is spent. */
  *#ask(units: readonly string[]): Asking<Answer | null> {
    if (this.#pairs >= this.#plan.pairs) {
      this.#cut = true
      return null
    }
    const answer = yield {
      next: 'test',
      without: [...units],
      reference: [...this.#reference],
      left: this.#order.filter((id) => this.#left.has(id) && !units.includes(id)),
    }
    this.#pairs += answer.pairs
    return answer
  }

  *#interactions(): Asking<Interaction[]> {
    const found: Interaction[] = []
    const paying = this.#order.filter((id) => this.#results.get(id)?.state === 'pays')
    for (const [i, a] of paying.entries()) {
      for (const b of paying.slice(i + 1)) {
        if (this.#left.size <= 2) return found
        const answer = yield* this.#ask([a, b])
        if (answer === null) return found
        const [alone, other] = [
          this.#results.get(a)?.estimate ?? null,
          this.#results.get(b)?.estimate ?? null,
        ]
        if (answer.estimate === null || alone === null || other === null) continue
        found.push({ units: [a, b], beyond: answer.estimate - alone - other })
      }
    }
    return found
  }
}

function resultOf(
  id: string,
  state: UnitState,
  together: readonly string[] = [id],
  { estimate, interval }: Pick<Answer, 'estimate' | 'interval'> = { estimate: null, interval: null },
): UnitResult {
  return { id, state, estimate, interval, together }
}

/**
 * Gives recorded answers to a generator of questions, in order, and answers the question or the result that it is at then: a
 * process that was killed continues from the record. `check` throws when an answer belongs to a different question; an answer
 * after the end is a bug of the caller, too.
 */
function replay<Question, Result, Answer>(
  run: Generator<Question, Result, Answer>,
  answers: readonly Answer[],
  check: (asked: Question, answer: Answer) => void,
): Question | Result {
  let step = run.next()
  for (const answer of answers) {
    if (step.done === true) throw new Error('an answer came after the end')
    check(step.value, answer)
    step = run.next(answer)
  }
  return step.value
}
