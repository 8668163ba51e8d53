const FALSE_KEEP = 0.001
const ANY_FALSE = 0.02
const PAIRS = 5

/** Of normal noise of 2 %, the first candidate of a run and later ones alike. */
const GAINED = [
  { gain: 0.05, kept: 0.99, judge: 6, confirm: 8 },
  { gain: 0.03, kept: 0.85, judge: Number.POSITIVE_INFINITY, confirm: Number.POSITIVE_INFINITY },
]

/** The bars that do not hold, in words. */
export function missed(kinds) {
  return kinds.flatMap((one) => [
    ...above(`${one.kind}: false keeps`, one.falseKeep, FALSE_KEEP),
    ...above(`${one.kind}: sessions with a false new best`, one.anyFalse, ANY_FALSE),
    ...above(`${one.kind}: pairs a candidate without effect`, one.pairs, PAIRS),
    ...(one.kind === 'normal 2 %' ? GAINED.flatMap((bar) => ungained(one, bar)) : []),
  ])
}

function ungained({ kind, gains }, bar) {
  const found = gains.find(({ gain }) => gain === bar.gain)
  return ['first', 'late'].flatMap((when) => {
    const name = `${kind}, a gain of ${bar.gain}, ${when}:`
    const { kept, judge, confirm } = found[when]
    return [
      ...above(`${name} lost`, 1 - kept, 1 - bar.kept),
      ...above(`${name} median pairs to judge`, judge, bar.judge),
      ...above(`${name} median pairs to confirm`, confirm, bar.confirm),
    ]
  })
}

function above(what, value, bar) {
  return value <= bar ? [] : [`${what}: ${value}, the bar is ${bar}`]
}
