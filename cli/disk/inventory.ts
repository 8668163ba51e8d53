/**
 * Everything that lies in a folder, by stamps: what a program changed, also what it changed and put back, what it added,
 * and how its folders were. One walk with `lstat`; no file is read.
 */
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  type PathLike,
  readdirSync,
  readlinkSync,
  renameSync,
  type Stats,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { join } from 'node:path'
import { giveRights, type Obstacle, removeTree } from './remove.ts'

export interface Inventory {
  /** Absolute. */
  top: string
  root: Folder
}

interface Folder {
  /** See `markOf`. */
  mark: string
  mode: number
  /** Milliseconds, as the folder had it when it was listed. */
  atime: number
  mtime: number
  /** Name → stamp; `''` for a file that is gone. */
  files: Map<string, string>
  folders: Map<string, Folder>
}

export interface PutBack {
  /**
   * Files that are not as they were when last looked at, or gone, relative to the top. They stay as they are. Folders that
   * were moved away and back, with a `/` at the end.
   */
  changed: string[]
  /** Files that were moved to clean their folder: their new stamps. */
  moved: Map<string, string>
  /** What did not belong there and was removed, relative to the top; folders with a `/` at the end. */
  made: string[]
  /**
   * Folders, with a `/` at the end, whose entries changed although all is as it was: something was made there and removed
   * again. Their times or attributes may have changed instead.
   */
  entered: string[]
  /** The top is a new folder now, made by us. */
  remade: boolean
  /** What could not be removed or put back; null when all is as it was. */
  obstacle: Obstacle | null
  /** The top is no longer the folder that was listed. Then nothing was looked at or touched. */
  lost: boolean
}

/** Size, inode, change time and mode. The change time cannot be set by a program, so a file that was written is seen. */
export const fileStamp = ({ size, ino, ctimeMs, mode }: Stats): string => `${size} ${ino} ${ctimeMs} ${mode}`
/** Entries, attributes and rights of a folder cannot change without it. */
const markOf = ({ ino, ctimeMs }: Stats): string => `${ino} ${ctimeMs}`

/**
 * Whether this folder, which holds something, was moved and moved back: its change time is new, and it is not that of a
 * change to its entries. Times and attributes that were set look the same. Rights that differ say enough: they are put back.
 */
function wasMoved(now: Stats, { mark, mode, files, folders }: Folder): boolean {
  if (markOf(now) === mark || String(now.ino) !== mark.split(' ')[0]) return false
  return now.ctimeMs !== now.mtimeMs && now.mode === mode && files.size + folders.size > 0
}

/** Whether more than its rights changed. Who sets back its time and changes its rights as well is not seen. */
const wasEntered = (now: Stats, folder: Folder): boolean =>
  markOf(now) !== folder.mark && (now.mtimeMs !== folder.mtime || now.mode === folder.mode)

/** Lists a folder in which no process works. Folders without the owner's rights get them. */
export function takeInventory(top: string): Inventory {
  return { top, root: list(top) }
}

/** Of a folder that was not looked at: everything in it is new. */
export const nothingIn = (top: string): Inventory => ({
  top,
  root: { mark: '', mode: 0o755, atime: 0, mtime: 0, files: new Map(), folders: new Map() },
})

/**
 * Removes what was added since, gives folders the rights and times that they had, and makes again each folder that was
 * written to or got an attribute: nothing else takes away what a program may have left on it. Files that changed are
 * named and stay. The inventory is then as the folder is. `aside` is a path on the same disk where nothing lies.
 */
export function putBack(inventory: Inventory, aside: string): PutBack {
  const { top, root } = inventory
  const done: PutBack = {
    changed: [],
    moved: new Map(),
    made: [],
    entered: [],
    remade: false,
    obstacle: null,
    lost: false,
  }
  const now = statOf(top)
  if (!now?.isDirectory() || markOf(now).split(' ')[0] !== root.mark.split(' ')[0])
    return { ...done, lost: true }
  done.remade = visit({ path: top, name: '', folder: root }, aside, done)
  return done
}

/** Files that changed since the last look, or are gone, and folders that were moved. Nothing is removed or put back. */
export function changedIn({ top, root }: Inventory): string[] {
  const changed: string[] = []
  const open: [string, Folder][] = [['', root]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, { files, folders }] = next
    for (const [key, known] of files) {
      const found = statOf(placeOf(`${top}/${name.slice(0, -1)}`, key))
      const stamp = found ? fileStamp(found) : ''
      if (stamp === known) continue
      changed.push(`${name}${key}`)
      files.set(key, stamp)
    }
    for (const [key, one] of folders) {
      const now = statOf(`${top}/${name}${key}`)
      if (now?.isDirectory() && wasMoved(now, one)) changed.push(`${name}${key}/`)
      open.push([`${name}${key}/`, one])
    }
  }
  return changed
}

interface Here {
  path: string
  /** Relative to the top, with a `/` at its end; empty for the top. */
  name: string
  folder: Folder
}

/** Whether the folder is another one now: then the one above was changed, too. */
function visit({ path, name, folder }: Here, aside: string, done: PutBack): boolean {
  let now = statOf(path)
  if (!now?.isDirectory()) {
    remove(path, done)
    if (!tried(path, done, () => mkdirSync(path))) return false
    now = statOf(path)
  }
  // Before anything below is touched: what we do there ourselves changes it as well.
  const written = now === null || markOf(now) !== folder.mark
  if (now && name !== '' && wasMoved(now, folder)) done.changed.push(name)
  const seen = new Set<string>()
  const before = done.made.length + done.changed.length
  if (written) giveRights(path)
  for (const { key, at } of entriesOf(path)) {
    const known = folder.files.get(key)
    if (known === undefined && folder.folders.has(key)) continue
    const found = statOf(at)
    if (known === undefined) {
      done.made.push(`${name}${key}${found?.isDirectory() ? '/' : ''}`)
      remove(at, done)
      continue
    }
    // A folder with a name that is no text is looked at as a whole.
    if (found?.isDirectory() && typeof at === 'string') {
      remove(at, done)
      continue
    }
    seen.add(key)
    const stamp = found ? fileStamp(found) : ''
    if (stamp === known) continue
    done.changed.push(`${name}${key}`)
    folder.files.set(key, stamp)
  }
  if (seen.size < folder.files.size) {
    for (const [key, known] of folder.files) {
      if (seen.has(key) || known === '') continue
      done.changed.push(`${name}${key}`)
      folder.files.set(key, '')
    }
  }
  const hasNew = done.made.length + done.changed.length > before
  if (now && wasEntered(now, folder) && !hasNew) done.entered.push(name)
  let below = false
  for (const [key, one] of folder.folders) {
    if (visit({ path: `${path}/${key}`, name: `${name}${key}/`, folder: one }, aside, done)) below = true
  }
  const remade = written && tried(path, done, () => remake(path, folder, aside))
  if (!remade && !below) return false
  const { atime, mtime, mode } = folder
  tried(path, done, () => {
    if (remade) chmodSync(path, mode & 0o7777)
    utimesSync(path, atime / 1000, mtime / 1000)
  })
  if (remade) restamp({ path, name, folder }, done)
  const restored = statOf(path)
  folder.mark = restored ? markOf(restored) : ''
  folder.mtime = restored?.mtimeMs ?? mtime
  return remade
}

/** A new folder in the place of the old one, with the same entries. */
function remake(path: string, { files, folders }: Folder, aside: string): void {
  mkdirSync(aside)
  for (const name of [...files.keys(), ...folders.keys()]) {
    if (files.get(name) !== '') renameSync(placeOf(path, name), placeOf(aside, name))
  }
  renameSync(aside, path)
}

/** To move an entry changes its change time. */
function restamp({ path, name, folder: { files, folders } }: Here, done: Pick<PutBack, 'moved'>): void {
  for (const [key, before] of files) {
    if (before === '') continue
    const found = statOf(placeOf(path, key))
    const stamp = found ? fileStamp(found) : ''
    files.set(key, stamp)
    done.moved.set(`${name}${key}`, stamp)
  }
  for (const [key, one] of folders) one.mark = markHere(`${path}/${key}`)
}

function remove(path: string | Buffer, done: PutBack): void {
  const obstacle = removeTree(path)
  done.obstacle ??= obstacle
}

function tried(path: string, done: Pick<PutBack, 'obstacle'>, act: () => void): boolean {
  try {
    act()
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    done.obstacle ??= { path, code }
    return false
  }
}

function list(path: string): Folder {
  giveRights(path)
  const files = new Map<string, string>()
  const folders = new Map<string, Folder>()
  for (const { key, at } of entriesOf(path)) {
    const found = statOf(at)
    if (found?.isDirectory() && typeof at === 'string') folders.set(key, list(at))
    else files.set(key, found ? fileStamp(found) : '')
  }
  const { mode, atimeMs: atime, mtimeMs } = lstatSync(path)
  // To the precision with which it can be set again: else its last digits would tell that it was.
  utimesSync(path, atime / 1000, mtimeMs / 1000)
  // A time that is set is rounded.
  const now = lstatSync(path)
  return { mark: markOf(now), mode, atime, mtime: now.mtimeMs, files, folders }
}

const markHere = (path: string): string => {
  const found = statOf(path)
  return found ? markOf(found) : ''
}

/** null when nothing is there, or it cannot be looked at. */
function statOf(path: PathLike): Stats | null {
  try {
    return lstatSync(path)
  } catch {
    return null
  }
}

const NO_TEXT = '\ufffd'

/** `key` is the name; of a name that is no UTF-8, a text that no other name has. */
function* entriesOf(folder: string): Generator<{ key: string; at: string | Buffer }> {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return
  }
  if (!names.some((name) => name.includes(NO_TEXT))) {
    for (const key of names) yield { key, at: `${folder}/${key}` }
    return
  }
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    const key = name.toString()
    if (Buffer.from(key).equals(name)) yield { key, at: `${folder}/${key}` }
    else yield { key: `\0${name.toString('latin1')}`, at: placeOf(folder, `\0${name.toString('latin1')}`) }
  }
}

const placeOf = (folder: string, key: string): string | Buffer =>
  key.startsWith('\0')
    ? Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(key.slice(1), 'latin1')])
    : `${folder}/${key}`

// ---------------------------------------------------------------- ages

/** Relative to the top; folders with a `/` at the end, the top itself is empty. */
export interface Young {
  /** By their change times. */
  files: string[]
  /** By their birth times: also those that `putBack` made again. */
  folders: string[]
}

/** What was written or made since then, in milliseconds by the clock of the disk. */
export function youngIn({ top, root }: Inventory, since: number): Young {
  const young: Young = { files: [], folders: [] }
  const open: [string, Folder][] = [['', root]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, { files, folders }] = next
    if ((statOf(`${top}/${name}`)?.birthtimeMs ?? 0) >= since) young.folders.push(name)
    for (const [key, stamp] of files)
      if (Number(stamp.split(' ')[2]) >= since) young.files.push(`${name}${key}`)
    for (const [key, one] of folders) open.push([`${name}${key}/`, one])
  }
  return young
}

export interface Renewal {
  /** `renew` writes each of them again with the same content, so it gets new times, a new time of birth and a new inode. */
  files: ReadonlySet<string>
  /** `renew` makes each of them again with the same entries. */
  folders: ReadonlySet<string>
  /** Folders that get a new modification time. All folders get a new change time. */
  changed: ReadonlySet<string>
}

/**
 * Makes files and folders as young as if they had been written now. Paths as in `Young`; what is not there is left out. The
 * inventory is then as the folder is, and `moved` has the new stamps of files that it wrote or moved.
 */
export function renew(
  { top, root }: Inventory,
  wanted: Renewal,
  aside: string,
): Pick<PutBack, 'moved' | 'obstacle'> {
  const done: Pick<PutBack, 'moved' | 'obstacle'> = { moved: new Map(), obstacle: null }
  renewIn({ path: top, name: '', folder: root }, wanted, aside, done)
  return done
}

function renewIn(
  { path, name, folder }: Here,
  wanted: Renewal,
  aside: string,
  done: Pick<PutBack, 'moved' | 'obstacle'>,
): void {
  if (wanted.folders.has(name))
    tried(path, done, () => {
      remake(path, folder, aside)
      chmodSync(path, folder.mode & 0o7777)
      restamp({ path, name, folder }, done)
    })
  for (const [key, before] of folder.files) {
    if (before === '' || !wanted.files.has(`${name}${key}`)) continue
    const at = placeOf(path, key)
    tried(`${path}/${key}`, done, () => {
      writeAnew(at, aside)
      const stamp = fileStamp(lstatSync(at))
      folder.files.set(key, stamp)
      done.moved.set(`${name}${key}`, stamp)
    })
  }
  for (const [key, one] of folder.folders)
    renewIn({ path: `${path}/${key}`, name: `${name}${key}/`, folder: one }, wanted, aside, done)
  // After what is in it, which changes these times.
  tried(path, done, () => {
    const isChanged = wanted.changed.has(name)
    const [atime, mtime] = isChanged ? [Date.now(), Date.now()] : [folder.atime, folder.mtime]
    utimesSync(path, atime / 1000, mtime / 1000)
    const now = lstatSync(path)
    Object.assign(folder, { mark: markOf(now), atime, mtime: now.mtimeMs })
  })
}

function writeAnew(at: PathLike, aside: string): void {
  const found = lstatSync(at)
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(at, { encoding: 'buffer' }), aside)
  else if (found.isFile()) {
    copyFileSync(at, aside, constants.COPYFILE_FICLONE)
    chmodSync(aside, found.mode & 0o7777)
  } else return
  renameSync(aside, at)
}

// ---------------------------------------------------------------- as a flat list: two lists are equal when no program wrote there in between

type DiskEntryKind = 'folder' | 'file' | 'link' | 'other'

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
