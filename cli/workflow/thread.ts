import { AsyncLocalStorage } from 'node:async_hooks'
import { hash as digest } from 'node:crypto'

/**
 * Keys of `agent()` calls. A key names a call by what led to it and not by when it happened:
 *
 *   key = sha256(thread path, previous key of that thread, prompt, canonical options)
 *
 * A thread is a slot of `parallel` or `pipeline`, carried through awaits by AsyncLocalStorage, so lanes that run at other
 * speeds on resume find the same keys. When the slots are done, their last keys enter the thread that opened them:
 * an edit inside a slot makes everything after the join run again.
 */
interface Thread {
  path: string
  previous: string
  /** How many `parallel`/`pipeline` calls this thread has opened. */
  opened: number
}

/** Changes when the formula changes, so that an old journal is not read with a new meaning. */
const FORMULA = 'a1'

export interface Threads {
  /** Path of the thread that runs now: `` for the script itself, then `/0.2` = slot 2 of its first fork. */
  current(): string
  /** Advances the current thread by one call. `options` is canonical JSON. */
  key(prompt: string, options: string): string
  /** Opens `slots` threads below the current one. */
  fork(slots: number): Fork
}

export interface Fork {
  within<T>(slot: number, run: () => T): T
  join(): void
}

export function createThreads(): Threads {
  const storage = new AsyncLocalStorage<Thread>()
  const root: Thread = { path: '', previous: '', opened: 0 }
  const now = () => storage.getStore() ?? root
  return {
    current: () => now().path,
    key(prompt, options) {
      const thread = now()
      thread.previous = `${FORMULA}:${hash([thread.path, thread.previous, prompt, options])}`
      return thread.previous
    },
    fork(slots) {
      const parent = now()
      const before = parent.previous
      const path = `${parent.path}/${parent.opened}`
      parent.opened += 1
      const threads = Array.from(
        { length: slots },
        (_, slot): Thread => ({ path: `${path}.${slot}`, previous: parent.previous, opened: 0 }),
      )
      return {
        within(slot, run) {
          const thread = threads[slot]
          if (thread === undefined) throw new Error(`no slot ${slot} in ${path}`)
          return storage.run(thread, run)
        },
        join() {
          if (threads.every((thread) => thread.previous === before)) return
          parent.previous = hash([parent.previous, ...threads.map((thread) => thread.previous)])
        },
      }
    },
  }
}

/** Lengths come first, so that no text can pass for part of its neighbour. */
function hash(parts: string[]): string {
  const text = `${parts.map((part) => part.length).join(',')}\0${parts.join('\0')}`
  return digest('sha256', text, 'hex')
}
