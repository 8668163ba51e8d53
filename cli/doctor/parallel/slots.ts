/** How many measurements at once a machine and a benchmark allow. */

export interface SlotsRequest {
  cores: number
  current: number
  blocking: number
  metric: string
  /** What was read; 0 files prove nothing. */
  files: number
}

export interface Slots {
  proposed: number
  current: number
  cores: number
  reason: string
}

const MOST = 8
/** A metric that is a time is disturbed by whatever runs beside it. */
const IS_TIME =
  /(^|[_-])(ms|us|ns|s|sec|secs|seconds?|minutes?|time|times|duration|latency|wall|cpu|elapsed|throughput|qps|rps|fps|ops|p50|p90|p95|p99)($|[_-])|per_(s|sec|second)|time$|latency$/i

export function proposeSlots({ cores, current, blocking, metric, files }: SlotsRequest): Slots {
  const answer = (proposed: number, reason: string): Slots => ({ proposed, current, cores, reason })
  if (blocking > 0) return answer(1, `${blocking} blockers: two measurements at once would meet in them`)
  if (IS_TIME.test(metric))
    return answer(1, `${metric} is a time, and measurements side by side disturb each other's`)
  if (files === 0) return answer(1, 'no file of the benchmark could be read, so nothing is known about it')
  const half = Math.max(1, Math.min(MOST, Math.floor(cores / 2)))
  if (half === 1) return answer(1, `there are ${cores} cores: one for the measurement, one for the rest`)
  return answer(half, `no blocker was found, ${metric} is no time, and ${half} is half of the ${cores} cores`)
}
