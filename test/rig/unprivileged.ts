import { chmodSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execaSync } from 'execa'
import type { Options } from './assay.ts'
import { makeTemp } from './temp.ts'

/** By its number: the user that owns nothing. */
const NOBODY = 65_534

/**
 * Gives folders to a user without rights, and answers how to run the CLI as that user: root ignores the modes of files.
 * When the tests do not run as root, the folders stay and the user is the caller.
 */
export function unprivileged(...folders: string[]): Pick<Options, 'user' | 'env'> {
  if (process.getuid?.() !== 0) return {}
  const home = makeTemp('nobody')
  const env: Record<string, string> = { HOME: home }
  for (const name of ['config', 'cache', 'state', 'runtime']) {
    const folder = join(home, name)
    mkdirSync(folder, { mode: 0o700 })
    env[`XDG_${name.toUpperCase()}_${name === 'runtime' ? 'DIR' : 'HOME'}`] = folder
  }
  // The folder that holds all others is open to its owner only.
  chmodSync(dirname(home), 0o755)
  for (const folder of [home, ...folders])
    execaSync('chown', ['--recursive', '--no-dereference', `${NOBODY}:${NOBODY}`, folder])
  return { user: NOBODY, env }
}
