/** Who serves the page of a repository: so that a second one names the first, and the next one takes its port and token. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pageRecord, type Site } from '../paths.ts'
import { asIdentity, identify, isAlive, type ProcessIdentity } from '../process.ts'

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
