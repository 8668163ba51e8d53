/**
 * Which wins are put together: all at once, then halves, then each refused one on its own. Pure: what comes next follows
 * from the siblings, what is known and the answers so far.
 */

import { replay } from '../attribute/replay.ts'

/** What earlier attempts showed, of this merge or others. */
export interface KnownMerges {
  /** Sets that were tried and not kept. Order does not matter. */
  failed: readonly (readonly string[])[]
  /** Two that conflict as text, or that were refused together. */
  clashes: readonly (readonly [string, string])[]
}

export interface MergePlan {
  /** The siblings, best first. The others are merged into the first one. */
  ranked: readonly string[]
  known?: KnownMerges
  /** How many attempts may be measured. */
  attempts?: number
}

export interface MergeAnswer {
  set: readonly string[]
  /** `conflict`: `between` do not merge as text, so nothing was measured. */
  outcome: 'kept' | 'refused' | 'conflict'
  between?: readonly [string, string]
}

/** Merge `set`. The first `on` of them were kept together already, or are the best alone. */
export interface MergeTry {
  next: 'merge'
  set: string[]
  on: number
}

export interface MergeDone {
  next: 'done'
  /** What is in the node at the end; only the best when nothing could be added. */
  merged: string[]
  /** Pairs that did not merge as text. */
  conflicts: [string, string][]
  attempts: number
}

export type MergeStep = MergeTry | MergeDone

/** The next step. `answers` are those to the steps before, in order. An answer to a set that was not asked for is a bug. */
export function nextMerge(plan: MergePlan, answers: readonly MergeAnswer[]): MergeStep {
  return replay(new Merging(plan).run(), answers, (asked, answer) => {
    if (keyOf(answer.set) !== keyOf(asked.set))
      throw new Error(`the answer is about ${answer.set.join(', ')}, not ${asked.set.join(', ')}`)
  })
}

type Asking<T> = Generator<MergeTry, T, MergeAnswer>

class Merging {
  readonly #ranked: readonly string[]
  readonly #most: number
  readonly #failed: Set<string>
  readonly #clashes: Set<string>
  readonly #conflicts: [string, string][] = []
  #have: string[]
  #attempts = 0

  constructor({
    ranked,
    known = { failed: [], clashes: [] },
    attempts = Number.POSITIVE_INFINITY,
  }: MergePlan) {
    this.#ranked = [...new Set(ranked)]
    this.#most = attempts
    this.#failed = new Set(known.failed.map(keyOf))
    this.#clashes = new Set(known.clashes.map(keyOf))
    this.#have = this.#ranked.slice(0, 1)
  }

  *run(): Asking<MergeDone> {
    yield* this.#divide(this.#ranked.slice(1))
    for (const one of this.#ranked) if (!this.#have.includes(one)) yield* this.#add([one])
    return {
      next: 'done',
      merged: this.#have,
      conflicts: this.#conflicts,
      attempts: this.#attempts,
    }
  }

  *#divide(members: readonly string[]): Asking<void> {
    if (members.length === 0 || (yield* this.#add(members)) || members.length === 1) return
    const half = Math.ceil(members.length / 2)
    yield* this.#divide(members.slice(0, half))
    yield* this.#divide(members.slice(half))
  }

  /** Whether `members`, without those that clash, were kept. */
  *#add(members: readonly string[]): Asking<boolean> {
    for (;;) {
      const set = this.#fitting(members)
      if (set.length === this.#have.length) return false
      if (this.#failed.has(keyOf(set)) || this.#attempts >= this.#most) return false
      const answer = yield { next: 'merge', set, on: this.#have.length }
      if (answer.outcome === 'conflict') {
        this.#conflict(set, answer.between)
        continue
      }
      this.#attempts += 1
      if (answer.outcome === 'kept') {
        this.#have = set
        return true
      }
      this.#failed.add(keyOf(set))
      // With two of them it is known which two: they are better apart.
      if (set.length === 2) this.#clashes.add(keyOf(set))
      return false
    }
  }

  /** What is merged already and, best first, each member that clashes with none before it. */
  #fitting(members: readonly string[]): string[] {
    const set = [...this.#have]
    for (const member of members) {
      if (!set.some((other) => this.#clashes.has(keyOf([other, member])))) set.push(member)
    }
    return set
  }

  #conflict(set: readonly string[], between: readonly [string, string] | undefined): void {
    if (!between?.every((member) => set.includes(member)) || this.#clashes.has(keyOf(between))) {
      throw new Error('a conflict names two of the set that were not known to clash')
    }
    this.#clashes.add(keyOf(between))
    this.#conflicts.push([between[0], between[1]])
  }
}

const keyOf = (set: readonly string[]): string => JSON.stringify([...set].sort())
