import type { Runnable } from './protocol.ts'
import { loadScript } from './script.ts'
import { findScript, readScript, type ScriptFolder } from './scripts.ts'

/** The script that `workflow()` names, ready to run; what is wrong is told in the hosts' words. */
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
