import { mkdirSync, readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { Tell } from '../notices.ts'
import { nameOfProcess, type ProcessIdentity } from '../process.ts'
import {
  beat,
  claim,
  createLink,
  hasGivenUp,
  linkTarget,
  ourselves,
  ownerOf,
  remove,
  withdraw,
  withLock,
} from './hold.ts'

export interface SlotLease {
  /** 0 … capacity − 1; no two living leases have the same. */
  slot: number
  /** Idempotent. */
  release(): void
}

export interface LeaseRequest {
  /** The folder that all competing processes share; made if it is missing. */
  folder: string
  /** How many leases may live at once while this one does: the smallest capacity among them counts. */
  capacity: number
  /** Whose death frees it; default this process. */
  owner?: ProcessIdentity
  tell?: Tell
  signal?: AbortSignal | undefined
}

/**
 * Waits in line, first come first served over all processes. A line of links: `q-<number>` waits, `s-<slot>` holds.
 * Everything that changes the line happens under one short lock, so counting and admitting are one step; what dead
 * owners left is removed there. Rejects with the signal's reason when that aborts the waiting.
 */
export async function acquireLease(request: LeaseRequest): Promise<SlotLease> {
  const { folder, signal, tell } = request
  signal?.throwIfAborted()
  mkdirSync(folder, { recursive: true })
  const line = new Line(folder)
  const owner = request.owner ?? ourselves()
  const ticket = await line.exclusively(() => line.join(owner, request.capacity))
  let held = ticket.path
  const quiet = beat(() => held, ticket.text)
  try {
    for (let told = -1; ; ) {
      const lease = await line.exclusively(() => line.admit(ticket))
      if (lease !== null) {
        held = lease.path
        return {
          slot: lease.slot,
          release: () => {
            quiet()
            lease.release()
          },
        }
      }
      const ahead = line.ahead(ticket)
      if (ahead !== told) {
        tell?.({ type: 'waiting', what: line.describe(ticket) })
      }
      told = ahead
      await line.change(ticket, ahead, signal)
    }
  } catch (error) {
    quiet()
    withdraw(ticket.path, ticket.text)
    signal?.throwIfAborted()
    throw error
  }
}

interface Place {
  path: string
  text: string
  owner: ProcessIdentity
  number: number
  capacity: number
  /** null while it waits. */
  slot: number | null
}

const NAME = /^(?:q-(?<number>\d+)|s-(?<slot>\d+))$/
/** File systems without notification are looked at this often. */
const POLL_MS = 15
/** How soon a dead owner is noticed. */
const PROOF_MS = 150

class Line {
  private readonly folder: string
  constructor(folder: string) {
    this.folder = folder
  }

  exclusively<T>(step: () => T): Promise<T> {
    return withLock(join(this.folder, 'line'), async () => step())
  }

  /** Numbers only grow while anyone is in the line, so a later one can never slip in front. */
  join(owner: ProcessIdentity, capacity: number): Place {
    const number = 1 + Math.max(0, ...this.places().map((other) => other.number))
    const path = join(this.folder, `q-${number}`)
    const text = claim({ number, capacity }, owner)
    if (!createLink(path, text)) throw new Error(`${path} appeared while the line was locked`)
    return { path, text, owner, number, capacity, slot: null }
  }

  admit(ticket: Place): (SlotLease & { path: string }) | null {
    this.dropDead()
    const places = this.places()
    if (!mayEnter(ticket, places)) return null
    const taken = new Set(places.map((other) => other.slot))
    let slot = 0
    while (taken.has(slot)) slot += 1
    const path = join(this.folder, `s-${slot}`)
    if (!createLink(path, ticket.text)) throw new Error(`${path} appeared while the line was locked`)
    remove(ticket.path)
    return { slot, path, release: () => withdraw(path, ticket.text) }
  }

  /** What the ticket waits for, naming the first process ahead that measures. */
  describe(ticket: Place): string {
    const ahead = before(ticket, this.places())
    const first = ahead.find(({ slot }) => slot !== null) ?? ahead[0]
    return first ? `a slot, ${ahead.length} ahead: ${nameOfProcess(first.owner)} (${first.path})` : 'a slot'
  }

  ahead(ticket: Place): number {
    return before(ticket, this.places()).length
  }

  /** Resolves when the line before the ticket has changed, or after a while so that a death is noticed. */
  async change(ticket: Place, ahead: number, signal: AbortSignal | undefined): Promise<void> {
    // Those further back look less often: they must not disturb what is being measured.
    const pace = Math.min(8, 1 + ahead / 2)
    const proof = performance.now() + PROOF_MS * pace
    const waker = new Waker(this.folder)
    try {
      for (let left = 1; left > 0; left = proof - performance.now()) {
        signal?.throwIfAborted()
        const places = this.places()
        if (mayEnter(ticket, places) || before(ticket, places).length !== ahead) return
        await waker.next(POLL_MS * (0.75 + Math.random() / 2) * pace, signal)
      }
    } finally {
      waker.close()
    }
  }

  private places(): Place[] {
    return readdirSync(this.folder).flatMap((name) => {
      const groups = NAME.exec(name)?.groups
      const path = join(this.folder, name)
      const text = groups ? linkTarget(path) : null
      if (groups === undefined || text === null) return []
      const { number, capacity } = JSON.parse(text) as { number: number; capacity: number }
      const slot = groups.slot === undefined ? null : Number(groups.slot)
      return [{ path, text, owner: ownerOf(text, path), number, capacity, slot }]
    })
  }

  /** Only under the lock; and a dead owner changes nothing any more: so plain removal is safe. */
  private dropDead(): void {
    for (const other of this.places()) if (hasGivenUp(other.path, other.owner)) remove(other.path)
  }
}

/** Every holder, whenever it came, and those who wait with a lower number. */
function before(ticket: Place, places: Place[]): Place[] {
  return places.filter((other) => other.slot !== null || other.number < ticket.number)
}

function mayEnter(ticket: Place, places: Place[]): boolean {
  const others = before(ticket, places)
  return others.length < Math.min(ticket.capacity, ...others.map((other) => other.capacity))
}

// ---------------------------------------------------------------- waits for a change of a folder
// Waits for a change that a different process makes in a folder.

/** One wake-up at a change in a folder, at a time limit, or when the signal aborts. */
export class Waker {
  #wake: () => void = () => {}
  #pending = false
  readonly #close: () => void

  constructor(folder: string) {
    try {
      const watcher = watch(folder, () => {
        this.#pending = true
        this.#wake()
      })
      watcher.on('error', () => watcher.close())
      this.#close = () => watcher.close()
    } catch {
      // No notification here (too many watches, a network folder): the limit alone wakes.
      this.#close = () => {}
    }
  }

  next(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        this.#wake = () => {}
        this.#pending = false
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
      this.#wake = done
      if (this.#pending || signal?.aborted) done()
    })
  }

  close(): void {
    this.#close()
  }
}
