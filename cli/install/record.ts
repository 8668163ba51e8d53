/** What an installation made, written before it is made: whatever happens, `uninstall` knows what may be there. */
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileJson } from '../files.ts'
import type { PluginHostName, PluginTrace, Scope } from '../hosts/plugins.ts'
import { isRecord } from '../json.ts'
import { looseWorkflows } from '../paths.ts'
import { fail, ok, type Result } from '../result.ts'

// ---------------------------------------------------------------- the record of an installation, and the marks of its files

/** What was made for one host: for the user, or in one checkout. Beside the workflows that belong to no repository. */
export const installFolder = (env: NodeJS.ProcessEnv, host: string, checkout: string | null): string => {
  const place = checkout === null ? '' : `-${hashOf(checkout).slice(0, 12)}`
  return join(dirname(looseWorkflows(env)), 'installs', `${host}${place}`)
}

export const recordFile = (
  env: NodeJS.ProcessEnv,
  { host, scope, project }: { host: PluginHostName; scope: Scope; project: string },
): string => join(installFolder(env, host, scope === 'user' ? null : project), 'install.json')

export const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

/** Null for anything but a file: a link is not what was written. */
export function fileHash(path: string): string | null {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? hashOf(readFileSync(path)) : null
}

// ----------------------------------------------------------------
// What a host's own commands leave behind: noticed before, taken away afterwards, and never more than was
// added.

const OURS = new Set(['assay', 'assay@assay'])

export const traceBefore = (trace: PluginTrace): TraceBefore => {
  const path = trace.folder ?? trace.file ?? ''
  const found = trace.file === undefined ? null : objectInFile(trace.file)
  const had = (trace.keys ?? []).filter((key) => found !== null && key in found)
  return { ...trace, existed: existsSync(path), had }
}

/** Answers the paths that were written or removed. What is not JSON, or holds anything of others, stays. */
export function removeTrace({ folder, file, keys = [], existed, had }: TraceBefore): string[] {
  if (folder !== undefined) {
    if (existed || !existsSync(folder)) return []
    rmSync(folder, { recursive: true, force: true })
    return [folder]
  }
  if (file === undefined || !existsSync(file)) return []
  const text = readFileSync(file, 'utf8')
  const found = objectInFile(file)
  const rest = found === null ? null : without(found, keys, had)
  const empty = text.trim() === '' || (rest !== null && Object.keys(rest).length === 0)
  if (!existed && empty) {
    rmSync(file)
    return [file]
  }
  if (rest === null || JSON.stringify(rest) === JSON.stringify(found)) return []
  writeFileSync(`${file}.new`, `${JSON.stringify(rest, null, 2)}\n`)
  renameSync(`${file}.new`, file)
  return [file]
}

function without(
  found: Record<string, unknown>,
  keys: readonly string[],
  had: readonly string[],
): Record<string, unknown> {
  const rest = { ...found }
  for (const key of keys) {
    const value = rest[key]
    if (OURS.has(key)) {
      if (!had.includes(key)) delete rest[key]
      continue
    }
    if (typeof value !== 'object' || value === null) continue
    const left = Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).filter(([name]) => !OURS.has(name)))
    if (Object.keys(left).length === 0 && !had.includes(key)) delete rest[key]
    else rest[key] = left
  }
  return rest
}

function objectInFile(file: string): Record<string, unknown> | null {
  const value: unknown = fileJson(file)
  return isRecord(value) ? value : null
}

// ---------------------------------------------------------------- runs a host's own plugin commands

/** Some load themselves for seconds; none of these asks a model. */
const LIMIT_MS = 120_000
const SAID = 600

export interface World {
  env: NodeJS.ProcessEnv
  cwd: string
  signal: AbortSignal
}

/** Its output. Problems: `host_missing`, `host_failed` with the host's own words. */
export async function runHost(argv: readonly string[], world: World): Promise<Result<string>> {
  const [program = '', ...args] = argv
  const { execa } = await import('execa')
  const done = await execa(program, args, {
    cwd: world.cwd,
    env: world.env,
    extendEnv: false,
    cancelSignal: world.signal,
    timeout: LIMIT_MS,
    input: '',
    all: true,
    reject: false,
  })
  if (done.exitCode === 0) return ok(done.all)
  if (done.code === 'ENOENT' || done.code === 'EACCES') {
    return fail({
      kind: 'refused',
      code: 'host_missing',
      message: `${program} could not be started: ${done.originalMessage}`,
      hint: `install ${program} and make sure that it is on PATH, then repeat the command`,
    })
  }
  const how = done.timedOut
    ? `gave no answer within ${LIMIT_MS / 1000} s`
    : `failed (${done.exitCode ?? done.signal ?? done.originalMessage})`
  return fail({
    kind: 'failed',
    code: 'host_failed',
    message: `${argv.join(' ')} ${how}: ${(done.all ?? '').trim().slice(-SAID)}`,
    hint: 'the message is that of the host; correct the cause there, then repeat the command',
  })
}

export interface InstallRecord {
  version: string
  host: PluginHostName
  scope: Scope
  /** Top of the checkout; with scope `user` where the command ran. */
  project: string
  method: 'plugin' | 'copied'
  /** The copy of Assay's plugin that the host reads; null for copied skills. */
  bundle: string | null
  /** Copied files, absolute, with the SHA-256 of what was written. */
  files: Record<string, string>
  /** Folders that were not there, outermost first. */
  folders: string[]
  /** As they were before. */
  traces: TraceBefore[]
}

export interface TraceBefore extends PluginTrace {
  existed: boolean
  /** Those of `keys` that were there. */
  had: string[]
}

export const readRecord = (file: string): InstallRecord | null => fileJson(file)

export function writeRecord(file: string, record: InstallRecord): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}
