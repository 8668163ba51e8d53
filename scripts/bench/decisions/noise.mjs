/**
 * The machines of the simulation. Each kind makes a function that answers, sample after sample in the order of time, by
 * what factor the true value is off. `role` says whose sample it is, and whether it is the second of its pair.
 *
 * @typedef {{ candidate: boolean, second: boolean }} Role
 * @type {Record<string, (random: import('./random.mjs').Random) => (role: Role) => number>}
 */
export const NOISE = {
  'normal 0.2 %': normal(0.002),
  'normal 2 %': normal(0.02),
  'normal 10 %': normal(0.1),
  'log-normal 5 %': (random) => () => Math.exp(0.05 * random.normal()),
  // One sample in twenty is hit by something else on the machine, and takes up to three times as long.
  'heavy tails': (random) => () =>
    positive(1 + 0.02 * random.normal()) * (random.chance(0.05) ? 1 + 2 * random.uniform() : 1),
  drifting: (random) => {
    const period = 300 + 700 * random.uniform()
    let phase = 2 * Math.PI * random.uniform()
    let walk = 0
    return () => {
      phase += (2 * Math.PI) / period
      walk += 0.001 * random.normal()
      return Math.exp(walk + 0.05 * Math.sin(phase)) * positive(1 + 0.02 * random.normal())
    }
  },
  'two modes 4 %': (random) => () => (random.chance(0.5) ? 1.04 : 1) + 0.002 * random.normal(),
  'correlated (AR 0.5)': (random) => {
    let state = random.normal()
    return () => {
      state = 0.5 * state + Math.sqrt(0.75) * random.normal()
      return positive(1 + 0.02 * state)
    }
  },
  'regimes 1 % ↔ 4 %': (random) => {
    let busy = random.chance(0.5)
    return () => {
      if (random.chance(1 / 60)) busy = !busy
      return positive(1 + (busy ? 0.04 : 0.01) * random.normal())
    }
  },
  'second is 1.5 % slower': (random) => {
    const base = normal(0.02)(random)
    return (role) => base() * (role.second ? 1.015 : 1)
  },
  'candidate 3× noisier': (random) => (role) =>
    positive(1 + (role.candidate ? 0.06 : 0.02) * random.normal()),
}

function normal(deviation) {
  return (random) => () => positive(1 + deviation * random.normal())
}

/** Ten standard deviations off; only so that a logarithm exists. */
function positive(factor) {
  return Math.max(factor, 1e-6)
}
