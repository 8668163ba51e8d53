import { median } from '../median.mjs'

export const GAINS = [0.02, 0.03, 0.05, 0.1]

/** All that was counted for one kind of noise, as fractions of what they are fractions of. */
export function summarise(kind, tasks) {
  const of = (what) => tasks.filter((task) => task.what === what && task.kind === kind)
  const noOps = of('noOps').map(({ tally }) => tally)
  const total = (key) => noOps.reduce((sum, tally) => sum + tally[key], 0)
  const [sessions, candidates] = [total('sessions'), total('candidates')]
  return {
    kind,
    passed: total('passed') / candidates,
    falseKeep: total('kept') / candidates,
    anyFalse: total('spoiled') / sessions,
    pairs: total('pairs') / candidates,
    naive: {
      single: total('single') / sessions,
      keeps: total('singleKept') / sessions,
      mad: total('mad') / sessions,
    },
    gains: GAINS.map((gain) => {
      const tallies = of('gains').flatMap((task) => (task.gain === gain ? [task.tally] : []))
      return { gain, first: powerOf(tallies, 'first'), late: powerOf(tallies, 'late') }
    }),
  }
}

function powerOf(tallies, when) {
  const judge = tallies.flatMap((tally) => tally[when].judge)
  const confirm = tallies.flatMap((tally) => tally[when].confirm)
  return {
    kept: tallies.reduce((sum, tally) => sum + tally[when].kept, 0) / judge.length,
    judge: median(judge),
    confirm: confirm.length === 0 ? null : median(confirm),
  }
}

const percent = (fraction, digits = 1) => (100 * fraction).toFixed(digits)

export function noiseTable(kinds) {
  return [
    [
      'noise',
      'false keep %',
      'any in 100 %',
      'pairs',
      ...GAINS.map((gain) => `${percent(gain, 0)} % kept`),
      'pairs at 5 %',
      'single %',
      'MAD %',
    ],
    ...kinds.map(({ kind, falseKeep, anyFalse, pairs, gains, naive }) => {
      const five = gains.find(({ gain }) => gain === 0.05)
      return [
        kind,
        percent(falseKeep, 3),
        percent(anyFalse, 2),
        pairs.toFixed(2),
        ...gains.map(({ first, late }) => percent(Math.min(first.kept, late.kept))),
        `${five.late.judge} + ${five.late.confirm}`,
        percent(naive.single, 0),
        percent(naive.mad, 0),
      ]
    }),
  ]
}

export function luckyTable(tasks) {
  return [
    ['lucky value in', 'calibrated as equal %', 'first candidate kept %', 'any of 100 kept %'],
    ...tasks.map(({ chance, tally }) => [
      `${percent(chance)} % of samples`,
      percent(tally.calibrated / tally.sessions, 2),
      percent(tally.first / tally.sessions, 2),
      percent(tally.spoiled / tally.sessions, 2),
    ]),
  ]
}
