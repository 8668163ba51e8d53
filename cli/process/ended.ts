/** How a process ended. Each fact has its own field: a null code is never a success. */
export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  timedOut: boolean
  cancelled: boolean
  /** The program could not be started at all (ENOENT, EACCES, …). */
  startError: { code: string; message: string } | null
  /** Wall-clock time from the start to the exit, in milliseconds. */
  ms: number
}

export const notYet = (): Ended => ({
  code: null,
  signal: null,
  timedOut: false,
  cancelled: false,
  startError: null,
  ms: 0,
})

export function startErrorOf(error: unknown): { code: string; message: string } {
  const { code, message } = error as NodeJS.ErrnoException
  return { code: code ?? 'UNKNOWN', message }
}

/** Signals every process of the group that `leader` began; says whether there was one. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): boolean {
  if (leader === undefined) return false
  try {
    process.kill(-leader, signal)
    return true
  } catch {
    return false // The group is gone already.
  }
}

/** Node fires a longer timer at once. */
const LONGEST_TIMER = 2 ** 31 - 1

export function after(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(ms, LONGEST_TIMER))
}
