/** Waits for a change that a different process makes in a folder. */
import { watch } from 'node:fs'

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
