import { fileURLToPath } from 'node:url'
import { startWithChannel } from '../process.ts'
import { unreachable } from '../result.ts'
import { type Answers, createAgents } from './agents.ts'
import type { AgentCall, AgentReply, TellOfScript } from './call.ts'
import { lazyJournal } from './journal.ts'
import type { TotalUsage } from './permits.ts'
import type { ToChild, ToParent } from './protocol.ts'
import { launchError, loadScript } from './script.ts'
import { nestedScript, type ScriptFolder } from './scripts.ts'

export interface WorkflowRequest {
  source: string
  /** Path of the script; null = typed by an agent, which is checked more strictly (see `loadScript`). */
  file: string | null
  /** Any JSON value; `undefined` stays undefined in the script. */
  args?: unknown
  /** Answers an agent call; see the contracts of `AgentCall` and `AgentReply`. */
  call: (call: AgentCall) => Promise<AgentReply>
  /** How an answer is held against the schema of its call. */
  answers: Answers
  /** Answers calls of agentType `assay:clerk`; absent = they go to `call` like any other. */
  clerk?: (prompt: string, signal: AbortSignal) => Promise<AgentReply>
  /** File of paid answers, its folder exists; null = none is kept. */
  journal: string | null
  /** Read the journal first: calls whose key is in it are answered from it. */
  resume: boolean
  /** Agents at once. */
  concurrency: number
  /** Calls in one run, replayed ones included; `Infinity` = no limit. The hosts' limit is 1,000. */
  maxAgents?: number
  tell: TellOfScript
  /** Ends the run as failed. */
  signal: AbortSignal
  /** Tokens (output). When absent nothing is capped and `budget.spent()` is what this run's agents reported. */
  budget?: { total: number; spent(): number }
  /** Agent types that exist in addition to the clerk; absent = any name is passed on. */
  agentTypes?: readonly string[]
  /** Where `workflow(name)` looks, and what `{scriptPath}` is relative to. */
  scripts?: { cwd: string; folders: ScriptFolder[] }
  /** Limit of the script's part before its first await. Default 30 s. */
  firstSliceMs?: number
  /** Program of the script's process, when it is not beside the built modules. */
  childEntry?: string
}

export interface WorkflowOutcome {
  status: 'completed' | 'failed'
  /** JSON value; null when the script returned nothing, null, or failed. */
  result: unknown
  /** `Name: message`, then the script's own stack frames. */
  error: string | null
  /** The first 1,000 lines. */
  logs: string[]
  /** Titles in order of appearance, those of meta first. */
  phases: string[]
  /** `agent()` calls, replayed and failed ones included. */
  agents: number
  failures: string[]
  usage: TotalUsage
}

const MAX_AGENTS = 1000
const MAX_LOGS = 1000

/**
 * Runs a workflow script in a process of its own and answers its calls. Resolves when the script returned or failed and
 * every call that it left pending has been aborted and has settled; never rejects for what a script does.
 */
export async function runWorkflow(request: WorkflowRequest): Promise<WorkflowOutcome> {
  const { tell } = request
  const outcome: WorkflowOutcome = {
    status: 'failed',
    result: null,
    error: null,
    logs: [],
    phases: [],
    agents: 0,
    failures: [],
    usage: { tokens_in: null, tokens_out: null, usd: null, at_least: false },
  }
  const loaded = loadScript(request.source, {
    file: request.file ?? 'workflow.js',
    inline: request.file === null,
  })
  if (!loaded.ok) return { ...outcome, error: launchError(loaded.problem) }
  if (request.signal.aborted) return { ...outcome, error: STOPPED }
  for (const phase of loaded.value.meta.phases) {
    if (!outcome.phases.includes(phase.title)) outcome.phases.push(phase.title)
  }

  const named = new Set(outcome.phases)
  const log = (message: string) => {
    if (outcome.logs.length >= MAX_LOGS) return
    outcome.logs.push(message)
    tell({ type: 'log', message })
  }
  const over = new AbortController()
  const journal =
    request.journal === null
      ? null
      : lazyJournal(request.journal, (message) => tell({ type: 'warning', message }))
  const agents = createAgents({
    call: request.call,
    answers: request.answers,
    clerk: request.clerk ?? null,
    agentTypes: request.agentTypes ?? null,
    concurrency: request.concurrency,
    budget: request.budget ?? null,
    tell,
    log: (text) => {
      if (!over.signal.aborted) log(text)
    },
    failure: (text) => {
      if (!over.signal.aborted) outcome.failures.push(text)
    },
    keep: async (key, label, json) => journal?.append(key, label, json),
    signal: over.signal,
  })

  const channel = startWithChannel({
    argv: [process.execPath, '--disallow-code-generation-from-strings', childEntry(request.childEntry)],
    cwd: request.scripts?.cwd ?? process.cwd(),
    env: childEnvironment(),
  })
  const send = batching((batch) => channel.send(batch))
  const pending = new Set<Promise<void>>()
  let end: Extract<ToParent, { type: 'end' }>['outcome'] | null = null

  const receive = (message: ToParent): void => {
    switch (message.type) {
      case 'call': {
        outcome.agents += 1
        const answered = agents.answer(message).then((reply) => {
          send({ type: 'reply', index: message.index, reply, spent: agents.spent() })
          pending.delete(answered)
        })
        pending.add(answered)
        return
      }
      case 'replayed':
        outcome.agents += 1
        tell({ type: 'agent', state: 'replayed', label: message.label, phase: message.phase, ms: 0 })
        return
      case 'log':
        log(message.text)
        return
      case 'phase':
        if (!named.has(message.title)) outcome.phases.push(message.title)
        named.add(message.title)
        if (message.current) tell({ type: 'phase', title: message.title })
        return
      case 'failure':
        outcome.failures.push(message.text)
        return
      case 'find':
        send({ type: 'script', id: message.id, found: nestedScript(message.ref, request.scripts ?? null) })
        return
      case 'damaged':
        tell({
          type: 'warning',
          message: `the workflow's journal has ${message.lines} damaged line(s): those calls are made again`,
        })
        return
      case 'end':
        end = message.outcome
        channel.kill()
        return
      default:
        unreachable(message)
    }
  }
  channel.onMessage((batch) => {
    for (const message of batch as ToParent[]) if (end === null) receive(message)
  })
  send({
    type: 'start',
    script: loaded.value.runnable,
    phases: outcome.phases,
    args: request.args === undefined ? null : (JSON.stringify(request.args) ?? null),
    journal: request.resume ? request.journal : null,
    budget: { total: request.budget?.total ?? null, spent: agents.spent() },
    maxAgents: limit(request.maxAgents ?? MAX_AGENTS),
    firstSliceMs: request.firstSliceMs ?? 30_000,
  })
  const stop = () => channel.kill()
  request.signal.addEventListener('abort', stop, { once: true })
  const ended = await channel.ended
  request.signal.removeEventListener('abort', stop)
  over.abort()
  await Promise.all(pending)
  journal?.close()

  outcome.usage = agents.usage.total()
  const last = end as Extract<ToParent, { type: 'end' }>['outcome'] | null
  if (last?.ok) {
    return { ...outcome, status: 'completed', result: last.json === null ? null : JSON.parse(last.json) }
  }
  if (last !== null) return { ...outcome, error: last.error }
  if (request.signal.aborted) return { ...outcome, error: STOPPED }
  const how = ended.startError?.message ?? `exit ${ended.code ?? ended.signal}`
  return { ...outcome, error: `Error: the script's process ended before the script did (${how})` }
}

const STOPPED = 'Error: the workflow was stopped'
const limit = (agents: number) => (Number.isFinite(agents) ? agents : null)

/** How texts and dates are shown, and where the program's own libraries lie. */
const NEEDED = [
  'TZ',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_TIME',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'SystemRoot',
]

/** Of the user's environment, what Node needs to start: a script reads none of it, and has no secret within its reach. */
const childEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(NEEDED.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])))

/** Collects what is sent in one turn: thousands of small messages cost more than one large. */
function batching(send: (batch: ToChild[]) => void): (message: ToChild) => void {
  let queue: ToChild[] = []
  return (message) => {
    queue.push(message)
    if (queue.length > 1) return
    setImmediate(() => {
      const batch = queue
      queue = []
      send(batch)
    })
  }
}

/** The program of the script's process: beside the built modules, unless a caller has built it elsewhere. */
export function childEntry(override?: string): string {
  return override ?? fileURLToPath(new URL('./workflow-child.cjs', import.meta.url))
}
