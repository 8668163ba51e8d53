/** A workflow without an Assay run around it: in any folder, resumable by the id that it was given. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askHost } from '../agents/ask.ts'
import { askForObject, readSchema } from '../agents/schema.ts'
import type { HostCall } from '../hosts/host.ts'
import type { Chain } from '../hosts/registry.ts'
import { readTaskCard } from '../hosts/task-card.ts'
import { tryHold } from '../lock.ts'
import { call, next } from '../next.ts'
import { looseWorkflow, looseWorkflows } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'
import type { Surroundings } from '../run/open.ts'
import type { AgentCall } from '../workflow/call.ts'
import { askClerk } from '../workflow/clerk.ts'
import { runWorkflow, type WorkflowOutcome } from '../workflow/run.ts'
import { readScript, type ScriptFolder } from '../workflow/scripts.ts'
import { askTask, taskIn } from './task-by-name.ts'

/** What was asked for; kept, so that `resume` needs nothing but the id. */
export interface LooseRequest {
  /** Absolute. Read again at each start: an edited script continues from its first changed call. */
  file: string
  /** Where it was started; agents work here. Absolute. */
  cwd: string
  /** JSON text; null = the script sees `undefined`. */
  args: string | null
  /** Name of the host; null = the one of the run that `cwd` belongs to. */
  host: string | null
  command: string | null
  /** Agents at once. */
  concurrency: number
}

export interface LooseRun {
  id: string
  request: LooseRequest
}

export interface LooseSetup {
  chain: Chain
  /** This CLI's own entry, for the clerk. */
  entry: string
  /** Where the script's own `workflow(name)` looks. */
  folders: ScriptFolder[]
}

/** One call; the same as a spec's default. */
const CALL_LIMIT_MS = 1_800_000
const KEPT_DAYS = 30

/** Makes the folder of a new run, and removes those that were not resumed for a month. */
export function newLooseRun(world: Surroundings, request: LooseRequest): LooseRun {
  dropOld(world)
  const id = `wf_${world.random(6)}`
  const folder = looseWorkflow(world.env, id)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, REQUEST), JSON.stringify(request), { mode: 0o600 })
  return { id, request }
}

/** Fails with `unknown_workflow_run`. */
export function findLooseRun(env: NodeJS.ProcessEnv, id: string): Result<LooseRun> {
  const file = join(looseWorkflow(env, id), REQUEST)
  if (/^wf_[0-9a-f]{12}$/.test(id) && existsSync(file)) {
    return ok({ id, request: JSON.parse(readFileSync(file, 'utf8')) as LooseRequest })
  }
  const hint = /^run_\d+$/.test(id)
    ? next`a run of experiments goes on with: ${call('loop', '--run', id)}`
    : 'a workflow run is named by the "run" of its answer, for example wf_0f3a5c7e9b1d'
  return fail({
    kind: 'usage',
    code: 'unknown_workflow_run',
    message: `there is no workflow run ${id}`,
    hint,
  })
}

/** Runs it to its end; calls that its journal has are not made again. Fails when the script is gone, or runs already. */
export async function runLoose(
  world: Surroundings,
  { id, request }: LooseRun,
  setup: LooseSetup,
): Promise<Result<WorkflowOutcome>> {
  const folder = looseWorkflow(world.env, id)
  const hold = tryHold(join(folder, 'lock'))
  if (!hold.held) {
    const message = `${id} is running, in process ${hold.owner.pid}`
    return fail({ kind: 'refused', code: 'driven', message, hint: 'wait for it, or stop that process first' })
  }
  try {
    const script = readScript(request.file, request.cwd)
    if (!script.ok) return script
    const asking = {
      chain: setup.chain,
      tell: world.tell,
      requestOf: (call: AgentCall) => callOf(world, request, call),
    }
    const { cwd } = request
    const clerk = { entry: setup.entry, cwd, env: world.env }
    world.tell({
      type: 'log',
      message: `${id}: when it is stopped, assay workflow resume ${id} goes on`,
    })
    const outcome = await runWorkflow({
      source: script.value.source,
      file: request.file,
      ...(request.args === null ? {} : { args: JSON.parse(request.args) as unknown }),
      call: (call) => {
        const task = taskIn(call.prompt)
        const ask = (one: AgentCall) => askHost(asking, one)
        return task === null ? ask(call) : askTask(call, task, ask, clerk)
      },
      answers: { readSchema, askForObject },
      clerk: (prompt, signal) => askClerk(prompt, { ...clerk, signal }),
      journal: join(folder, 'journal.jsonl'),
      resume: true,
      concurrency: request.concurrency,
      tell: world.tell,
      signal: world.signal,
      scripts: { cwd, folders: setup.folders },
    })
    return ok(outcome)
  } finally {
    hold.release()
  }
}

const REQUEST = 'request.json'

function callOf(world: Surroundings, request: LooseRequest, call: AgentCall): HostCall {
  const card = readTaskCard(call.prompt)
  return {
    prompt: call.prompt,
    schema: call.schema,
    role: card?.role ?? call.agentType ?? 'agent',
    cwd: card?.worktree ?? request.cwd,
    folders: card?.artifacts == null ? [] : [card.artifacts],
    timeoutMs: CALL_LIMIT_MS,
    model: call.model,
    effort: call.effort,
    env: world.env,
    signal: call.signal,
  }
}

function dropOld({ env, clock }: Surroundings): void {
  const folder = looseWorkflows(env)
  if (!existsSync(folder)) return
  const oldest = clock().getTime() - KEPT_DAYS * 24 * 3_600_000
  for (const name of readdirSync(folder)) {
    const one = looseWorkflow(env, name)
    // The journal's writes do not touch the folder; its own start does, by the lock.
    if (statSync(one).mtimeMs < oldest) rmSync(one, { recursive: true, force: true })
  }
}
