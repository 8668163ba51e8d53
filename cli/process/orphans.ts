/** Processes of ours whose owner died before it could end them: daemons that a benchmark left its group with. */
import { setTimeout as pause } from 'node:timers/promises'
import { fileText } from '../files.ts'
import {
  identify,
  isAlive,
  measuredFor,
  ownersOf,
  type ProcessIdentity,
  pidSpace,
  spaceOf,
  stateMark,
} from './identity.ts'
import { environmentOf, HAS_PROC, ownedByUs, pids } from './proc.ts'

export interface Orphan {
  process: ProcessIdentity
  owners: ProcessIdentity[]
  /** Its command line, at most 200 characters. */
  command: string
}

/**
 * Every process of our user that carries a token of which every owner is proved dead. One whose outer owner lives is
 * that one's to end. Ourselves and what we descend from are never among them. Processes of another pid namespace are only
 * when their owners were in ours: when a command is killed while bubblewrap starts, the first process of the namespace
 * waits for ever for the rest of bubblewrap. Empty off Linux.
 */
export function findOrphans(): Orphan[] {
  if (!HAS_PROC) return []
  const family = ancestors()
  const found: Orphan[] = []
  for (const pid of pids()) {
    if (family.has(pid) || !ownedByUs(pid)) continue
    const orphan = orphanOf(pid)
    if (orphan) found.push(orphan)
  }
  return found
}

/** Ends the process if it is still the same process, and still an orphan. */
export function endOrphan({ process: { pid, started } }: Orphan): boolean {
  const now = orphanOf(pid)
  if (now?.process.started !== started) return false
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch {
    return false
  }
}

/**
 * The folders of state that this process is measured for, by its own token and those of the processes above it: who takes
 * the token out of the environment of a child keeps its own. Empty off Linux.
 */
export function measuredHere(): string[] {
  if (!HAS_PROC) return []
  const tokens = new Set([...ancestors()].flatMap((pid) => tokenOf(pid) ?? []))
  return [...new Set([...tokens].flatMap(measuredFor))]
}

/** The command line of a process that no measurement started and that this process does not descend from; else null. */
export function strangerOf(pid: number): string | null {
  if (identify(pid) === null || tokenOf(pid) !== null || ancestors().has(pid)) return null
  return commandOf(pid)
}

const LOOK_MS = 5
/** After this many checks, a killed process that still lives is given up. */
const LOOKS = 200

/**
 * Whether its token names the folder, the state of a repository, or its environment a file below it. What is isolated
 * sees its files somewhere else.
 */
export function belongsTo({ process: { pid } }: Orphan, folder: string): boolean {
  const parts = (tokenOf(pid) ?? '').split('.')
  return (
    parts.some((part) => part.endsWith(stateMark(folder))) ||
    environmentOf(pid).includes(`=${latin1(folder)}/`)
  )
}

/** A path as an environment is read: each of its bytes a character. */
const latin1 = (path: string): string => Buffer.from(path).toString('latin1')

/**
 * Ends every orphan that belongs to the folder, and answers them once they are gone, with their ports and files. Leftovers
 * of dead runs in other repositories are only named, by `doctor`.
 */
export async function endOrphans(folder: string): Promise<Orphan[]> {
  const ended = findOrphans().filter((one) => belongsTo(one, folder) && endOrphan(one))
  for (let look = 0; look < LOOKS && ended.some((one) => isAlive(one.process)); look++) await pause(LOOK_MS)
  return ended
}

function orphanOf(pid: number): Orphan | null {
  const token = tokenOf(pid)
  const owners = token === null ? null : ownersOf(token)
  if (owners === null || owners.some(isAlive)) return null
  // In a namespace of its own, one from outside of Assay may mean another process by the same number.
  if (spaceOf(pid) !== spaceOf('self') && owners.some(({ space }) => space !== pidSpace())) return null
  const itself = identify(pid)
  return itself && { process: itself, owners, command: commandOf(pid) }
}

function tokenOf(pid: number): string | null {
  const found = environmentOf(pid)
    .split('\0')
    .find((entry) => entry.startsWith('ASSAY_TOKEN='))
  return found === undefined ? null : found.slice('ASSAY_TOKEN='.length)
}

function ancestors(): Set<number> {
  const found = new Set<number>()
  for (let pid = process.pid; pid > 0 && !found.has(pid); pid = parentOf(pid)) found.add(pid)
  return found
}

const parentOf = (pid: number): number =>
  Number(/^PPid:\s*(\d+)/m.exec(fileText(`/proc/${pid}/status`) ?? '')?.[1] ?? 0)

function commandOf(pid: number): string {
  return (fileText(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' ').trim().slice(0, 200)
}
