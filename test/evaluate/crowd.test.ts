import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkConstraints, type Violation } from '../../cli/evaluate/constraints.ts'
import {
  crowdBehind,
  foremost,
  inCrowd,
  isSpoiltByCrowd,
  type Objection,
  spoils,
} from '../../cli/evaluate/crowd.ts'
import { type Regression, regressions } from '../../cli/evaluate/protected.ts'
import { OPERATORS } from '../../cli/ledger/events.ts'

test.each([
  ['others take what the machine has', { others: 0.67, idle: 0 }, true],
  ['a processor in ten, and a tenth of them idle, is the border', { others: 0.1, idle: 0.1 }, true],
  ['a processor is left', { others: 0.5, idle: 0.11 }, false],
  ['the benchmark itself takes all', { others: 0.09, idle: 0 }, false],
  ['the system does not tell', null, false],
  ['a record of an earlier version', undefined, false],
])('a crowd is not told from its absence: %s', (_, processors, crowd) => {
  expect(inCrowd(processors === undefined ? {} : { processors })).toBe(crowd)
})

test('CPU time, or a time that the benchmark prints, counts as wall time', () => {
  expect(['wall_ms', 'ms', 'cpu_ms', 'peak_mb'].filter(isSpoiltByCrowd)).toEqual(['wall_ms'])
})

test('one crowded pair of many spoils a gain, or a gain without samples counts as crowded', () => {
  expect([spoils(1, 25), spoils(12, 25), spoils(13, 25), spoils(0, 0)]).toEqual([false, false, true, false])
})

const CROWD = { others: 0.6, idle: 0 }
const QUIET = { others: 0, idle: 0.5 }
const sample = (wall_ms: number, processors: typeof CROWD | null = CROWD) => ({
  metrics: { wall_ms, cpu_ms: wall_ms },
  processors,
})
const some = fc.array(
  fc.record({
    wall: fc.integer({ min: 1, max: 9 }),
    processors: fc.constantFrom(CROWD, QUIET, null),
  }),
  { minLength: 1, maxLength: 9 },
)
const samplesOf = (taken: { wall: number; processors: typeof CROWD | null }[]) =>
  taken.map(({ wall, processors }) => sample(wall, processors))
const blameless = (found: Objection[]) => found.map(({ message }) => message)

test('most pairs, of which one side was in a crowd, do not count as a crowd; half of them do, or a different metric', () => {
  const [crowd, quiet] = [sample(1), sample(1, QUIET)]
  expect(crowdBehind('wall_ms', [crowd, quiet, quiet], [quiet, crowd, quiet])).toMatch(
    /^in 2 of 3 pairs other/,
  )
  // Too short to tell: the parent's samples of a candidate that waits.
  expect(crowdBehind('wall_ms', [crowd, crowd], [sample(1, null), sample(1, null)])).toMatch(
    /^in 2 of 2 pairs/,
  )
  expect(crowdBehind('wall_ms', [crowd, quiet], [quiet, quiet])).toBeNull()
  expect(crowdBehind('wall_ms', [], [])).toBeNull()
  expect(crowdBehind('cpu_ms', [crowd], [crowd])).toBeNull()
})

test('a crowd changes what is found, or is told of more or fewer than most of the samples', () => {
  const asked = OPERATORS.flatMap((op) => ['wall_ms', 'cpu_ms'].map((metric) => ({ metric, op, value: 5 })))
  const guarded = (['minimize', 'maximize'] as const).flatMap((direction) =>
    ['wall_ms', 'cpu_ms'].map((metric) => ({ metric, direction, max_regression: { absolute: 1 } })),
  )
  fc.assert(
    fc.property(some, some, (taken, compared) => {
      const [mine, theirs] = [samplesOf(taken), samplesOf(compared)]
      const unknown = (samples: typeof mine) => samples.map(({ metrics }) => ({ metrics }))
      const violated = checkConstraints(asked, mine)
      expect(blameless(violated)).toEqual(blameless(checkConstraints(asked, unknown(mine))))
      const worse = regressions(guarded, mine, theirs)
      expect(blameless(worse)).toEqual(blameless(regressions(guarded, unknown(mine), unknown(theirs))))
      const quiet = mine.filter(({ processors }) => processors !== CROWD)
      const crowded = mine.length - quiet.length
      const excused = ({ constraint }: Violation) =>
        constraint.metric === 'wall_ms' &&
        !constraint.op.startsWith('>') &&
        (2 * crowded > mine.length || (crowded > 0 && checkConstraints([constraint], quiet).length === 0))
      for (const one of violated) expect([one, 'crowd' in one]).toEqual([one, excused(one)])
      const pairs = mine.filter((own, pair) => [own, theirs[pair]].some((one) => one?.processors === CROWD))
      const spoilt = ({ metric }: Regression) => metric === 'wall_ms' && 2 * pairs.length > mine.length
      for (const one of worse) expect([one, 'crowd' in one]).toEqual([one, spoilt(one)])
    }),
  )
})

test('a constraint that holds in a crowd is doubted, or a broken lower bound is excused by it', () => {
  const check = (op: '<=' | '>=', value: number) =>
    checkConstraints([{ metric: 'wall_ms', op, value }], [sample(5), sample(5)])
  expect(check('<=', 5)).toEqual([])
  expect(check('<=', 4)).toMatchObject([{ actual: 5, crowd: expect.stringMatching(/^in 2 of 2 samples/) }])
  expect(check('>=', 6)).toEqual([expect.not.objectContaining({ crowd: expect.anything() })])
})

test('one crowded sample of two breaks a constraint for both, or excuses the other one that breaks it too', () => {
  const check = (...samples: ReturnType<typeof sample>[]) =>
    checkConstraints([{ metric: 'wall_ms', op: '<=', value: 5 }], samples)
  expect(check(sample(4, QUIET), sample(90))).toMatchObject([
    { actual: 47, crowd: expect.stringMatching(/^in 1 of 2 samples other/) },
  ])
  const blamed = [expect.not.objectContaining({ crowd: expect.anything() })]
  expect(check(sample(6, QUIET), sample(90))).toEqual(blamed)
  expect(check(sample(4, QUIET), sample(90, QUIET))).toEqual(blamed)
})

test('a metric that is missing or of a different type is excused by a crowd', () => {
  for (const op of ['<=', '=='] as const) {
    const [violated] = checkConstraints([{ metric: 'wall_ms', op, value: true }], [sample(5)])
    expect(violated).toBeDefined()
    expect(violated).not.toHaveProperty('crowd')
  }
  const rule = { metric: 'wall_ms', direction: 'minimize', max_regression: { absolute: 0 } } as const
  const [worse] = regressions([rule], [{ metrics: {}, processors: CROWD }], [sample(1)])
  expect(worse).toEqual({ metric: 'wall_ms', message: 'wall_ms is missing, or no number' })
})

test('a violation that a crowd excuses hides one that it does not', () => {
  const [excused, blamed] = [{ message: 'a', crowd: 'b' }, { message: 'c' }]
  expect([foremost([excused, blamed]), foremost([excused]), foremost([])]).toEqual([
    blamed,
    excused,
    undefined,
  ])
})
