/**
 * The value of ASSAY_TOKEN that every job carries: a random part, and who started it. So a process that outlived its
 * owner can be told from one whose owner still waits for it. Tokens of nested jobs are joined with dots, outermost first. A
 * job that is measured, or prepares what is measured, also carries the folder of state that it is measured for.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { HAS_PROC, isDead, ownedByUs, pids, readStat } from './proc.ts'

/**
 * A process that can be proved dead: a pid is reused, a pid with its start time is not.
 */
export interface ProcessIdentity {
  pid: number
  /** Start time as the system tells it: clock ticks since boot `@` boot on Linux, `ps lstart` elsewhere. */
  started: string
  host: string
  /** See `pidSpace`; absent in what earlier versions recorded, and where the system knows no such places. */
  space?: string
}

/** null when there is no such process, when it is a zombie, or when the system does not tell. */
export function identify(pid: number = process.pid): ProcessIdentity | null {
  const started = HAS_PROC ? startedByProc(pid) : startedByPs(pid)
  if (started === null) return null
  const space = pidSpace()
  return { pid, started, host: hostname(), ...(space === '0' ? {} : { space }) }
}

/** Reads an identity from JSON; null when the value is none. */
export function asIdentity(found: Partial<Record<keyof ProcessIdentity, unknown>>): ProcessIdentity | null {
  const { pid, started, host, space } = found
  if (typeof pid !== 'number' || !Number.isInteger(pid)) return null
  if (typeof started !== 'string' || typeof host !== 'string') return null
  return { pid, started, host, ...(typeof space === 'string' ? { space } : {}) }
}

/** Whether the process is on a different machine or in a container, so that nothing about it can be proved from here. */
export const isElsewhere = (identity: ProcessIdentity): boolean =>
  identity.host !== hostname() || (isOfOtherSpace(identity) && !spaceEnded(identity))

/**
 * False only with proof of death: on this host, no process has this pid and this start time. Code that takes over from a
 * dead owner relies on that, so an owner on a different host counts as alive.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  if (isElsewhere(identity)) return true
  if (isOfOtherSpace(identity)) return false
  const now = identify(identity.pid)
  if (now !== null) return now.started === identity.started
  return hidden(identity.pid)
}

/**
 * Names where a pid means what it means here, in digits: containers on one host may share folders, and not their pids.
 * 0 where the system knows no such places.
 */
export const pidSpace = (): string => spaceOf('self') ?? '0'

/** The same of another process; null when the system does not tell. */
export function spaceOf(pid: number | 'self'): string | null {
  try {
    return /\d+/.exec(readlinkSync(`/proc/${pid}/ns/pid`))?.[0] ?? null
  } catch {
    return null
  }
}

/** For people. */
export const nameOfProcess = (identity: ProcessIdentity): string =>
  `process ${identity.pid} on ${identity.host}${identity.host === hostname() && isOfOtherSpace(identity) ? ', in a container' : ''}`

const isOfOtherSpace = ({ space }: ProcessIdentity): boolean => space !== undefined && space !== pidSpace()

/** The space that a system begins with: who is in it sees every process. The number is the kernel's own (`PROC_PID_INIT_INO`). */
const FIRST_SPACE = '4026531836'

/** Proof that all processes of another space are gone: the system was started again since, or none of them is left. */
function spaceEnded({ space, started }: ProcessIdentity): boolean {
  if (!HAS_PROC) return false
  if (!started.endsWith(`@${boot()}`)) return true
  return pidSpace() === FIRST_SPACE && !pids().some((pid) => ownedByUs(pid) && spaceOf(pid) === space)
}

function startedByProc(pid: number): string | null {
  const stat = readStat(pid)
  if (stat === null || isDead(stat.state)) return null
  return `${stat.started}@${boot()}`
}

/** `ps` prints the local time and month names of its environment: both are fixed here, for all callers alike. */
export function startedByPs(pid: number): string | null {
  let line: string
  try {
    line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return null
  }
  const [state = '', ...started] = line.split(/\s+/)
  return isDead(state.charAt(0)) || started.length === 0 ? null : started.join(' ')
}

/** A process that may not be looked at (`hidepid`, another user) answers EPERM to a signal: it lives. */
function hidden(pid: number): boolean {
  if (HAS_PROC && readStat(pid) !== null) return false
  try {
    process.kill(pid, 0)
    // It may be signalled but not looked at, unless it ended or became a zombie just now.
    return HAS_PROC
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

let bootId: string | undefined

/** Ticks count from the boot, so the boot belongs to them. */
function boot(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
  return bootId
}

// ----------------------------------------------------------------
// The value of ASSAY_TOKEN that every job carries: a random part, and who started it. So a process that
// outlived its owner can be told from one whose owner still waits for it. Tokens of nested jobs are joined
// with dots, outermost first. A job that is measured, or prepares what is measured, also carries the folder
// of state that it is measured for.

/** Without /proc no process can search for it, and looking at ourselves would start a process, so it is the nonce alone. */
export function makeToken(nonce: string, mark = ''): string {
  const owner = HAS_PROC ? identify() : null
  return owner === null
    ? nonce
    : `${nonce}:${Buffer.from(JSON.stringify(owner)).toString('base64url')}${mark}`
}

/** What a job's own ASSAY_TOKEN says before its token is made: that it is measured for this folder of state. */
export const stateMark = (state: string): string => `:${Buffer.from(state).toString('base64url')}`

/** The folders of state that jobs of living owners in this token are measured for. */
export function measuredFor(token: string): string[] {
  return token.split('.').flatMap((part) => {
    const [, owner = '', ...states] = part.split(':')
    const by = states.length === 0 ? null : ownerIn(owner)
    return by !== null && isAlive(by)
      ? states.map((state) => Buffer.from(state, 'base64url').toString('utf8'))
      : []
  })
}

/** The owners that an ASSAY_TOKEN names, outermost first; null when a part names none, for then nothing is proved. */
export function ownersOf(token: string): ProcessIdentity[] | null {
  const owners = token.split('.').map((part) => ownerIn(part.split(':')[1] ?? ''))
  return owners.every((owner) => owner !== null) ? owners : null
}

function ownerIn(text: string): ProcessIdentity | null {
  try {
    return asIdentity(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
  } catch {
    return null
  }
}
