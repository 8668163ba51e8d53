/** Where an installation is recorded, and how its files are told from others. */
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { PluginHostName, Scope } from '../hosts/plugins.ts'
import { looseWorkflows } from '../paths.ts'

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
