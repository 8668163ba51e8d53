import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Answer,
  type Done,
  type EliminationPlan,
  groupsFirst,
  nextStep,
  type Part,
  type Test,
} from '../../cli/attribute/eliminate.ts'

const parts = (n: number, dominant = 0): Part[] =>
  Array.from({ length: n }, (_, i) => ({ id: `h${i + 1}`, lines: i + 1 === dominant ? 1000 : 1 }))
const PLAN: EliminationPlan = { pairs: 1000 }
type Say = (step: Test) => Partial<Answer> & Pick<Answer, 'outcome'>

function play(units: readonly Part[], plan: EliminationPlan, say: Say): { done: Done; asked: string[] } {
  const answers: Answer[] = []
  for (;;) {
    const step = nextStep(units, plan, answers)
    if (step.next === 'done') return { done: step, asked: answers.map(({ without }) => without.join('+')) }
    answers.push({ pairs: 5, estimate: null, interval: null, ...say(step), without: step.without })
  }
}

/** An exact metric: `gain` of what is there. */
const exact =
  (gain: (has: (id: string) => boolean) => number): Say =>
  ({ reference, left }) => {
    const d = gain((id) => reference.includes(id)) - gain((id) => left.includes(id))
    return { outcome: d > 0 ? 'improved' : d < 0 ? 'worse' : 'not_better', estimate: d, pairs: 1 }
  }
const states = ({ units }: Done): Record<string, string> =>
  Object.fromEntries(units.map(({ id, state }) => [id, state]))

test('finds the two of eight that pay', () => {
  const { done, asked } = play(
    parts(8),
    PLAN,
    exact((has) => (has('h3') ? 4 : 0) + (has('h6') ? 2 : 0)),
  )
  expect(done.kept).toEqual(['h3', 'h6'])
  expect(done.units.find(({ id }) => id === 'h3')).toMatchObject({ state: 'pays', estimate: 4 })
  expect(asked).toHaveLength(8)
})

test('keeps both of two that only work together', () => {
  const { done } = play(
    parts(6),
    PLAN,
    exact((has) => (has('h2') && has('h5') ? 6 : 0)),
  )
  expect(done.kept).toEqual(['h2', 'h5'])
})

test('leaves one of two that do the same', () => {
  const { done } = play(
    parts(6),
    PLAN,
    exact((has) => (has('h2') || has('h5') ? 6 : 0)),
  )
  expect(done.kept).toEqual(['h5'])
})

test('compares with the whole each time, so that small losses do not add up', () => {
  const references: string[][] = []
  play(parts(4), PLAN, ({ reference }) => {
    references.push(reference)
    return { outcome: 'not_better' }
  })
  expect(references).toEqual(Array.from({ length: 3 }, () => ['h1', 'h2', 'h3', 'h4']))
})

test('compares with the reduction once it was shown to be better than the whole', () => {
  const { done, asked } = play(
    parts(3),
    PLAN,
    exact((has) => (has('h1') ? -3 : 0) + (has('h3') ? 3 : 0)),
  )
  expect(done.kept).toEqual(['h3'])
  expect(asked).toEqual(['h1', 'h2'])
  const both = play(
    parts(3),
    PLAN,
    exact((has) => (has('h1') ? -3 : 0) + (has('h2') ? 2 : 0) + (has('h3') ? 2 : 0)),
  )
  expect(both.done.kept).toEqual(['h2', 'h3'])
})

test('calls a unit needed when what is left does not build, and does not take that for a gain', () => {
  const { done } = play(parts(3), PLAN, ({ left }) =>
    left.includes('h1')
      ? { outcome: left.includes('h3') ? 'not_better' : 'improved' }
      : { outcome: 'broken' },
  )
  expect(states(done)).toEqual({ h1: 'needed', h2: 'dead_weight', h3: 'pays' })
})

test('drops a unit with the one that the message of the build names', () => {
  const { done, asked } = play(parts(3), PLAN, ({ left }) => {
    if (left.includes('h2') && !left.includes('h1')) return { outcome: 'broken', needs: ['h2'] }
    return { outcome: left.includes('h3') ? 'not_better' : 'improved' }
  })
  expect(done.kept).toEqual(['h3'])
  expect(asked).toEqual(['h1', 'h1+h2'])
  expect(done.units[0]).toMatchObject({ state: 'dead_weight', together: ['h1', 'h2'] })
})

test('tries a needed unit again once what needed it is gone', () => {
  const { done, asked } = play(parts(3), PLAN, ({ left }) => {
    if (left.includes('h2') && !left.includes('h1')) return { outcome: 'broken' }
    return { outcome: left.includes('h3') ? 'not_better' : 'improved' }
  })
  expect(done.kept).toEqual(['h3'])
  expect(asked).toEqual(['h1', 'h2', 'h3', 'h1'])
})

test('drops what the noise hides, and keeps it when careful', () => {
  const hidden: Say = ({ left }) => ({ outcome: left.includes('h3') ? 'inconclusive' : 'improved' })
  expect(play(parts(3), PLAN, hidden).done.kept).toEqual(['h3'])
  expect(states(play(parts(3), { ...PLAN, careful: true }, hidden).done)).toEqual({
    h1: 'not_told_apart',
    h2: 'not_told_apart',
    h3: 'pays',
  })
})

test('ends at the boundary of a test when the budget is spent, and keeps what was not tested', () => {
  const { done } = play(parts(4), { pairs: 8 }, () => ({ outcome: 'not_better' }))
  expect(done).toMatchObject({ cut: true, pairs: 10, kept: ['h3', 'h4'] })
  expect(states(done)).toMatchObject({ h3: 'not_tested', h4: 'not_tested' })
})

test('takes groups first only where one unit has most of the lines', () => {
  expect(groupsFirst(parts(16))).toBe(false)
  expect(groupsFirst(parts(8, 8))).toBe(false)
  const { done, asked } = play(
    parts(16, 16),
    PLAN,
    exact((has) => (has('h16') ? 6 : 0)),
  )
  expect(done.kept).toEqual(['h16'])
  expect(asked.map((test) => test.split('+').length)).toEqual([1, 2, 4, 8])
})

test('says what two units are worth together beyond each alone', () => {
  const gain = exact(
    (has) =>
      (has('h1') ? 2 : 0) + (has('h2') ? 3 : 0) + (has('h1') && has('h2') ? 1 : 0) + (has('h3') ? 1 : 0),
  )
  const { done } = play(parts(3), { ...PLAN, interactions: true }, gain)
  // Alone each takes the common 1 with it, so together they are worth 1 less than the sum.
  expect(done.interactions).toEqual([
    { units: ['h1', 'h2'], beyond: -1 },
    { units: ['h1', 'h3'], beyond: 0 },
    { units: ['h2', 'h3'], beyond: 0 },
  ])
})

test('refuses an answer to what it did not ask', () => {
  const answer: Answer = { without: ['h2'], outcome: 'same', pairs: 0, estimate: null, interval: null }
  expect(() => nextStep(parts(2), PLAN, [answer])).toThrow('the answer is about h2, the test about h1')
})

test('ends for any answers, and never drops everything or without an answer that says so', () => {
  const outcome = fc.constantFrom('improved', 'not_better', 'inconclusive', 'same', 'worse', 'broken')
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 0, max: 12 }),
      fc.infiniteStream(fc.tuple(outcome, fc.integer({ min: 1, max: 12 }))),
      (n, dominant, says) => {
        const dropped = new Set<string>()
        const { done } = play(parts(n, dominant), PLAN, ({ without }) => {
          const [said, needs] = says.next().value as [Answer['outcome'], number]
          if (said !== 'broken' && said !== 'improved') for (const id of without) dropped.add(id)
          return { outcome: said, needs: [`h${needs}`], pairs: 1 }
        })
        expect(done.kept.length).toBeGreaterThan(0)
        for (const { id } of parts(n)) expect(done.kept.includes(id)).toBe(!dropped.has(id))
      },
    ),
  )
})
