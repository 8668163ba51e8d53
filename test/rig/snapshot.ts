import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Every entry under a folder: path → kind, mode and content (sha256, or the target of a link). Two equal snapshots
 * mean that the folder is byte for byte the same. Paths in `except`, relative to the folder, are left out whole.
 */
export function snapshotTree(
  dir: string,
  { except = [] }: { except?: string[] } = {},
): Record<string, string> {
  const found: Record<string, string> = {}
  const visit = (path: string) => {
    for (const name of readdirSync(join(dir, path)).sort()) {
      const entry = path === '' ? name : `${path}/${name}`
      if (except.includes(entry)) continue
      const file = join(dir, entry)
      const stat = lstatSync(file)
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isSymbolicLink()) found[entry] = `link ${readlinkSync(file)}`
      else if (stat.isDirectory()) {
        found[entry] = `folder ${mode}`
        visit(entry)
      } else if (stat.isFile()) {
        found[entry] = `file ${mode} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`
      } else found[entry] = `other ${mode}`
    }
  }
  visit('')
  return found
}
