import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import type { Host } from '../../hosts/host.ts'
import { HOSTS, isProgramName, PROGRAMS, type ProgramName, programNames } from '../../hosts/registry.ts'
import type { AgentConfig } from '../../spec/spec.ts'
import { type DoctorCheck, type FixableFinding, fine, problem, type Scene, warning } from '../check.ts'

const CALL_MS = 60_000

/**
 * Which agent programs are here, and whether those that runs name are among them; with `--hosts` whether they answer. One
 * that no run names may fail without a problem.
 */
export const hosts: DoctorCheck = {
  name: 'hosts',
  async look(scene) {
    const found: FixableFinding[] = []
    const seen = new Set<string>()
    const named = new Map<ProgramName, Named>()
    for (const { run, spec } of scene.runs) {
      const agent = spec?.agent
      if (!agent) continue
      for (const name of [agent.host, ...agent.fallback]) {
        if (isProgramName(name) && !named.has(name)) named.set(name, { run, agent })
      }
      const key = JSON.stringify([agent.host, agent.command])
      if (seen.has(key) || isProgramName(agent.host)) continue
      seen.add(key)
      found.push(...(await hostOf(agent, run, scene)))
    }
    const absent: ProgramName[] = []
    for (const name of programNames) {
      const of = await programFindings(name, named.get(name) ?? null, scene)
      if (of.length === 0) absent.push(name)
      found.push(...of)
    }
    if (absent.length > 0) found.push(fine('hosts_absent', `agent programs not here: ${absent.join(', ')}`))
    return found
  },
}

interface Named {
  run: string
  agent: AgentConfig
}

/** None when the program is neither here nor named. */
async function programFindings(
  name: ProgramName,
  named: Named | null,
  scene: Scene,
): Promise<FixableFinding[]> {
  const entry = await PROGRAMS[name].load()
  const { program } = entry.vendor
  if (!isRunnable(program, scene.cwd, scene.env.PATH ?? '')) {
    if (named === null) return []
    return [
      problem('host_missing', {
        what: `${named.run}: the agent program ${program} is not there`,
        cause: 'it is not on PATH',
        repair: `install it, or name a different host than ${name} in assay.yaml`,
        data: { program },
      }),
    ]
  }
  const there = fine('host', `the agent program ${program} (host ${name}) is there`)
  if (!scene.hosts) return [there]
  const host = entry.open({ permissions: 'safe', silenceMs: CALL_MS })
  const model = named?.agent.host === name ? named.agent.model : null
  const trouble = await troubleWith(host, model, scene)
  if (trouble === null) return [there, fine('host_answers', `the host ${name} answers`)]
  const failure = {
    what: `the host ${name} does not answer: ${trouble.message}`,
    cause: `a trivial call ended as ${trouble.outcome}`,
    repair: `start ${program} by hand: it may have to be logged in`,
  }
  return [there, named === null ? warning('host_fails', failure) : problem('host_fails', failure)]
}

async function hostOf(agent: AgentConfig, run: string, scene: Scene): Promise<FixableFinding[]> {
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
  if (!scene.hosts) return [there]
  const host = (await HOSTS.command.load()).open({ command })
  const trouble = await troubleWith(host, agent.model, scene)
  if (trouble === null) return [there, fine('host_answers', `${run}: the agent command answers`)]
  return [
    there,
    problem('host_fails', {
      what: `${run}: the agent command does not answer: ${trouble.message}`,
      cause: `a trivial call ended as ${trouble.outcome}`,
      repair: 'run it by hand with a prompt on its standard input',
    }),
  ]
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

/** One trivial call; null when it is answered. */
async function troubleWith(
  host: Host,
  model: string | null,
  { top, cwd, env, signal }: Scene,
): Promise<{ outcome: string; message: string } | null> {
  const card = { assay: 1, role: 'doctor', worktree: null, brief: null, capsule: {}, answer: null }
  const answer = await host.call({
    prompt: `This only checks that you can be reached. Change nothing; answer with the word ok.\n\n\`\`\`json\n${JSON.stringify(card)}\n\`\`\`\n`,
    schema: null,
    role: 'doctor',
    cwd: top !== null && existsSync(top) ? top : cwd,
    folders: [],
    timeoutMs: CALL_MS,
    model,
    effort: null,
    env,
    signal,
  })
  return answer.outcome === 'ok' ? null : answer
}
