/**
 * `assay loop` with a script of the user's (`loop.workflow`) in place of the built-in rounds. The host of the run answers what the script
 * asks agents, this CLI runs the commands that the script gives to its clerk, and the journal of answers is in the folder of the run.
 */

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { admission } from '../agents/admission.ts'
import { unlessUnwanted } from '../agents/asker.ts'
import { askerOfRun } from '../agents/asking.ts'
import { openHosts } from '../agents/open-host.ts'
import { patience } from '../agents/patience.ts'
import { askForObject, readSchema } from '../agents/schema.ts'
import { redact } from '../redact.ts'
import { ok, type Result } from '../result.ts'
import { type Driver, environmentOfDriver } from '../run/driver.ts'
import { liveSpec, type OpenRun } from '../run/open.ts'
import { askClerk, startsWork } from '../workflow/clerk.ts'
import { runWorkflow, type WorkflowOutcome } from '../workflow/run.ts'
import type { FoundScript, ScriptFolder } from '../workflow/scripts.ts'
import { isOpen } from './next-tasks.ts'
import { askTask, taskIn } from './task-by-name.ts'

export interface ScriptRequest {
  script: FoundScript
  /** This CLI's own entry, for the clerk. */
  entry: string
  /** Where the script's own `workflow(name)` looks. */
  folders: ScriptFolder[]
  args: Record<string, unknown>
  /** A person said yes to a loop without any cap on what its agents cost. */
  uncapped: boolean
  /** Whose lease the loop has: it tells for what the loop waits. */
  driver: Driver
}

export interface ScriptOutcome extends WorkflowOutcome {
  /** A person stopped the loop while it waited for a host: the next start continues from there. */
  left: boolean
}

/** Continues where a killed process stopped: answers that were paid for are read from the journal. */
export async function driveByScript(run: OpenRun, request: ScriptRequest): Promise<Result<ScriptOutcome>> {
  const hosts = await openHosts(run, request.uncapped)
  if (!hosts.ok) return hosts
  const folder = unfinished(run) ?? nextFolder(run)
  mkdirSync(folder, { recursive: true })
  const leaving = new AbortController()
  const signal = AbortSignal.any([run.signal, leaving.signal])
  const admitted = admission(run)
  const ask = askerOfRun(run, hosts.value, {
    admitted,
    patience: patience(run, request.driver, () => leaving.abort()),
  })
  const clerk = { entry: request.entry, cwd: run.site.root, env: environmentOfDriver(run) }
  const outcome = await runWorkflow({
    source: request.script.source,
    file: request.script.file,
    args: request.args,
    call: (call) => {
      const task = taskIn(call.prompt)
      if (task === null) return admitted.agent(call, ask)
      const isWanted = () => (task.run ?? run.run) !== run.run || isOpen(run, task.id)
      const askIfWanted = unlessUnwanted(isWanted, ask)
      return askTask(call, task, (one) => admitted.agent(one, askIfWanted), clerk)
    },
    answers: { readSchema, askForObject },
    clerk: async (prompt, signal) => {
      if (startsWork(prompt)) await admitted.begin(signal)
      return askClerk(prompt, { ...clerk, signal })
    },
    journal: join(folder, 'journal.jsonl'),
    resume: true,
    concurrency: liveSpec(run).agent?.concurrency ?? 1,
    maxAgents: Number.POSITIVE_INFINITY,
    tell: run.tell,
    signal,
    scripts: { cwd: run.started.checkout, folders: request.folders },
  })
  // An interrupted run is continued; one that failed by itself would only fail again from its own journal.
  if (!signal.aborted)
    writeFileSync(
      join(folder, DONE),
      redact(JSON.stringify({ status: outcome.status, error: outcome.error })),
    )
  return ok({ ...outcome, left: leaving.signal.aborted })
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
