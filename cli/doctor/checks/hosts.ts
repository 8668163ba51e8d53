import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { HOSTS } from '../../hosts/registry.ts'
import type { AgentConfig } from '../../spec/spec.ts'
import type { Check, Scene } from '../check.ts'
import { type Found, fine, problem } from '../finding.ts'

const CALL_MS = 60_000

/** Whether the agent program that each run names is there, and with `--hosts` whether it answers. */
export const hosts: Check = {
  name: 'hosts',
  async look(scene) {
    const found: Found[] = []
    const seen = new Set<string>()
    for (const { run, spec } of scene.runs) {
      const agent = spec?.agent
      const key = JSON.stringify([agent?.host, agent?.command])
      if (!agent || seen.has(key)) continue
      seen.add(key)
      found.push(...(await hostOf(agent, run, scene)))
    }
    return found
  },
}

async function hostOf(agent: AgentConfig, run: string, scene: Scene): Promise<Found[]> {
  if (agent.host !== 'command') return [fine('host', `${run}: the host ${agent.host} is built in`)]
  const { command } = agent
  if (command === null) return []
  const program = programOf(command)
  const folder = scene.top ?? scene.cwd
  if (program !== null && !isRunnable(program, folder, scene.env.PATH ?? '')) {
    return [
      problem('host_missing', {
        what: `${run}: the agent command's program ${program} is not there`,
        cause: 'it is neither on PATH nor a file that may be executed',
        repair: 'install it, or change agent.command in assay.yaml',
        data: { program },
      }),
    ]
  }
  const there = fine('host', `${run}: the agent command ${program ?? '(a shell line)'} is there`)
  return scene.hosts ? [there, await callOnce(command, agent.model, run, scene)] : [there]
}

/** The first word; null when a shell line begins with something that only a shell understands. */
function programOf(command: string | string[]): string | null {
  if (typeof command !== 'string') return command[0] ?? null
  const word = /^\s*(?:'([^']+)'|"([^"$`\\]+)"|([^\s'"$`\\|&;<>(){}=*?#~!]+))(?=\s|$)/.exec(command)
  const program = word?.[1] ?? word?.[2] ?? word?.[3] ?? null
  return program !== null && BUILT_IN.has(program) ? null : program
}

const BUILT_IN = new Set([
  'cd',
  'exec',
  'export',
  'set',
  'if',
  'for',
  'while',
  'until',
  'case',
  'eval',
  '.',
  ':',
  'test',
  'trap',
  'ulimit',
  'umask',
  'command',
])

function isRunnable(program: string, folder: string, path: string): boolean {
  if (program.includes('/')) return mayRun(isAbsolute(program) ? program : resolve(folder, program))
  return path.split(delimiter).some((one) => one !== '' && mayRun(join(one, program)))
}

function mayRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function callOnce(
  command: string | string[],
  model: string | null,
  run: string,
  { top, cwd, env, signal }: Scene,
): Promise<Found> {
  const host = (await HOSTS.command.load()).open({ command })
  const card = { assay: 1, role: 'doctor', run, worktree: null, brief: null, capsule: {}, answer: null }
  const answer = await host.call({
    prompt: `This only checks that you can be reached. Change nothing; answer with the word ok.\n\n\`\`\`json\n${JSON.stringify(card)}\n\`\`\`\n`,
    schema: null,
    role: 'doctor',
    cwd: top !== null && existsSync(top) ? top : cwd,
    timeoutMs: CALL_MS,
    model,
    effort: null,
    env,
    signal,
  })
  if (answer.outcome === 'ok') return fine('host_answers', `${run}: the agent command answers`)
  return problem('host_fails', {
    what: `${run}: the agent command does not answer: ${answer.message}`,
    cause: `a trivial call ended as ${answer.outcome}`,
    repair: 'run it by hand with a prompt on its standard input',
  })
}
