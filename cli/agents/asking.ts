/** Asks the agents of a run as its spec says, and records each answer. */

import { writeFileSync } from 'node:fs'
import { type Fingerprint, fingerprintCheckout, HEAD_KEY, pathsChangedSince } from '../git/checkout.ts'
import { type Host, type HostCall, NO_USAGE } from '../hosts/host.ts'
import { mayEdit } from '../hosts/rights.ts'
import { readTaskCard, type TaskCard } from '../hosts/task-card.ts'
import { agentIsolation } from '../measure/isolation.ts'
import { editedSinceSeal, undoEdits } from '../measure/seal.ts'
import { agentRecord } from '../paths.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { pauseLoop, recordAlert } from '../run/steer.ts'
import { recordUsage } from '../run/usage.ts'
import { type Mind, mindOf } from '../spec/mind.ts'
import type { AgentCall, AgentReply } from '../workflow/call.ts'
import type { Admission } from './admission.ts'
import { type Asking, askHost } from './ask.ts'
import { type Hosts, isMetered, type OpenHost } from './open-host.ts'
import type { Patience } from './patience.ts'

// ----------------------------------------------------------------
// Checks after each call, for all agent programs, whether the agent edited files that it may not edit.

export type Ask = (call: AgentCall) => Promise<AgentReply>

/**
 * Asks, then checks. A worktree that a reading role edited is brought back to its seal. No agent may edit the user's
 * checkout, but the user may work there meanwhile: changes are reported, once for each path, and left as they are. Calls
 * without a task card come from the user's own scripts and are not checked.
 */
function watch(run: OpenRun, ask: Ask): Ask {
  const told = new Set<string>()
  let last: { at: number; seen: ReturnType<typeof look> } | null = null
  const lookNow = () => {
    last = { at: performance.now(), seen: look(run) }
    return last.seen
  }
  return async (call) => {
    const card = readTaskCard(call.prompt)
    if (card === null) return ask(call)
    const isFresh = last !== null && performance.now() - last.at < FRESH_MS
    const before = await (last !== null && isFresh ? last.seen : lookNow())
    const reply = await ask(call)
    tellCheckout(run, card, { before, after: before === null ? null : await lookNow() }, told)
    await undoInWorktree(run, card)
    return reply
  }
}

/** One agent ends and the next one begins at nearly the same time: the look after the one serves before the other as well. */
const FRESH_MS = 1000

async function look(run: OpenRun): Promise<Fingerprint | null> {
  const seen = await fingerprintCheckout(run.started.checkout, () => true)
  return seen.ok ? seen.value : null
}

function tellCheckout(
  run: OpenRun,
  { role, experiment }: TaskCard,
  { before, after }: { before: Fingerprint | null; after: Fingerprint | null },
  told: Set<string>,
): void {
  if (before === null || after === null) return
  const paths = pathsChangedSince(before, after).filter((path) => !told.has(path))
  if (paths.length === 0) return
  for (const path of paths) told.add(path)
  const names = paths.map((path) => (path === HEAD_KEY ? 'the commit that is checked out' : path))
  const text = `while the agent for ${role} worked, ${list(names)} changed in ${run.started.checkout}: if you did not change it, check it with git diff`
  recordAlert(run, { role, experiment, paths, text })
}

async function undoInWorktree(run: OpenRun, { role, experiment }: TaskCard): Promise<void> {
  if (experiment === null || mayEdit(role) || !run.ledger.refresh().ok) return
  const undone = await undoEdits(run, experiment)
  const begin = `the agent for ${role} may only read, but it edited the worktree of ${experiment}`
  if (!undone.ok)
    recordAlert(run, { role, experiment, paths: [], text: `${begin}, perhaps: ${undone.problem.message}` })
  else if (undone.value !== null) {
    const { paths, kept } = undone.value
    recordAlert(run, {
      role,
      experiment,
      paths,
      text: `${begin}: ${list(paths)}; Assay undid this and moved the edited files to ${kept}`,
    })
  }
}

const list = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`

/**
 * Asks the host that the spec names at this moment. When the spec names no host that may be asked, the loop pauses with a
 * hint until a person resumes it.
 */
export function askerOfRun(run: OpenRun, hosts: Hosts, { admitted, patience }: Admitting): Ask {
  const one: Ask = async (call) => {
    for (;;) {
      const host = await hosts.now()
      if (host.ok) return askHost(askingOf(run, host.value, patience), call)
      const { message, hint } = host.problem
      pauseLoop(run, [message, hint].filter(Boolean).map(String).join('; '))
      await admitted.begin(call.signal)
      if (call.signal.aborted) return { outcome: 'null', message, usage: NO_USAGE }
    }
  }
  const watched = watch(run, one)
  return (call) => {
    const { agent } = liveSpec(run)
    // Without an agent there is nothing to check.
    return agent === null || isMetered(agent) ? watched(call) : one(call)
  }
}

interface Admitting {
  admitted: Admission
  patience: Patience
}

function askingOf(run: OpenRun, { chain, metered }: OpenHost, patience: Patience): Asking {
  return {
    patience,
    chain,
    tell: run.tell,
    requestOf: (call, host) => requestOf(run, host, call, readTaskCard(call.prompt)),
    hasEdited: (call) => hasEdited(run, readTaskCard(call.prompt)),
    answered: (call, host, answer, ms) => {
      if (!metered) return
      const card = readTaskCard(call.prompt)
      const { model } = mindFor(run, host, call, card)
      recordUsage(run, { call: card, host: host.name, model, answer, ms })
    },
  }
}

function requestOf(run: OpenRun, host: Host, call: AgentCall, card: TaskCard | null): HostCall {
  const { agent } = liveSpec(run)
  const cwd = card?.worktree ?? run.site.root
  const folders = card?.artifacts == null ? [] : [card.artifacts]
  const mind = mindFor(run, host, call, card)
  return {
    prompt: call.prompt,
    schema: call.schema,
    role: roleOf(call, card),
    cwd,
    folders,
    isolation: agent?.sandbox ? agentIsolation(run, [cwd, ...folders]) : null,
    ...mind,
    env: run.env,
    signal: call.signal,
    ...(card?.experiment && {
      printsTo: (file) => recordOutput(run, card, { host: host.name, file, limit_ms: mind.timeoutMs }),
    }),
    instead: async (text) => ((await hasEdited(run, card)) ? spoken(text, card) : null),
  }
}

/** For the page, which shows what the agent says while it works. Nothing depends on it. */
function recordOutput(
  run: OpenRun,
  { experiment, role }: TaskCard,
  call: { host: string; file: string; limit_ms: number },
): void {
  const record = { ...call, role, since: run.clock().toISOString() }
  try {
    writeFileSync(agentRecord(run.paths, experiment ?? ''), JSON.stringify(record))
  } catch {
    // Then the page does not show it.
  }
}

/** The defaults of a spec. */
const NO_AGENT: Mind = { model: null, effort: null, timeoutMs: 1_800_000 }

/** Whether the agent of this card was to edit the experiment's files, and did. */
async function hasEdited(run: OpenRun, card: TaskCard | null): Promise<boolean> {
  if (card === null || card.experiment === null || !mayEdit(card.role)) return false
  const edited = await editedSinceSeal(run, card.experiment)
  return edited.ok && edited.value
}

/** In characters: what a prose answer is cut to. */
const SUMMARY = 4000
const LEARNING = 500

/** The report of an agent that edited files and then answered in prose. */
function spoken(text: string, card: TaskCard | null): object {
  const summary = text.trim().slice(0, SUMMARY)
  const line = summary.replace(/\s+/g, ' ').slice(0, LEARNING)
  return { summary, learnings: line === '' ? [] : [`${card?.experiment ?? 'the agent'} reported: ${line}`] }
}

const roleOf = (call: AgentCall, card: TaskCard | null): string => card?.role ?? call.agentType ?? 'agent'

/** Model names belong to one program, so a fallback host uses its own default. */
function mindFor(run: OpenRun, host: Host, call: AgentCall, card: TaskCard | null): Mind {
  const { agent } = liveSpec(run)
  const mind = agent ? mindOf(agent, roleOf(call, card), isHard(card)) : NO_AGENT
  if (agent !== null && host.name !== agent.host) return { ...mind, model: null, effort: null }
  return { ...mind, model: call.model ?? mind.model, effort: call.effort ?? mind.effort }
}

/** Whether the author of its brief asked for a stronger model. */
function isHard(card: TaskCard | null): boolean {
  const { brief } = card ?? {}
  return typeof brief === 'object' && brief !== null && 'hard' in brief && brief.hard === true
}
