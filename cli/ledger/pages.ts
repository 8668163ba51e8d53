/** A file that is read in pages, each once: what lies near each other costs one read. */
import { closeSync, constants, fstatSync, openSync, readSync, rmSync } from 'node:fs'
import { crc32 } from 'node:zlib'

export const PAGE = 64 * 1024
/** Pages that are remembered; the oldest goes first. */
const MOST = 512

/** Closes a file when no state refers to its pages any more: a state reads its snapshot as long as it exists. */
const ends = new FinalizationRegistry((fd: number) => closeSync(fd))

/** A page is not as it was written; the file is deleted then. Callers treat this error like a read that the system refused. */
class PageDamaged extends Error {
  readonly code = 'EDAMAGED'
  readonly syscall = 'read'

  constructor(readonly path: string) {
    super(`${path} was damaged after it was written`)
  }
}

/**
 * The checksum of a page, or of its next part, if `before` is that of the parts before it. It finds what a disk damaged;
 * `node:crypto` takes three times as long to load.
 */
export const checksum = (part: Buffer, before = 0): number => crc32(part, before)

export class Pages {
  readonly size: number
  readonly inode: number
  readonly mode: number
  readonly #file: string
  readonly #fd: number
  #sums = new Uint32Array(0)
  readonly #pages = new Map<number, Buffer>()

  /** Throws when the file cannot be opened. A file that is replaced or deleted later is still read as it was. */
  constructor(file: string) {
    this.#file = file
    this.#fd = openSync(file, constants.O_RDONLY)
    ends.register(this, this.#fd)
    const { size, ino, mode } = fstatSync(this.#fd)
    this.mode = mode
    this.size = size
    this.inode = ino
  }

  /** Checksums of the first pages, one after the other: from now on `read` throws `PageDamaged` where one differs. */
  expect(sums: Uint32Array<ArrayBuffer>): void {
    this.#sums = sums
    this.#pages.clear()
  }

  /** So many bytes from there; fewer at the end of the file. They are not the caller's to change. */
  read(at: number, length: number): Buffer {
    const page = Math.floor(at / PAGE)
    const from = at - page * PAGE
    if (from + length <= PAGE) return this.page(page).subarray(from, from + length)
    if (this.#sums.length === 0) return this.#readAt(at, length)
    const pages: Buffer[] = []
    for (let one = page; one * PAGE < at + length; one++) pages.push(this.page(one))
    return Buffer.concat(pages).subarray(from, from + length)
  }

  /** The same, for what is kept by its reader: its pages are not remembered. */
  readOnce(at: number, length: number): Buffer {
    const first = Math.floor(at / PAGE)
    const whole = this.#readAt(first * PAGE, Math.ceil((at + length) / PAGE) * PAGE - first * PAGE)
    for (let from = 0; from < whole.length; from += PAGE)
      this.#check(first + from / PAGE, whole.subarray(from, from + PAGE))
    return whole.subarray(at - first * PAGE, at - first * PAGE + length)
  }

  page(number: number): Buffer {
    const known = this.#pages.get(number)
    if (known !== undefined) return known
    const read = this.#readAt(number * PAGE, PAGE)
    this.#check(number, read)
    const [oldest] = this.#pages.size < MOST ? [] : this.#pages.keys()
    if (oldest !== undefined) this.#pages.delete(oldest)
    this.#pages.set(number, read)
    return read
  }

  #check(number: number, page: Buffer): void {
    const sum = this.#sums[number]
    if (sum === undefined || checksum(page) === sum) return
    rmSync(this.#file, { force: true })
    throw new PageDamaged(this.#file)
  }

  #readAt(at: number, length: number): Buffer {
    // Not of the pool: numbers are read from it in place.
    const buffer = Buffer.allocUnsafeSlow(length)
    let read = 0
    while (read < length) {
      const n = readSync(this.#fd, buffer, read, length - read, at + read)
      if (n === 0) break
      read += n
    }
    return buffer.subarray(0, read)
  }
}
