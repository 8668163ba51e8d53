/** Finds the script of a workflow that a person names: in the project, in the home folder, or among those of Assay. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { call, next } from '../next.ts'
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
  return file ? withNamesHint(readScript(text, cwd)) : scriptByName(text, cwd)
}

export const scriptByName = (name: string, cwd: string): Result<FoundScript> =>
  withNamesHint(findScript(name, workflowFolders(cwd)))

const NAMES = next`${call('workflow list')} shows the names; a path has a slash, or ends with .js`

/** If no script has the name that a person gave, the hint of the problem says how to list the names. */
export const withNamesHint = <T>(found: Result<T>): Result<T> =>
  found.ok || found.problem.code !== 'unknown_workflow'
    ? found
    : { ok: false, problem: { ...found.problem, hint: NAMES } }

/** What a spec's `loop.workflow` names. A built-in name means the built-in workflow, even if the project has one of that name. */
export function loopScript(text: string, checkout: string): Result<FoundScript> {
  if (isPath(text)) return withNamesHint(readScript(text, checkout))
  const folders = workflowFolders(checkout)
  const ours = findScript(`assay:${text}`, folders)
  return ours.ok ? ours : withNamesHint(findScript(text, folders))
}
