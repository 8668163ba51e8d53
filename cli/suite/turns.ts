/** Who runs which task of a suite when: one run of the suite alone, or the two of a pair, task by task. */

/** Runs one task, by its place in the suite. False: nothing more of this run of the suite is to be started. */
export type RunTask = (task: number) => Promise<boolean>

/** Runs all tasks of one run of a suite. */
export type Pace = (suite: { tasks: number; concurrency: number }, run: RunTask) => Promise<void>

/** Starts the tasks in their order, so many at once. */
export const alone: Pace = async ({ tasks, concurrency }, run) => {
  let next = 0
  let goesOn = true
  const worker = async () => {
    while (goesOn && next < tasks) if (!(await run(next++))) goesOn = false
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, tasks) }, worker))
}

/** One of the two runs of a pair. */
export interface Turn {
  pace: Pace
  /** To be called when this run has ended, also when it never began: the other one does not wait for it any more. */
  leave(): void
}

/**
 * The two runs of a pair: each task is run by one of them, and then by the other, so that whatever changes while the suite
 * runs changes for both. Together they run no more tasks at once than one does alone. `firstOf`: who runs a task first.
 */
export function inTurns(firstOf: (task: number) => 0 | 1): [Turn, Turn] {
  const runs: [RunTask | null, RunTask | null] = [null, null]
  let missing = 2
  let arrived = () => {}
  const both = new Promise<void>((resolve) => (arrived = resolve))
  let shared: Promise<void> | null = null
  const arrive = () => {
    if (--missing === 0) arrived()
  }
  /** False: neither of them goes on. */
  const inOrder: RunTask = async (task) => {
    for (const side of firstOf(task) === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const run = runs[side]
      if (run !== null && !(await run(task))) runs[side] = null
    }
    return runs.some((run) => run !== null)
  }
  const turn = (side: 0 | 1): Turn => ({
    async pace(suite, run) {
      runs[side] = run
      arrive()
      await both
      shared ??= alone(suite, inOrder)
      await shared
    },
    leave() {
      if (runs[side] === null) arrive()
    },
  })
  return [turn(0), turn(1)]
}
