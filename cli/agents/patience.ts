/** How a loop waits when a provider asks for it: as long as asked, within the budget, and so that a user can stop it. */
import type { Host } from '../hosts/host.ts'
import type { Driver } from '../run/driver.ts'
import type { OpenRun } from '../run/open.ts'
import { pauseLoop } from '../run/steer.ts'
import type { AgentCall } from '../workflow/call.ts'

export interface Patience {
  /** Resolves when no wait of the host is under way. False: the call is over instead. */
  ready(host: Host, call: AgentCall): Promise<boolean>
  /**
   * Waits as the host said, or pauses the loop when that is beyond the budget or `LONGEST_MS`, until a person resumes it.
   * True: ask again. False: the call is over, because the loop was stopped or its run ended.
   */
  wait(host: Host, call: AgentCall, seconds: number, message: string): Promise<boolean>
}

/** A person must decide about a longer wait. */
export const LONGEST_MS = 6 * 3_600_000
const LOOK_MS = 250

/** `leave` ends the workflow so that it can be resumed: a waiting call has left nothing half done. */
export function patience(run: OpenRun, driver: Driver, leave: () => void): Patience {
  const untils = new Map<string, number>()
  const { ledger } = run
  const now = () => run.clock().getTime()

  const hold = async (call: AgentCall, over: () => boolean): Promise<boolean> => {
    for (;;) {
      if (call.signal.aborted) return false
      // If the ledger cannot be read, the next command that needs it reports that.
      ledger.refresh()
      if (ledger.state.stopped !== null) {
        leave()
        return false
      }
      if (over()) return true
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
  const going = () => ledger.state.paused === null

  return {
    ready: async (host, call) =>
      untils.has(host.name) ? hold(call, () => going() && now() >= (untils.get(host.name) ?? 0)) : true,
    wait: async (host, call, seconds, message) => {
      const until = now() + seconds * 1000
      const when = new Date(until).toISOString()
      const asked = `${host.name} asks to wait until ${when} (${message})`
      const bound = boundOf(run, seconds * 1000)
      if (bound !== null) {
        pauseLoop(run, `${asked}: ${bound}`)
        return hold(call, going)
      }
      untils.set(host.name, until)
      driver.wait({ host: host.name, until: when, why: message.slice(0, 500) })
      run.tell({ type: 'log', message: `${call.label}: ${asked}; the loop waits` })
      const again = await hold(call, () => going() && now() >= until)
      if (untils.get(host.name) === until) {
        untils.delete(host.name)
        driver.wait(null)
      }
      return again
    },
  }
}

/** Why the loop must not wait so long; null when it may. */
function boundOf({ ledger: { state } }: OpenRun, ms: number): string | null {
  const hours = state.knobs?.hours ?? null
  if (hours !== null && state.activeMs + ms > hours * 3_600_000) return 'that is beyond budget.hours'
  return ms > LONGEST_MS ? `a loop waits at most ${LONGEST_MS / 3_600_000} h by itself` : null
}
