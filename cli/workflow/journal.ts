import { isAscii } from 'node:buffer'
import { closeSync, fdatasync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

/**
 * The cache of paid answers, one line a result: `{"type":"result","key":…,"label":…,"result":…}`. It is a cache, not a
 * record: a line that does not parse costs one repeated call, and the ledger stays the truth. Results that are null and
 * errors are not kept, so resuming asks again.
 */
export interface Journal {
  /** One write and one fdatasync; the answer may reach the script when this resolves. Rejects when the disk refuses. */
  append(key: string, label: string, json: string): Promise<void>
  close(): void
}

/** Opens for appending; never truncates. A torn tail of a killed run is closed off by starting with a newline. */
function openJournal(path: string): Journal {
  const fd = openSync(path, 'a+')
  let torn = endsTorn(fd)
  return {
    append(key, label, json) {
      const line = `{"type":"result","key":${JSON.stringify(key)},"label":${JSON.stringify(label)},"result":${json}}\n`
      const bytes = Buffer.from(torn ? `\n${line}` : line)
      torn = false
      return new Promise((resolve, reject) => {
        const written = writeSync(fd, bytes)
        if (written !== bytes.length) {
          torn = true
          throw new Error(`wrote ${written} of ${bytes.length} bytes to the journal`)
        }
        fdatasync(fd, (error) => (error === null ? resolve() : reject(error)))
      })
    },
    close: () => closeSync(fd),
  }
}

/** Opens at the first answer, so that a replay touches no file. A disk that refuses costs the cache, not the run. */
export function lazyJournal(path: string, warn: (message: string) => void): Journal {
  let open: Journal | null = null
  let broken = false
  return {
    async append(key, label, json) {
      if (broken) return
      try {
        open ??= openJournal(path)
        await open.append(key, label, json)
      } catch (error) {
        broken = true
        const why = error instanceof Error ? error.message : String(error)
        warn(`the workflow's journal cannot be written, so resuming repeats calls: ${why}`)
      }
    },
    close: () => open?.close(),
  }
}

function endsTorn(fd: number): boolean {
  const { size } = fstatSync(fd)
  if (size === 0) return false
  const last = Buffer.alloc(1)
  readSync(fd, last, 0, 1, size - 1)
  return last[0] !== 0x0a
}

/**
 * Results by key as text, the last line of a key wins; `damaged` counts lines that hold no result. Whether a result is
 * JSON is not looked at: thousands may be read, and the user of one parses it anyway.
 */
export function readJournal(path: string): { results: Map<string, string>; damaged: number } {
  const results = new Map<string, string>()
  let damaged = 0
  for (const line of linesOf(path)) {
    if (line === '') continue
    const keyEnd = line.indexOf('"', KEY.length)
    // A quote inside a string is escaped, so the first match is the field itself.
    const result = line.indexOf(RESULT, keyEnd)
    if (line.startsWith(KEY) && result > 0 && line.endsWith('}')) {
      results.set(line.slice(KEY.length, keyEnd), line.slice(result + RESULT.length, -1))
    } else damaged += 1
  }
  return { results, damaged }
}

function linesOf(path: string): string[] {
  try {
    const bytes = readFileSync(path)
    // Most journals are plain ASCII, and then need no decoding.
    return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8').split('\n')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

const KEY = '{"type":"result","key":"'
const RESULT = ',"result":'
