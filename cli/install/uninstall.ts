/** `uninstall`: exactly what `install` made, and nothing that someone has changed since. */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { type PluginHostName, pluginHost, type Scope } from '../hosts/plugins.ts'
import { ok, type Result } from '../result.ts'
import {
  fileHash,
  type InstallRecord,
  readRecord,
  recordFile,
  removeTrace,
  runHost,
  type World,
} from './record.ts'

export interface Uninstalled {
  host: PluginHostName
  scope: Scope
  /** False: there was nothing of ours. */
  was_there: boolean
  commands: string[]
  /** Files and folders that are gone. */
  removed: string[]
  /** Ours once, but changed since: left where they are. */
  kept: string[]
}

export interface Removal {
  host: PluginHostName
  scope: Scope
  project: string
  dryRun: boolean
}

/** Problems `host_missing` and `host_failed`; then the record stays, so that it can be repeated. */
export async function uninstall(wanted: Removal, world: World): Promise<Result<Uninstalled>> {
  const { host, scope, dryRun } = wanted
  const file = recordFile(world.env, wanted)
  const record = readRecord(file)
  const { plugin } = pluginHost(host)
  const answer: Uninstalled = { host, scope, was_there: record !== null, commands: [], removed: [], kept: [] }
  if (record === null) return ok(answer)
  const byCommands = record.method === 'plugin' && plugin !== null
  const commands = byCommands ? plugin.uninstall(record.bundle ?? '', scope) : []
  answer.commands = commands.map((argv) => argv.join(' '))
  answer.kept = Object.keys(record.files).filter((path) => existsSync(path) && !isOurs(record, path))
  if (dryRun) {
    answer.removed = Object.keys(record.files).filter((path) => isOurs(record, path))
    return ok(answer)
  }
  if (byCommands) {
    const listed = await runHost(plugin.list(scope), world)
    if (!listed.ok) return listed
    const there = plugin.listed.test(listed.value)
    for (const argv of commands) {
      const done = await runHost(argv, world)
      // An installation that was cut short has only some of it.
      if (!done.ok && there) return done
    }
  }
  answer.removed = [...removeFiles(record), ...record.traces.flatMap(removeTrace)]
  rmSync(dirname(file), { recursive: true, force: true })
  for (let folder = dirname(dirname(file)), up = 0; up < 2; folder = dirname(folder), up++)
    removeIfEmpty(folder)
  return ok(answer)
}

const isOurs = (record: InstallRecord, path: string): boolean => fileHash(path) === record.files[path]

function removeFiles(record: InstallRecord): string[] {
  const removed = Object.keys(record.files).filter((path) => isOurs(record, path))
  for (const path of removed) rmSync(path)
  return [...removed, ...[...record.folders].reverse().filter(removeIfEmpty)]
}

function removeIfEmpty(folder: string): boolean {
  try {
    if (readdirSync(folder).length > 0) return false
    rmdirSync(folder)
    return true
  } catch {
    return false
  }
}
