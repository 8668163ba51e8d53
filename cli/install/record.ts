/** What an installation made, written before it is made: whatever happens, `uninstall` knows what may be there. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PluginHostName, Scope, Trace } from '../hosts/plugins.ts'

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

export interface TraceBefore extends Trace {
  existed: boolean
  /** Those of `keys` that were there. */
  had: string[]
}

export function readRecord(file: string): InstallRecord | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as InstallRecord
  } catch {
    return null
  }
}

export function writeRecord(file: string, record: InstallRecord): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}
