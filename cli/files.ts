/** Files and folders that may be gone or closed to us: what cannot be read is as if it were not there. */
import { readdirSync, readFileSync, statfsSync } from 'node:fs'

/** null when it cannot be read. */
export function fileText(path: string, encoding: BufferEncoding = 'utf8'): string | null {
  try {
    return readFileSync(path, encoding)
  } catch {
    return null
  }
}

/** What Assay itself wrote there as JSON; null when it cannot be read or is no JSON. */
export function fileJson<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return null
  }
}

/** The names in a folder, in no order; none when it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Bytes that one can still write there; null where the system does not tell. */
export function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return null
  }
}
