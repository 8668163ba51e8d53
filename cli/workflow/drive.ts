/** Drives one run with a workflow script: its agents are a host's, its clerk is this CLI, its journal is the run's. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCard } from '../hosts/card.ts'
import type { HostAnswer } from '../hosts/host.ts'
import { redact, redactIn } from '../redact.ts'
import { ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'
import { recordUsage } from '../run/usage.ts'
import type { AgentCall, AgentReply } from './call.ts'
import { parseClerk, runClerk } from './clerk.ts'
import { type OpenHost, openHost } from './open-host.ts'
import { runWorkflow, type WorkflowOutcome } from './run.ts'
import type { FoundScript } from './scripts.ts'

export interface DriveRequest {
  script: FoundScript
  /** This CLI's own entry, for the clerk. */
  entry: string
  args: Record<string, unknown>
}

/**
 * How often a call is made again that a host says may be, and how long at most is waited before. A failure has been
 * paid for, up to its whole time limit, so it gets a second try and no third.
 */
const AGAIN = { retry_after: 3, failed: 1, longestSeconds: 300 }
/** A host without signs of life has a time limit of its own; the runtime's stall watch must not end it before. */
const ALIVE_MS = 30_000

/** Goes on where a killed driver left off: answers that were paid for are read from its journal. */
export async function drive(run: OpenRun, request: DriveRequest): Promise<Result<WorkflowOutcome>> {
  const host = await openHost(run)
  if (!host.ok) return host
  const folder = unfinished(run) ?? nextFolder(run)
  mkdirSync(folder, { recursive: true })
  const outcome = await runWorkflow({
    source: request.script.source,
    file: request.script.file,
    args: request.args,
    call: (call) => callHost(run, host.value, call),
    clerk: (prompt, signal) => callClerk(run, request.entry, prompt, signal),
    journal: join(folder, 'journal.jsonl'),
    resume: true,
    concurrency: run.spec.agent?.concurrency ?? 1,
    maxAgents: Number.POSITIVE_INFINITY,
    tell: run.tell,
    signal: run.signal,
  })
  // An interrupted run is gone on with; one that failed by itself would only fail again from its own journal.
  if (!run.signal.aborted)
    writeFileSync(
      join(folder, DONE),
      redact(JSON.stringify({ status: outcome.status, error: outcome.error })),
    )
  return ok(outcome)
}

const DONE = 'ended.json'

function unfinished(run: OpenRun): string | null {
  const last = folders(run).at(-1)
  return last && !existsSync(join(last, DONE)) ? last : null
}

function nextFolder(run: OpenRun): string {
  return join(run.paths.workflows, `wf_${String(folders(run).length + 1).padStart(4, '0')}`)
}

function folders(run: OpenRun): string[] {
  if (!existsSync(run.paths.workflows)) return []
  return readdirSync(run.paths.workflows)
    .filter((name) => name.startsWith('wf_'))
    .sort()
    .map((name) => join(run.paths.workflows, name))
}

async function callClerk(
  run: OpenRun,
  entry: string,
  prompt: string,
  signal: AbortSignal,
): Promise<AgentReply> {
  const command = parseClerk(prompt)
  if (!command.ok) return { outcome: 'error', message: command.problem.message }
  const { text } = await runClerk(command.value, { entry, cwd: run.site.root, env: run.env, signal })
  return { outcome: 'ok', text, usage: { tokens_in: 0, tokens_out: 0, usd: 0 } }
}

async function callHost(run: OpenRun, { host, metered }: OpenHost, call: AgentCall): Promise<AgentReply> {
  const alive = setInterval(() => call.progress(), ALIVE_MS)
  try {
    for (let tries = 1; ; tries++) {
      const began = performance.now()
      const answer = redactIn(await host.call(requestOf(run, call)))
      if (metered)
        recordUsage(run, {
          call: readCard(call.prompt),
          host: host.name,
          answer,
          ms: performance.now() - began,
        })
      const seconds = pause(answer)
      const most = answer.outcome === 'retry_after' ? AGAIN.retry_after : AGAIN.failed
      if (seconds === null || tries > most || call.signal.aborted) return replyOf(answer)
      run.tell({ type: 'log', message: `${call.label}: ${messageOf(answer)}; again in ${seconds} s` })
      await sleep(seconds * 1000, call.signal)
    }
  } finally {
    clearInterval(alive)
  }
}

function requestOf(run: OpenRun, call: AgentCall) {
  const card = readCard(call.prompt)
  const role = card?.role ?? call.agentType ?? 'agent'
  const { agent } = run.spec
  return {
    prompt: redact(call.prompt),
    schema: call.schema,
    role,
    cwd: card?.worktree ?? run.site.root,
    timeoutMs: agent?.timeoutMs ?? 1_800_000,
    model: call.model ?? agent?.roles[role]?.model ?? agent?.model ?? null,
    effort: call.effort,
    env: run.env,
    signal: call.signal,
  }
}

/** Seconds until another try makes sense; null when none does. */
function pause(answer: HostAnswer): number | null {
  if (answer.outcome === 'retry_after') return Math.min(answer.seconds, AGAIN.longestSeconds)
  return answer.outcome === 'failed' && answer.again ? 1 : null
}

function replyOf(answer: HostAnswer): AgentReply {
  if (answer.outcome !== 'ok') return { outcome: 'null', message: answer.message, usage: answer.usage }
  const { text, object, usage } = answer
  return { outcome: 'ok', text, usage, ...(object === undefined ? {} : { object }) }
}

const messageOf = (answer: HostAnswer): string => (answer.outcome === 'ok' ? '' : answer.message)

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })
}
