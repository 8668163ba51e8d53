/** A file that is read in pages, each once: what lies near each other costs one read. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

const PAGE = 64 * 1024
/** Pages that are remembered; the oldest goes first. */
const MOST = 512

/** Ends a file when nobody has its pages any more: a snapshot is read for as long as a state rests on it. */
const ends = new FinalizationRegistry((fd: number) => closeSync(fd))

export class Pages {
  readonly size: number
  readonly inode: number
  readonly #fd: number
  readonly #pages = new Map<number, Buffer>()

  /** Throws when the file cannot be opened. A file that is replaced or deleted later is still read as it was. */
  constructor(file: string) {
    this.#fd = openSync(file, constants.O_RDONLY)
    ends.register(this, this.#fd)
    const { size, ino } = fstatSync(this.#fd)
    this.size = size
    this.inode = ino
  }

  /** So many bytes from there; fewer at the end of the file. They are not the caller's to change. */
  read(at: number, length: number): Buffer {
    const page = Math.floor(at / PAGE)
    const from = at - page * PAGE
    if (from + length <= PAGE) return this.page(page).subarray(from, from + length)
    return this.#readAt(at, length)
  }

  page(number: number): Buffer {
    const known = this.#pages.get(number)
    if (known !== undefined) return known
    const read = this.#readAt(number * PAGE, PAGE)
    const [oldest] = this.#pages.size < MOST ? [] : this.#pages.keys()
    if (oldest !== undefined) this.#pages.delete(oldest)
    this.#pages.set(number, read)
    return read
  }

  #readAt(at: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length)
    let read = 0
    while (read < length) {
      const n = readSync(this.#fd, buffer, read, length - read, at + read)
      if (n === 0) break
      read += n
    }
    return buffer.subarray(0, read)
  }
}
