/** Copies and moves what programs left: files, folders, links, or anything else. */
import { accessSync, type CopySyncOptions, constants, cpSync, lstatSync, renameSync } from 'node:fs'
import { removeTree } from './remove.ts'

/**
 * Files, folders and links as they are. Sockets and pipes are left out: they belong to processes that have ended. So is a file
 * that its owner cannot read, since no later job can read it either.
 */
export const AS_LEFT: CopySyncOptions = {
  recursive: true,
  preserveTimestamps: true,
  verbatimSymlinks: true,
  mode: constants.COPYFILE_FICLONE,
  filter: (from) => {
    const found = lstatSync(from)
    if (found.isSymbolicLink()) return true
    return (found.isFile() || found.isDirectory()) && isReadable(from, found.isDirectory())
  },
}

function isReadable(path: string, folder: boolean): boolean {
  try {
    accessSync(path, folder ? constants.R_OK | constants.X_OK : constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** To where nothing is, also on another file system: the disk of a node is mostly not the one that it shares. */
export function moveTree(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    cpSync(from, to, AS_LEFT)
    removeTree(from)
  }
}
