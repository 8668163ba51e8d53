/** A session of a real agent program, as a user would have it: the plugin installed, a prompt, a scripted model. */
import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { binFolders } from '../../../scripts/install-hosts.mjs'
import { writeFiles } from '../../e2e/project.ts'
import { ASSAY_BIN, assay, dataOf } from '../../rig/assay.ts'
import type { Ask, Reply } from '../../rig/model-dialects.ts'
import { startModel } from '../../rig/model-server.ts'
import { runProgram } from '../../rig/program.ts'
import type { Repo } from '../../rig/repo.ts'
import { makeTemp } from '../../rig/temp.ts'
import { WIRINGS } from './wiring.ts'

export type SessionHost = keyof typeof SESSIONS

/** How each is started without a person, and how its model starts a command. */
const SESSIONS = {
  'claude-code': {
    argv: ['claude', '-p', '--model', 'claude-sonnet-4-5', '--dangerously-skip-permissions'],
    // It refuses that flag to the superuser outside of a sandbox.
    env: { IS_SANDBOX: '1', CLAUDE_CODE_MAX_RETRIES: '1' },
    skill: (name: string) => `/assay:${name}`,
    shell: (command: string) => ({
      tool: 'Bash',
      input: { command, description: 'a step', timeout: 110_000 },
    }),
  },
  codex: {
    argv: ['codex', 'exec', '-m', 'plain-model', '--dangerously-bypass-approvals-and-sandbox'],
    env: {},
    skill: (name: string) => `$assay:${name}`,
    shell: (cmd: string) => ({ tool: 'exec_command', input: { cmd, yield_time_ms: 110_000 } }),
  },
  copilot: {
    argv: ['copilot', '--allow-all'],
    env: { COPILOT_AUTO_UPDATE: 'false', COPILOT_MODEL: 'plain-model' },
    skill: (name: string) => `/assay:${name}`,
    shell: (command: string) => ({ tool: 'bash', input: { command, description: 'a step' } }),
  },
  pi: {
    argv: ['pi', '-p', '--provider', 'scripted', '--model', 'plain-model', '--no-session'],
    env: {},
    skill: (name: string) => `/skill:${name}`,
    shell: (command: string) => ({ tool: 'bash', input: { command } }),
  },
} as const

/** What the model does next, given what its last tool printed (first: nothing): a tool call, or words that end the turn. */
export type Script = Generator<Reply, void, string>

export interface Session {
  skill: (name: string) => string
  shell: (command: string) => Reply
  /** One prompt in a new session; the script must come to its end. Answers all that the model was asked. */
  play: (prompt: string, script: (ask: Ask) => Script, flags?: string[]) => Promise<Ask[]>
}

/** Installs the plugin into a fresh home. */
export async function openSession(host: SessionHost, repo: Repo): Promise<Session> {
  const { argv, env: more, skill, shell } = SESSIONS[host]
  const wiring = WIRINGS[host]
  const home = makeTemp(`home-${host}`)
  const bin = makeTemp('bin')
  writeFileSync(join(bin, 'assay'), `#!/bin/sh\nexec '${process.execPath}' '${ASSAY_BIN}' "$@"\n`, {
    mode: 0o755,
  })
  let reply: (ask: Ask) => Reply = () => ({ text: 'A title' })
  const model = await startModel((ask) => reply(ask))
  // A login shell, which some programs start, makes its PATH anew.
  const profile = `export PATH='${bin}':"$PATH"\n`
  writeFiles(home, { '.profile': profile, '.bash_profile': profile, ...wiring.files?.(model.url) })
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: undefined,
    XDG_STATE_HOME: undefined,
    XDG_CACHE_HOME: undefined,
    XDG_DATA_HOME: undefined,
    PATH: [bin, ...binFolders(), process.env.PATH].join(delimiter),
    TERM: 'dumb',
    ...wiring.env(model.url, home),
    ...more,
  }
  dataOf(await assay(['install', host, '--json'], { cwd: repo.dir, env }))
  return {
    skill,
    shell,
    play: async (prompt, script, flags = []) => {
      const asks: Ask[] = []
      let trouble: unknown = null
      const threads = new Map<string, Script>()
      reply = (ask) => {
        // Small requests for titles and the like have no tools.
        if (ask.tools.length === 0) return { text: 'A title' }
        asks.push(ask)
        const thread = ask.turns.find(({ from }) => from === 'user')?.text ?? ''
        try {
          const known = threads.get(thread)
          const playing = known ?? script(ask)
          threads.set(thread, playing)
          const step = known ? playing.next(ask.turns.at(-1)?.text ?? '') : playing.next()
          return step.value ?? { text: 'Nothing is left to do.' }
        } catch (error) {
          trouble ??= error
          return { text: `The script failed: ${error}` }
        }
      }
      const ended = await runProgram([...argv, ...flags], { cwd: repo.dir, env, input: prompt })
      if (trouble !== null) throw trouble
      const open = [...threads.values()].filter((playing) => playing.next('').done !== true).length
      if (open > 0 || ended.code !== 0)
        throw new Error(
          `${host} ended with ${ended.code}, ${open} scripts are not played out:\n${ended.output}`,
        )
      return asks
    },
  }
}
