/** Whether an agent may be asked now: not while the loop is paused, while a sample is taken, or when the budget is used. */

import { NO_USAGE } from '../hosts/host.ts'
import { readTaskCard } from '../hosts/task-card.ts'
import type { State, Steer } from '../ledger/state.ts'
import { isAlive, isElsewhere } from '../process.ts'
import { priceOf, unaffordable } from '../run/budget.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { recordDelivery, waitingSteers } from '../run/steer.ts'
import type { AgentCall, AgentReply } from '../workflow/call.ts'

export interface Admission {
  /** Asks when the call may be made; `null` as a reply when the budget does not allow it. */
  agent(call: AgentCall, ask: (call: AgentCall) => Promise<AgentReply>): Promise<AgentReply>
  /** Resolves when a round or a lane may begin. */
  begin(signal: AbortSignal): Promise<void>
}

const LOOK_MS = 250

export function admission(run: OpenRun): Admission {
  const { ledger } = run
  const inFlight = { tokens: 0, usd: 0 }
  let held = false
  /** Reported once for each pause, so that a person who watches the loop sees why nothing happens. */
  const tellPause = () => {
    const { paused } = ledger.state
    if (paused === null || held) return
    held = true
    run.tell({ type: 'log', message: `the loop is paused (${paused}); to continue: assay loop resume` })
  }
  const until = async (free: (state: State) => boolean, signal: AbortSignal, alive: () => void) => {
    // If the ledger cannot be read, the next command that needs it says so.
    for (ledger.refresh(); !free(ledger.state) && !signal.aborted; ledger.refresh()) {
      alive()
      tellPause()
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    if (ledger.state.paused === null) held = false
  }
  return {
    begin: (signal) =>
      until(
        (state) => state.paused === null,
        signal,
        () => {},
      ),
    agent: async (call, ask) => {
      const free = (state: State) =>
        state.paused === null && !(liveSpec(run).loop.quiet && isMeasuring(state))
      await until(free, call.signal, () => call.progress())
      const card = readTaskCard(call.prompt)
      const role = card?.role ?? call.agentType ?? 'agent'
      const refused = unaffordable(ledger.state, role, inFlight)
      if (refused !== null) return { outcome: 'null', message: refused, usage: NO_USAGE }
      const price = priceOf(ledger.state, role)
      inFlight.tokens += price.tokens
      inFlight.usd += price.usd
      try {
        const experiment = card?.experiment ?? null
        const steers = experiment === null ? [] : waitingSteers(ledger.state, experiment)
        if (experiment === null || steers.length === 0) return await ask(call)
        const reply = await ask({ ...call, prompt: `${told(steers)}\n\n${call.prompt}` })
        if (reply.outcome === 'ok') recordDelivery(run, { steers, role, experiment })
        return reply
      } finally {
        inFlight.tokens -= price.tokens
        inFlight.usd -= price.usd
      }
    },
  }
}

/** Only attempts of a living process on this machine count: agents here do not disturb samples on a different machine. */
const isMeasuring = (state: State): boolean =>
  state.counts.running > 0 &&
  [...state.experiments.values()].some((node) => {
    const claim = node.status === 'running' ? node.attempts.at(-1)?.claim : null
    return claim != null && !isElsewhere(claim.owner) && isAlive(claim.owner)
  })

/** Quoted line by line, so that no line reads as a heading or ends a fence. */
const told = (steers: readonly Steer[]): string =>
  [
    'The person who runs this search says about your experiment:',
    ...steers.flatMap(({ text }) => text.split(/\r?\n/).map((line) => `> ${line}`)),
  ].join('\n')
