/** The hosts of a run, the wanted one first. */
import type { Host } from './host.ts'

/** Calls in a row that a host leaves unanswered before the next one takes over for good. */
const FAILURES = 3

export interface Chain {
  /** Who answers the calls that begin now, and after it those that stand in for it, in order. */
  hosts(): Host[]
  /** What came of a call that began with this host; the host that takes over from now on, null when none does. */
  heard(host: Host, answered: boolean): Host | null
}

export function chain(all: [Host, ...Host[]]): Chain {
  let first = 0
  let failures = 0
  return {
    hosts: () => all.slice(first),
    heard(host, answered) {
      // A call may end after its host was left.
      if (host !== all[first]) return null
      failures = answered ? 0 : failures + 1
      const next = all[first + 1]
      if (failures < FAILURES || next === undefined) return null
      first += 1
      failures = 0
      return next
    },
  }
}
