import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fail, ok, type Result } from '../result.ts'
import { MAX_SCRIPT_BYTES, parseMeta } from './meta.ts'
import type { Runnable } from './protocol.ts'
import { loadScript } from './script.ts'

/** A folder whose direct `.js` files are workflows, named by their `meta.name`. */
export interface ScriptFolder {
  path: string
  /** Namespace of a bundle (`assay`): its scripts are found as `assay:optimize`, and as `optimize` when no one else is. */
  namespace: string | null
}

export interface FoundScript {
  name: string
  /** In the script's own words; empty when it cannot be read. */
  description: string
  /** Absolute. */
  file: string
  source: string
}

const HOST_FOLDER = join('.claude', 'workflows')

/** Project (from `cwd` upwards) before user before the bundle: where the hosts look, so one file serves all. */
export function scriptFolders(places: { cwd: string; home: string; bundled: string }): ScriptFolder[] {
  const folders: ScriptFolder[] = []
  for (let at = resolve(places.cwd); ; at = dirname(at)) {
    folders.push({ path: join(at, HOST_FOLDER), namespace: null })
    if (dirname(at) === at) break
  }
  folders.push({ path: join(places.home, HOST_FOLDER), namespace: null })
  folders.push({ path: places.bundled, namespace: 'assay' })
  return folders
}

/** A script by name. Problem `unknown_workflow`, with the names there are in `data`. */
export function findScript(name: string, folders: ScriptFolder[]): Result<FoundScript> {
  const all = folders.flatMap(list)
  const found =
    all.find((script) => script.name === name) ?? all.find((script) => script.name.endsWith(`:${name}`))
  if (found !== undefined) return ok(found)
  const available = [...new Set(all.map((script) => script.name))]
  return fail({
    kind: 'usage',
    code: 'unknown_workflow',
    message: `Workflow "${name}" not found. Available: ${available.join(', ')}`,
    data: { available },
  })
}

/** Every script that has a name, each name once: the one that it stands for. */
export function listScripts(folders: ScriptFolder[]): FoundScript[] {
  const byName = new Map<string, FoundScript>()
  for (const script of folders.flatMap(list)) {
    if (!byName.has(script.name)) byName.set(script.name, script)
  }
  return [...byName.values()]
}

/** A script by path, of any extension, relative to `cwd`. */
export function readScript(path: string, cwd: string): Result<FoundScript> {
  const file = resolve(cwd, path)
  const source = read(file)
  if (source === null) {
    return fail({
      kind: 'usage',
      code: 'unknown_workflow',
      message: `Workflow script file not found: ${file}`,
    })
  }
  const parsed = parseMeta(source)
  const { name, description } = parsed.ok ? parsed.value.meta : { name: path, description: '' }
  return ok({ name, description, file, source })
}

function list(folder: ScriptFolder): FoundScript[] {
  let names: string[]
  try {
    names = readdirSync(folder.path)
  } catch {
    // A folder that is not there holds no scripts.
    return []
  }
  return names
    .filter((name) => name.endsWith('.js'))
    .sort()
    .flatMap((name) => {
      const file = join(folder.path, name)
      const source = read(file)
      const parsed = source === null ? null : parseMeta(source)
      // A broken script is not offered by name; by path it tells what is wrong.
      if (source === null || parsed === null || !parsed.ok) return []
      const { name: own, description } = parsed.value.meta
      return [
        { name: folder.namespace === null ? own : `${folder.namespace}:${own}`, description, file, source },
      ]
    })
}

function read(file: string): string | null {
  try {
    const stat = statSync(file)
    return stat.isFile() && stat.size <= MAX_SCRIPT_BYTES ? readFileSync(file, 'utf8') : null
  } catch {
    return null
  }
}

/** The script that `workflow()` names, ready to run; a fault is reported in the words of the hosts. */
export function nestedScript(
  ref: { name: string } | { scriptPath: string },
  scripts: { cwd: string; folders: ScriptFolder[] } | null,
): { ok: true; script: Runnable } | { ok: false; message: string } {
  const folders = scripts?.folders ?? []
  const byName = 'name' in ref
  const shown = byName ? `workflow('${ref.name}')` : `workflow({scriptPath: '${ref.scriptPath}'})`
  const found = byName
    ? findScript(ref.name, folders)
    : readScript(ref.scriptPath, scripts?.cwd ?? process.cwd())
  if (!found.ok) {
    const { data } = found.problem
    const names = data as { available: string[] } | undefined
    const message =
      names === undefined
        ? found.problem.message
        : `no workflow with that name. Available: ${names.available.join(', ')}`
    return { ok: false, message: `${shown}: ${message}` }
  }
  const loaded = loadScript(found.value.source, { file: found.value.file, inline: false })
  if (!loaded.ok) return { ok: false, message: `${shown}: ${loaded.problem.message}` }
  return { ok: true, script: loaded.value.runnable }
}
