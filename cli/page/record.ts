/** Who serves the page of a repository: so that a second one names the first, and the next one takes its port and token. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pageRecord, type Site } from '../paths.ts'
import { asIdentity, identify, isAlive, type ProcessIdentity, startDetached } from '../process.ts'
import { fail, ok, type Result } from '../result.ts'
import type { OpenRun } from '../run/open.ts'

export interface Served {
  owner: ProcessIdentity
  port: number
  /** Pages that are open keep it, also when the server is started again. */
  token: string
  read_only: boolean
}

/** What the last one wrote; `alive` tells whether it still serves. null when there was none. */
export function lastServed(env: NodeJS.ProcessEnv, site: Site): (Served & { alive: boolean }) | null {
  let found: Record<string, unknown>
  try {
    found = JSON.parse(readFileSync(pageRecord(env, site), 'utf8'))
  } catch {
    return null
  }
  const owner = asIdentity((found.owner ?? {}) as Record<string, unknown>)
  const { port, token, read_only } = found
  if (owner === null || typeof port !== 'number' || typeof token !== 'string') return null
  return { owner, port, token, read_only: read_only === true, alive: isAlive(owner) }
}

export function recordServed(env: NodeJS.ProcessEnv, site: Site, served: Omit<Served, 'owner'>): void {
  const file = pageRecord(env, site)
  mkdirSync(dirname(file), { recursive: true })
  const temporary = `${file}.${process.pid}`
  rmSync(temporary, { force: true })
  writeFileSync(temporary, JSON.stringify({ owner: identify(), ...served }), { mode: 0o600 })
  renameSync(temporary, file)
}

/** The token stands behind `#`: a browser keeps that part to itself. */
export const addressOf = ({ port, token, read_only }: Omit<Served, 'owner'>): string =>
  `http://127.0.0.1:${port}/${read_only ? '' : `#page=${token}`}`

// ---------------------------------------------------------------- starts `assay serve` as a process of its own for `loop --serve`: the page must outlive the loop

const LOOK_MS = 50
const STARTING_MS = 20_000

/** The address of the page; starts its server if no process serves this repository. Problem: `not_served`. */
export async function ensurePageServer({ env, site, signal }: OpenRun): Promise<Result<string>> {
  const before = lastServed(env, site)
  if (before?.alive) return ok(addressOf(before))
  const record = pageRecord(env, site)
  mkdirSync(dirname(record), { recursive: true })
  const log = record.replace(/\.json$/, '.log')
  const child = startDetached({
    argv: [process.execPath, process.argv[1] ?? '', 'serve', '--quiet'],
    cwd: site.root,
    env,
    logFile: log,
  })
  const deadline = performance.now() + STARTING_MS
  while (performance.now() < deadline && !child.exited() && !signal.aborted) {
    const now = lastServed(env, site)
    if (now?.alive) return ok(addressOf(now))
    await pause(LOOK_MS)
  }
  return fail({
    kind: 'failed',
    code: 'not_served',
    message: 'the page of the loop could not be served',
    hint: 'read its log, or serve the page in a process of its own: assay serve',
    at: log,
  })
}
