import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, inject } from 'vitest'
import { isolatedEnv } from './temp.ts'
import { until } from './until.ts'

export const ASSAY_BIN = fileURLToPath(new URL('../../bin/assay.cjs', import.meta.url))

export interface ProblemJson {
  code: string
  message: string
  hint?: string
  at?: string
  more?: ProblemJson[]
  data?: unknown
}
export type Envelope<T> = { ok: true; data: T } | { ok: false; problem: ProblemJson }

export interface Ran<T> {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** Standard output as the one line of `--json`; null when it is anything else. */
  json: Envelope<T> | null
}

export interface Options {
  cwd: string
  /** Standard input; default: empty. */
  input?: string
  /** On top of the isolated environment; undefined removes a variable. */
  env?: Record<string, string | undefined>
  /** Another launcher than this project's own. */
  bin?: string
  /** Id of the user and group that it runs as; only root may say so. Default: ours. */
  user?: number
}

export interface Running<T> {
  pid: number
  /** What it printed until now. */
  output: () => { stdout: string; stderr: string }
  /** Resolves once standard output or standard error holds the text. */
  said: (text: string) => Promise<void>
  kill: (signal: NodeJS.Signals) => void
  ended: Promise<Ran<T>>
}

const children = new Set<ChildProcess>()

/** Runs the real CLI to its end. */
export function assay<T = unknown>(args: string[], options: Options): Promise<Ran<T>> {
  return startAssay<T>(args, options).ended
}

/** Starts the real CLI, in a process group of its own, ended at the latest when the test file is done. */
export function startAssay<T = unknown>(args: string[], options: Options): Running<T> {
  const problem = inject('buildProblem')
  if (options.bin === undefined && problem !== null) throw new Error(`the CLI could not be built: ${problem}`)
  const child = spawn(process.execPath, [options.bin ?? ASSAY_BIN, ...args], {
    cwd: options.cwd,
    env: { ...isolatedEnv(), ...options.env },
    stdio: 'pipe',
    detached: true,
    ...(options.user === undefined ? {} : { uid: options.user, gid: options.user }),
  })
  children.add(child)
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text
    })
  }
  child.stdin.on('error', () => {
    // It ended without reading its input.
  })
  child.stdin.end(options.input ?? '')
  const ended = new Promise<Ran<T>>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      children.delete(child)
      resolve({ code, signal, ...printed, json: parseEnvelope<T>(printed.stdout) })
    })
  })
  return {
    pid: child.pid ?? Number.NaN,
    output: () => ({ ...printed }),
    said: (text) =>
      until(() => printed.stdout.includes(text) || printed.stderr.includes(text), {
        what: `assay ${args[0]} to print "${text}"`,
      }),
    kill: (signal) => child.kill(signal),
    ended,
  }
}

/** The data of a `--json` call that must have succeeded; throws with everything it printed otherwise. */
export function dataOf<T>(ran: Ran<T>): T {
  if (ran.json?.ok) return ran.json.data
  throw new Error(`assay failed (code ${ran.code}, signal ${ran.signal}):\n${ran.stdout}${ran.stderr}`)
}

/** The problem of a `--json` call that must have failed. */
export function problemOf(ran: Ran<unknown>): ProblemJson {
  if (ran.json?.ok === false) return ran.json.problem
  throw new Error(`assay did not fail (code ${ran.code}):\n${ran.stdout}${ran.stderr}`)
}

function parseEnvelope<T>(stdout: string): Envelope<T> | null {
  if (stdout.indexOf('\n') !== stdout.length - 1 || !stdout.startsWith('{')) return null
  try {
    return JSON.parse(stdout)
  } catch {
    return null
  }
}

afterAll(() => {
  for (const child of children) {
    if (child.pid === undefined) continue
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  }
})
