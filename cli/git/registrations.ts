/** The store's registry of worktrees against what is on disk. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { withLock } from '../lock.ts'
import { type Site, worktreeLock } from '../paths.ts'
import { moveToTrash } from './worktrees.ts'

export interface Registration {
  /** `<store>/worktrees/<id>`. */
  folder: string
  /** Where the worktree should be; null when the registration does not say. */
  path: string | null
  exists: boolean
}

export async function registrations(site: Site): Promise<Registration[]> {
  const registry = join(site.store, 'worktrees')
  const ids = await readdir(registry).catch(() => [])
  const found: Registration[] = []
  for (const id of ids.sort()) found.push(await readRegistration(join(registry, id)))
  return found
}

async function readRegistration(folder: string): Promise<Registration> {
  const text = await readFile(join(folder, 'gitdir'), 'utf8').catch(() => '')
  const pointer = text.replace(/\n$/, '')
  const path = pointer === '' ? null : dirname(pointer)
  return { folder, path, exists: path !== null && existsSync(path) }
}

/** Removes a registration whose worktree is gone; false when the worktree is there by now. */
export function dropRegistration(site: Site, folder: string): Promise<boolean> {
  return withLock(worktreeLock(site), async () => {
    if (!existsSync(folder)) return true
    if ((await readRegistration(folder)).exists) return false
    await moveToTrash(site, folder)
    return true
  })
}
