/** Where the workflows are that verbs name. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Result } from '../result.ts'
import {
  type FoundScript,
  findScript,
  readScript,
  type ScriptFolder,
  scriptFolders,
} from '../workflow/scripts.ts'

const BUNDLED = fileURLToPath(new URL('../../workflows', import.meta.url))

export const workflowFolders = (cwd: string): ScriptFolder[] =>
  scriptFolders({ cwd, home: homedir(), bundled: BUNDLED })

const isPath = (text: string) => text.includes('/') || text.endsWith('.js')

/** A path, or the name of a workflow; a file in the current folder is preferred to a name. */
export function scriptNamed(text: string, cwd: string): Result<FoundScript> {
  const file = isPath(text) || existsSync(resolve(cwd, text))
  return file ? readScript(text, cwd) : findScript(text, workflowFolders(cwd))
}

/** What a spec's `loop.workflow` names. A built-in name means the built-in workflow, even if the project has one of that name. */
export function loopScript(text: string, checkout: string): Result<FoundScript> {
  if (isPath(text)) return readScript(text, checkout)
  const folders = workflowFolders(checkout)
  const ours = findScript(`assay:${text}`, folders)
  return ours.ok ? ours : findScript(text, folders)
}
