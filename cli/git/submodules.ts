/** Submodules: a tree holds only the name of their commit, so what is edited inside of one is in no candidate. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ok, type Result } from '../result.ts'
import { readStatus } from './checkout.ts'
import { type GitOptions, gitFields } from './git.ts'
import { presence } from './stage.ts'

export interface SubmoduleEdit {
  /** From the root of the worktree. */
  path: string
  untracked: boolean
}

const MOST = 1000

/**
 * Files that differ from the commit that a submodule has checked out, and files in the folder of one that was never
 * filled. `options` name the worktree and an index of its tree.
 */
export async function submoduleEdits(options: GitOptions): Promise<Result<SubmoduleEdit[]>> {
  const listed = await gitFields(['ls-files', '-z', '--stage'], options)
  if (!listed.ok) return listed
  const top = options.workTree ?? ''
  const edits: SubmoduleEdit[] = []
  for (const line of listed.value) {
    if (!line.startsWith('160000 ')) continue
    const path = line.slice(line.indexOf('\t') + 1)
    const kind = await presence(top, path)
    if (kind === 'folder') {
      edits.push(
        ...(await filesIn(join(top, path))).map((at) => ({ path: `${path}/${at}`, untracked: true })),
      )
    } else if (kind === 'repository') {
      const status = await readStatus(join(top, path))
      if (!status.ok) return status
      for (const dirty of status.value.dirty)
        edits.push({ path: `${path}/${dirty.path}`, untracked: dirty.kind === 'untracked' })
    }
  }
  return ok(edits)
}

async function filesIn(folder: string): Promise<string[]> {
  const found: string[] = []
  const open = ['']
  for (let at = open.pop(); at !== undefined && found.length < MOST; at = open.pop()) {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true }).catch(() => [])) {
      const path = [at, entry.name].filter(Boolean).join('/')
      if (entry.isDirectory()) open.push(path)
      else found.push(path)
    }
  }
  return found
}
