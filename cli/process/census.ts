let started = 0
let live = 0

export interface Entry {
  /** True while no other child of this process has lived at the same time as this one. */
  alone(): boolean
  ended(): void
}

/**
 * Counts the children of this process. The kernel adds the CPU time of every reaped child into one sum, so a
 * difference of that sum belongs to one child only if it was alone.
 */
export function enterCensus(): Entry {
  const wasAlone = live === 0
  started += 1
  live += 1
  const mine = started
  let open = true
  return {
    alone: () => wasAlone && started === mine,
    ended: () => {
      if (open) live -= 1
      open = false
    },
  }
}
