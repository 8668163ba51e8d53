/**
 * Runs the fast tests on other versions of Node: `node scripts/nodes.mjs [VERSION…] [-- ARGUMENTS OF VITEST]`, for
 * example `22 -- test/workflow`. Each version is installed once, from the registry of npm, outside of this repository:
 * into `$ASSAY_NODES`, else `~/.cache/assay-nodes`, or for root `/var/tmp/assay-nodes`.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'

/** The oldest that is supported, and the long-term lines after it. */
const VERSIONS = ['20.19', '22', '24']
const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Tests of root start some commands as a user who may not enter the home folder of root. */
const shared = () =>
  process.getuid?.() === 0 ? '/var/tmp/assay-nodes' : join(homedir(), '.cache', 'assay-nodes')

/** The folder that has the program `node` of that version. */
function install(version) {
  const name = `node-${process.platform}-${process.arch}`
  const prefix = join(process.env.ASSAY_NODES || shared(), version)
  const bin = join(prefix, 'node_modules', name, 'bin')
  if (!existsSync(join(bin, 'node'))) {
    mkdirSync(prefix, { recursive: true })
    process.stderr.write(`installing Node ${version}\n`)
    const args = [
      'install',
      '--prefix',
      prefix,
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      `${name}@${version}`,
    ]
    execaSync('npm', args, { stdin: 'ignore', stdout: process.stderr, stderr: 'inherit' })
  }
  return bin
}

const at = process.argv.indexOf('--')
const asked = process.argv.slice(2, at < 0 ? undefined : at)
const more = at < 0 ? [] : process.argv.slice(at + 1)
let failed = 0
for (const version of asked.length > 0 ? asked : VERSIONS) {
  const bin = install(version)
  const node = join(bin, 'node')
  const env = { PATH: [bin, process.env.PATH].join(delimiter) }
  process.stdout.write(`Node ${execaSync(node, ['--version']).stdout}\n`)
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const ran = execaSync(node, [vitest, 'run', '--project', 'fast', ...more], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
    reject: false,
  })
  if (ran.exitCode !== 0) failed++
}
process.exitCode = failed === 0 ? 0 : 1
