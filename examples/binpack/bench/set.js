import { instance } from '../src/instances.js'

/** The instances of the benchmark: as many of one family as of the other, so that their plain mean is fair. */
export function benchmark() {
  return [1, 2, 3, 4].flatMap((seed) => [instance('uniform', seed, 1000), instance('weibull', seed, 2000)])
}
