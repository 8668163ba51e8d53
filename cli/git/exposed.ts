/** Secrets inside ordinary files of a candidate, looked for on the disk: nothing of them may get into the store. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Site } from '../paths.ts'
import { certainSecretsIn } from '../redact.ts'
import { ok, type Result } from '../result.ts'
import { readBlob } from './files.ts'

/** Bytes of one file, and of all, that are looked at: what people write by hand is smaller. */
const FILE_BYTES = 1024 * 1024
const ALL_BYTES = 32 * FILE_BYTES

/**
 * The files whose added lines hold a secret, and which kind, never the secret. Lines that the parent's file has as well
 * were there before. Binary files and links are not looked into, nor what lies beyond the limits above.
 */
export async function exposedSecrets(
  { site, worktree, parent }: { site: Site; worktree: string; parent: { tree: string } },
  paths: readonly string[],
): Promise<Result<{ path: string; reason: string }[]>> {
  const exposed: { path: string; reason: string }[] = []
  let left = ALL_BYTES
  for (const path of paths) {
    if (left <= 0) break
    const bytes = await beginningOf(join(worktree, path))
    left -= bytes?.length ?? 0
    if (bytes === null || bytes.includes(0)) continue
    const text = bytes.toString('utf8')
    const found = certainSecretsIn(text)
    if (found.length === 0) continue
    const before = await readBlob(site, parent.tree, path)
    if (!before.ok) return before
    const old = before.value?.toString('utf8') ?? ''
    const added = found.find(({ start, end }) => !old.includes(text.slice(start, end)))
    if (added === undefined) continue
    const line = text.slice(0, added.start).split('\n').length
    exposed.push({ path, reason: `${added.kind} in line ${line}` })
  }
  return ok(exposed)
}

/** Null for what is no regular file, or cannot be read: the seal itself tells of that. */
async function beginningOf(file: string): Promise<Buffer | null> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => null,
  )
  if (handle === null) return null
  try {
    const stat = await handle.stat()
    if (!stat.isFile()) return null
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(stat.size, FILE_BYTES)))
    return buffer.subarray(0, bytesRead)
  } catch {
    return null
  } finally {
    await handle.close()
  }
}
