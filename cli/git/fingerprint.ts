/** Notices edits in the user's checkout by an agent that should have worked in its own worktree. */
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { ok, type Result } from '../result.ts'
import { readStatus } from './checkout.ts'
import { hashFiles } from './files.ts'

/** path → state, of the paths that differ from HEAD; HEAD itself stands under `HEAD_KEY`. Plain JSON. */
export type Fingerprint = Record<string, string>

/** No file of a checkout can have this path. */
export const HEAD_KEY = '.git/HEAD'

const HASHED = 1024 * 1024

/** The state of a checkout as far as `inScope` goes. Files above 1 MiB count by size and time, not by content. */
export async function fingerprintCheckout(
  top: string,
  inScope: (path: string) => boolean,
): Promise<Result<Fingerprint>> {
  const status = await readStatus(top)
  if (!status.ok) return status
  const paths = status.value.dirty.map((one) => one.path).filter(inScope)
  const found: Fingerprint = { [HEAD_KEY]: status.value.head ?? 'none' }
  const small: string[] = []
  for (const path of paths) {
    const info = await lstat(join(top, path)).catch(() => null)
    if (info?.isFile() && info.size > HASHED) found[path] = `${info.size}@${info.mtimeMs}`
    else small.push(path)
  }
  const hashes = await hashFiles(top, small)
  if (!hashes.ok) return hashes
  for (const [path, hash] of hashes.value) found[path] = hash ?? 'deleted'
  return ok(found)
}

/** The paths whose state differs, sorted; `HEAD_KEY` among them when there was a commit or a switch. */
export function changedSince(before: Fingerprint, after: Fingerprint): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].filter((path) => before[path] !== after[path]).sort()
}
