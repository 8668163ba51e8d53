/** Whether what ran filled the disk with its own files: then it is to blame, and not the machine. */
import { tmpdir } from 'node:os'
import { freeBytes } from '../disk/free.ts'
import type { SampleFault } from '../ledger/events.ts'
import type { Site } from '../paths.ts'
import { diskFull } from './room.ts'
import { RecordLost } from './steps.ts'

/** Bytes: less than any file that matters. */
const FULL = 64 * 1024
const MIB = 1024 * 1024

/** What is free where checkouts and outputs lie, and where temporary folders do; null = it cannot be told. */
type Free = readonly (number | null)[]
const freeNow = (site: Site): Free => [freeBytes(site.state), freeBytes(tmpdir())]

/** Begun before something runs. */
export class DiskWatch {
  readonly #site: Site
  readonly #before: Free
  #full: Free

  constructor(site: Site) {
    this.#site = site
    this.#before = freeNow(site)
    this.#full = this.#before
  }

  /** Called when it has ended, and its files are still there. */
  ended = (): void => {
    this.#full = freeNow(this.#site)
  }

  get isFull(): boolean {
    return this.#full.some((free) => free !== null && free < FULL)
  }

  /**
   * The fault, once its files are removed: its own when the disk was full and most of what was free at its start is
   * free again. When the state's disk stays full, somebody else filled it, and a fault says nothing: `RecordLost`.
   */
  blame(fault: SampleFault | null): SampleFault | null {
    if (fault === null || fault.reason === 'aborted') return fault
    const now = freeNow(this.#site)
    const own = this.#full.map((full, index) => {
      const [before, after] = [this.#before[index] ?? null, now[index] ?? null]
      if (full === null || before === null || after === null || full >= FULL) return 0
      return after - full >= Math.max(FULL, before / 2) ? after - full : 0
    })
    const freed = Math.max(...own)
    if (freed === 0) {
      const left = now[0] ?? null
      if (left !== null && left < FULL)
        throw new RecordLost(diskFull(`a measurement failed (${fault.message})`, this.#site.state))
      return fault
    }
    return {
      ...fault,
      reason: 'crash',
      message: `it filled the disk: ${(freed / MIB).toFixed(1)} MiB were free again when its files were removed (${fault.message})`,
    }
  }
}
