import { EVALUATIONS, Search } from './searches.mjs'

export { PROBLEMS } from './problems.mjs'
export { DEFAULT, EVALUATIONS, SEARCHES } from './searches.mjs'
export { FUNCTIONS, tuned } from './tune.mjs'

/** Of each seed, sorted: the best found, and the evaluations to what is enough, `EVALUATIONS + 1` when it was not found. */
export function play(problem, { search }, seeds) {
  const runs = Array.from({ length: seeds }, (_, i) => {
    const run = new Search(problem, i + 1)
    search(run)
    const at = run.curve.findIndex((value) => value >= problem.enough)
    return { found: run.best.truth, needed: at < 0 ? EVALUATIONS + 1 : at + 1 }
  })
  return {
    found: runs.map(({ found }) => found).sort((a, b) => a - b),
    needed: runs.map(({ needed }) => needed).sort((a, b) => a - b),
  }
}
