/** `install`: Assay's skills into one agent program, by its own plugin commands or as copied files. */

import { existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type PluginCommands, type PluginHostName, pluginHost, type Scope } from '../hosts/plugins.ts'
import { call, next } from '../next.ts'
import { fail, ok, type Result } from '../result.ts'
import { looseSkills, stageBundle, versionOf } from './bundle.ts'
import {
  fileHash,
  hashOf,
  type InstallRecord,
  installFolder,
  readRecord,
  recordFile,
  runHost,
  traceBefore,
  type World,
  writeRecord,
} from './record.ts'
import { uninstall } from './uninstall.ts'

export interface WantedInstall {
  host: PluginHostName
  scope: Scope
  /** Top of the checkout, or where the command runs. */
  project: string
  /** Of this package. */
  root: string
  dryRun: boolean
}

export interface Installed {
  host: PluginHostName
  scope: Scope
  method: InstallRecord['method']
  version: string
  /** Commands of the host that ran, or would. */
  commands: string[]
  /** Files of ours that are there, or would be. */
  files: string[]
  /** It was there already, as it should be. */
  already: boolean
}

/**
 * Repeating it changes nothing; another version replaces the one that is there. Problems: `host_missing`,
 * `host_failed`, `already_there` (a plugin or a skill of that name that this command did not install).
 */
export async function install(wanted: WantedInstall, world: World): Promise<Result<Installed>> {
  const { host, scope, root } = wanted
  const { plugin } = pluginHost(host)
  const version = versionOf(root)
  const file = recordFile(world.env, wanted)
  const before = readRecord(file)
  const usesPlugin = plugin?.scopes.includes(scope) === true
  const plan = usesPlugin ? planPlugin(wanted, world, plugin) : planCopies(wanted, world)
  const answer = (already: boolean): Installed => ({
    host,
    scope,
    method: plan.record.method,
    version,
    commands: plan.commands.map((argv) => argv.join(' ')),
    files: Object.keys(plan.record.files),
    already,
  })
  const there = before !== null && before.version === version && (await isThere(before, plan, plugin, world))
  if (there || wanted.dryRun) return ok(answer(there))
  const free = await mayInstall(before, plan, plugin, wanted, world)
  if (!free.ok) return free
  if (before !== null) {
    const gone = await uninstall(wanted, world)
    if (!gone.ok) return gone
  }
  const record = { ...plan.record, traces: plan.record.traces.map(traceBefore) }
  writeRecord(file, record)
  const done = usesPlugin ? await addPlugin(plan, plugin, wanted, world) : writeCopies(plan)
  return done.ok ? ok(answer(false)) : done
}

interface Plan {
  record: InstallRecord
  commands: string[][]
  texts: Map<string, string>
}

function planPlugin(
  { host, scope, project, root }: WantedInstall,
  { env }: World,
  plugin: PluginCommands,
): Plan {
  const bundle = join(installFolder(env, host, scope === 'user' ? null : project), 'assay')
  const traces = plugin.traces(env, scope, project).map((trace) => ({ ...trace, existed: false, had: [] }))
  const version = versionOf(root)
  return {
    record: { version, host, scope, project, method: 'plugin', bundle, files: {}, folders: [], traces },
    commands: plugin.install(bundle, scope),
    texts: new Map(),
  }
}

function planCopies({ host, scope, project, root }: WantedInstall, { env }: World): Plan {
  const { skills } = pluginHost(host)
  const folder = scope === 'user' ? skills.user(env) : join(project, skills.project)
  const texts = new Map([...looseSkills(root)].map(([path, text]) => [join(folder, path), text]))
  const files = Object.fromEntries([...texts].map(([path, text]) => [path, hashOf(text)]))
  const folders = [...new Set([...texts.keys()].flatMap((path) => missingAbove(dirname(path))))]
  const version = versionOf(root)
  return {
    record: { version, host, scope, project, method: 'copied', bundle: null, files, folders, traces: [] },
    commands: [],
    texts,
  }
}

/** Outermost first. */
function missingAbove(folder: string): string[] {
  if (existsSync(folder) || dirname(folder) === folder) return []
  return [...missingAbove(dirname(folder)), folder]
}

async function isThere(
  before: InstallRecord,
  { record }: Plan,
  plugin: PluginCommands | null,
  world: World,
): Promise<boolean> {
  if (before.method !== record.method) return false
  if (before.method === 'copied' || plugin === null)
    return Object.entries(record.files).every(([path, hash]) => fileHash(path) === hash)
  if (before.bundle === null || !existsSync(join(before.bundle, 'plugin.json'))) return false
  const listed = await runHost(plugin.list(before.scope), world)
  return listed.ok && plugin.listed.test(listed.value)
}

/** Whether what stands in the place is ours, or nothing. */
async function mayInstall(
  before: InstallRecord | null,
  { record, texts }: Plan,
  plugin: PluginCommands | null,
  { host, scope }: WantedInstall,
  world: World,
): Promise<Result<void>> {
  if (record.method === 'plugin' && plugin !== null) {
    const listed = await runHost(plugin.list(scope), world)
    if (!listed.ok) return listed
    if (before !== null || !plugin.listed.test(listed.value)) return ok(undefined)
    return theirs(`${host} has a plugin assay already`, 'remove it with the host’s own command, or leave it')
  }
  const foreign = [...texts.keys()].filter((path) => isTaken(path) && before?.files[path] === undefined)
  if (foreign.length === 0) return ok(undefined)
  return theirs(`these exist already: ${foreign.join(', ')}`, 'move it away, then repeat the command')
}

const theirs = (what: string, hint: string) =>
  fail({
    kind: 'refused',
    code: 'already_there',
    message: `${what}, and assay install did not put it there`,
    hint,
  })

async function addPlugin(
  { record, commands }: Plan,
  plugin: PluginCommands,
  { root, scope }: WantedInstall,
  world: World,
): Promise<Result<void>> {
  if (record.bundle !== null) stageBundle(root, record.bundle)
  for (const argv of commands) {
    const done = await runHost(argv, world)
    if (!done.ok) return done
  }
  const listed = await runHost(plugin.list(scope), world)
  if (!listed.ok) return listed
  if (plugin.listed.test(listed.value)) return ok(undefined)
  return fail({
    kind: 'failed',
    code: 'host_failed',
    message: `${plugin.list(scope).join(' ')} does not show assay after ${commands.map((argv) => argv.join(' ')).join('; ')}`,
    hint: next`undo it: ${call('uninstall')}, then check the host`,
  })
}

function writeCopies({ texts }: Plan): Result<void> {
  for (const [path, text] of texts) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return ok(undefined)
}

const isTaken = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined
