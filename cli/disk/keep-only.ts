/** Brings a folder back to a list of what it may contain. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { namesIn } from '../files.ts'
import { giveRights, type Obstacle, removeTree } from './remove.ts'

export interface Keep {
  /** Paths of files and links, relative to the top. */
  files: Iterable<string>
  /** Folders that stay also when they are empty. The folders of `files` stay in any case. */
  folders: Iterable<string>
  /** Folders that are not looked into. */
  closed: Iterable<string>
}

/** What a new folder gets. Asked once: to ask is to set it for a moment. */
const usual = 0o777 & ~process.umask()

/**
 * Removes all that is not on the list, also empty folders, pipes and sockets; no link is followed. Folders that stay
 * get the rights of a new folder. Answers the first obstacle, or null.
 */
export function keepOnly(top: string, keep: Keep): Obstacle | null {
  let obstacle: Obstacle | null = null
  const give = (folder: string) => {
    obstacle ??= usualRights(folder)
  }
  for (const { folder, name } of strangers(top, keep, give)) obstacle = removeByName(folder, name) ?? obstacle
  return obstacle
}

/** What `keepOnly` would remove, as far as it can be seen without new rights. */
export const strangersIn = (top: string, keep: Keep): string[] =>
  [...strangers(top, keep, () => {})].map(({ folder, name }) => `${folder}/${name}`)

function* strangers(
  top: string,
  { files, folders, closed }: Keep,
  enter: (folder: string) => void,
): Generator<{ folder: string; name: string }> {
  const allowed = new Set(files)
  const shut = new Set(closed)
  const stay = new Set<string>()
  for (const path of [...folders, ...shut]) withParents(stay, path)
  for (const path of allowed) withParents(stay, parentOf(path))
  const open = ['']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const at = path === '' ? top : `${top}/${path}`
    enter(at)
    for (const name of namesIn(at)) {
      const here = path === '' ? name : `${path}/${name}`
      const folder = isFolder(`${at}/${name}`)
      if (folder ? stay.has(here) : allowed.has(here)) {
        if (folder && !shut.has(here)) open.push(here)
      } else yield { folder: at, name }
    }
  }
}

/** A name that is no UTF-8 is on no list. */
function removeByName(folder: string, name: string): Obstacle | null {
  if (!name.includes('\ufffd')) return removeTree(`${folder}/${name}`)
  let obstacle: Obstacle | null = null
  for (const bytes of readdirSync(folder, { encoding: 'buffer' })) {
    if (bytes.toString() !== name) continue
    obstacle = removeTree(Buffer.concat([Buffer.from(`${folder}/`), bytes])) ?? obstacle
  }
  return obstacle
}

function usualRights(folder: string): Obstacle | null {
  giveRights(folder)
  try {
    const mode = lstatSync(folder).mode & 0o7777
    // The bits that a folder hands on to what is made in it are the user's own (a shared checkout).
    if ((mode & 0o777) !== usual) chmodSync(folder, (mode & 0o2000) | usual)
    return null
  } catch (error) {
    return { path: folder, code: (error as NodeJS.ErrnoException).code ?? String(error) }
  }
}

function withParents(into: Set<string>, path: string): void {
  for (let at = path; at !== '' && !into.has(at); at = parentOf(at)) into.add(at)
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

function isFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory()
  } catch {
    return false
  }
}
