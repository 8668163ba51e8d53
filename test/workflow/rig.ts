/** Runs scripts in the real child process, built once, with agents that the test plays. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'
import { askForObject, readSchema } from '../../cli/agents/schema.ts'
import { NO_USAGE } from '../../cli/hosts/host.ts'
import type { Notice } from '../../cli/notices.ts'
import type { AgentCall, AgentReply } from '../../cli/workflow/call.ts'
import { runWorkflow, type WorkflowOutcome, type WorkflowRequest } from '../../cli/workflow/run.ts'

export const META = "export const meta = { name: 'probe', description: 'd' }\n"

async function buildChild(folder: string): Promise<string> {
  const outfile = join(folder, 'workflow-child.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('../../cli/workflow/child.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  })
  return outfile
}

export interface Rig {
  folder: string
  child: string
}

export function useRig(): Rig {
  const rig: Rig = { folder: '', child: '' }
  beforeAll(async () => {
    rig.folder = mkdtempSync(join(tmpdir(), 'assay-workflow-'))
    rig.child = await buildChild(rig.folder)
  })
  afterAll(() => rmSync(rig.folder, { recursive: true, force: true }))
  return rig
}

export const text = (words: string): AgentReply => ({ outcome: 'ok', text: words, usage: NO_USAGE })

export interface Played extends WorkflowOutcome {
  calls: AgentCall[]
  facts: Notice[]
}

/** Runs `body` after a meta; agents answer by `play`, by default `re: PROMPT`. */
export async function play(
  rig: Rig,
  body: string,
  options: Partial<WorkflowRequest> & { play?: (call: AgentCall) => AgentReply | Promise<AgentReply> } = {},
): Promise<Played> {
  const { play: answer, ...request } = options
  const calls: AgentCall[] = []
  const facts: Notice[] = []
  const outcome = await runWorkflow({
    source: META + body,
    file: null,
    journal: null,
    resume: false,
    concurrency: 2,
    tell: (fact) => facts.push(fact),
    answers: { readSchema, askForObject },
    signal: new AbortController().signal,
    childEntry: rig.child,
    call: async (call) => {
      calls.push(call)
      return answer === undefined ? text(`re: ${call.prompt}`) : answer(call)
    },
    ...request,
  })
  return { ...outcome, calls, facts }
}
