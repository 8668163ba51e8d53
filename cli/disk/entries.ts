/** Everything below a folder with its stamps: two lists are equal when no program wrote there in between. */
import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { fileStamp } from './inventory.ts'

export type DiskEntryKind = 'folder' | 'file' | 'link' | 'other'

export interface DiskEntry {
  kind: DiskEntryKind
  /** Of a folder without its size and links: these follow from the entries. */
  stamp: string
  mode: number
  /** Of a file, in bytes; else 0. */
  size: number
}

/** Path relative to `top` → entry, parents before what is in them. Follows no link. Throws what the system says. */
export function entriesBelow(top: string): Map<string, DiskEntry> {
  const found = new Map<string, DiskEntry>()
  const open = ['']
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const name of readdirSync(join(top, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`
      const entry = entryOf(lstatSync(join(top, path)))
      found.set(path, entry)
      if (entry.kind === 'folder') open.push(path)
    }
  }
  return found
}

function entryOf(stat: Stats): DiskEntry {
  const kind = kindOf(stat)
  const stamp = kind === 'folder' ? `${stat.ino} ${stat.ctimeMs} ${stat.mode}` : fileStamp(stat)
  return { kind, stamp, mode: stat.mode & 0o7777, size: kind === 'file' ? stat.size : 0 }
}

const kindOf = (stat: Stats): DiskEntryKind =>
  stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : stat.isSymbolicLink() ? 'link' : 'other'
