/** Attempts after the first one that stalled, as in the hosts. */
const RETRIES = 5

export interface Attempt {
  signal: AbortSignal
  /** Restarts the clock. */
  progress(): void
}

export type Watched<T> = { stalled: false; value: T } | { stalled: true }

/**
 * Runs a call that may stall: an attempt without progress for `stallMs` is aborted and made again, five times. Without
 * `stallMs` there is one attempt and no clock: the host's own time limit holds.
 */
export async function watchStall<T>(
  stallMs: number | null,
  outer: AbortSignal,
  attempt: (attempt: Attempt) => Promise<T>,
  retrying: (retry: number, retries: number) => void,
): Promise<Watched<T>> {
  if (stallMs === null) return { stalled: false, value: await attempt({ signal: outer, progress: () => {} }) }
  for (let retry = 0; ; retry += 1) {
    const stop = new AbortController()
    let clock: NodeJS.Timeout | undefined
    const quiet = new Promise<'quiet'>((resolve) => {
      clock = setTimeout(() => resolve('quiet'), stallMs)
    })
    const running = attempt({
      signal: AbortSignal.any([outer, stop.signal]),
      progress: () => clock?.refresh(),
    })
    const first = await Promise.race([running, quiet])
    clearTimeout(clock)
    if (first !== 'quiet') return { stalled: false, value: first }
    stop.abort()
    // The next attempt may use what this one holds.
    await running
    if (outer.aborted || retry === RETRIES) return { stalled: true }
    retrying(retry + 1, RETRIES)
  }
}
