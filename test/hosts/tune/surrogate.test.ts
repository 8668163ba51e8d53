import { expect, test } from 'vitest'
import { surrogate } from '../../../cli/hosts/tune/surrogate.ts'

/** Points that fill the square evenly (a Kronecker sequence of the golden ratio and the root of two). */
const POINTS = Array.from({ length: 30 }, (_, i) => [(i * 0.618034) % 1, (i * 0.414214) % 1])
const wave = ([x = 0]: number[]) => Math.sin(6 * x)

test('agrees with the observations, and is less sure far from them', () => {
  const model = surrogate(POINTS.slice(0, 12).map((point) => ({ point, score: wave(point) })))
  const near = model.predict(POINTS[3] ?? [])
  const far = model.predict([3, 3])
  expect(near.deviation).toBeLessThan(0.2)
  expect(far.deviation).toBeGreaterThan(0.9)
})

test('learns that a coordinate without influence has none', () => {
  const model = surrogate(POINTS.map((point) => ({ point, score: wave(point) })))
  const [one, two] = [model.predict([0.25, 0.05]), model.predict([0.25, 0.95])]
  expect(Math.abs(one.mean - two.mean)).toBeLessThan(0.02)
  expect(one.mean).toBeGreaterThan(model.predict([0.8, 0.05]).mean + 1)
})

test('equal scores and a single observation are no trouble', () => {
  const flat = surrogate(POINTS.map((point) => ({ point, score: 7 }))).predict([0.5, 0.5])
  const single = surrogate([{ point: [0.5, 0.5], score: 7 }]).predict([0.5, 0.5])
  expect([flat.mean, single.mean]).toEqual([0, 0])
})

test('how bad a very bad one is does not hide the differences of the others', () => {
  const scores = POINTS.map((point, i) => ({ point, score: i === 0 ? -1e9 : wave(point) }))
  const model = surrogate(scores)
  expect(model.predict([0.25, 0.5]).mean).toBeGreaterThan(model.predict([0.8, 0.5]).mean + 0.5)
})
