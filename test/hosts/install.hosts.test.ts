import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pluginHostNames } from '../../cli/hosts/plugins.ts'
import { binFolders } from '../../scripts/install-hosts.mjs'
import { assay, dataOf } from '../rig/assay.ts'
import { makeRepo } from '../rig/repo.ts'
import { makeTemp } from '../rig/temp.ts'

describe.each(pluginHostNames)('%s', (host) => {
  test('the real one does not list the plugin, or something of it stays behind', async () => {
    const home = makeTemp('user')
    const { dir } = makeRepo({ files: { 'a.txt': 'a\n' } })
    const PATH = [...binFolders(), dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
    const env = {
      HOME: home,
      XDG_CONFIG_HOME: undefined,
      XDG_STATE_HOME: undefined,
      XDG_CACHE_HOME: undefined,
      XDG_DATA_HOME: undefined,
      PATH,
    }
    const run = async (verb: string) =>
      dataOf(await assay<Record<string, unknown>>([verb, host, '--json'], { cwd: dir, env }))
    // That the host lists it is part of `install`, and of seeing that it is there already.
    expect(await run('install')).toMatchObject({ host, already: false })
    expect(await run('install')).toMatchObject({ host, already: true })
    expect(mentions(home)).not.toEqual([])
    expect(await run('uninstall')).toMatchObject({ was_there: true, kept: [] })
    expect(mentions(home)).toEqual([])
  })
})

/** Files that have `assay` in their path, and settings that speak of it; logs and caches of the host are its own. */
function mentions(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((path) => {
    if (/(^|\/)(logs?|telemetry|debug|backups|\.cache|\.tmp)(\/|$)/.test(path)) return false
    if (/(^|\/)assay(-\w+)?(\/|$)/.test(path)) return true
    const file = join(home, path)
    return (
      /settings(\.local)?\.json$|config\.toml$|enablement\.json$/.test(path) &&
      existsSync(file) &&
      readFileSync(file, 'utf8').includes('assay')
    )
  })
}
