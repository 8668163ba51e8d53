/**
 * Installs the agent programs that `npm run test:hosts` drives, each at a fixed version in a folder of its own below
 * $ASSAY_HOSTS or the user's cache; never inside this repository. What is there already is left alone. Prints the folder.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'

/** Program on PATH → package and version. Taking a newer one means running the tests of hosts again. */
export const PACKAGES = {
  claude: ['@anthropic-ai/claude-code', '2.1.197'],
  codex: ['@openai/codex', '0.171.0'],
  opencode: ['opencode-ai', '1.18.33'],
  pi: ['@mariozechner/pi-coding-agent', '0.73.1'],
  gemini: ['@google/gemini-cli', '0.61.0'],
  qwen: ['@qwen-code/qwen-code', '0.15.10'],
  copilot: ['@github/copilot', '1.0.102'],
}

export const hostsFolder = () =>
  process.env.ASSAY_HOSTS ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'assay-hosts')

/** Folders to put on PATH, in which the programs are. */
export const binFolders = () => [
  ...Object.keys(PACKAGES).map((name) => join(hostsFolder(), name, 'node_modules', '.bin')),
  join(hostsFolder(), 'rgbin'),
]

function install(name) {
  const [pack, version] = PACKAGES[name]
  const prefix = join(hostsFolder(), name)
  if (installedVersion(prefix, pack) === version && existsSync(join(prefix, 'node_modules', '.bin', name)))
    return
  mkdirSync(prefix, { recursive: true })
  process.stderr.write(`installing ${pack}@${version}\n`)
  const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--loglevel=error']
  const ended = execaSync('npm', [...args, `${pack}@${version}`], {
    stdin: 'ignore',
    stdout: process.stderr,
    stderr: 'inherit',
    env: { ...PATIENCE, ...process.env },
    timeout: LONGEST_MS,
    reject: false,
  })
  if (ended.exitCode === 0) return
  const how = ended.timedOut
    ? `npm took longer than ${LONGEST_MS / 60_000} min`
    : `npm ended with ${ended.exitCode ?? ended.signal ?? ended.originalMessage}`
  throw new Error(
    `${pack}@${version} could not be installed into ${prefix} (${how}): npm must reach its registry; or set ASSAY_HOSTS to a folder where the programs are`,
  )
}

/** npm itself would wait for a registry that says nothing for a quarter of an hour. */
const PATIENCE = {
  npm_config_fetch_retries: '1',
  npm_config_fetch_retry_mintimeout: '1000',
  npm_config_fetch_timeout: '60000',
}
/** Of one package. */
const LONGEST_MS = 600_000

function installedVersion(prefix, pack) {
  try {
    return JSON.parse(readFileSync(join(prefix, 'node_modules', pack, 'package.json'), 'utf8')).version
  } catch {
    return null
  }
}

/** opencode looks for ripgrep on PATH, and would load it from elsewhere; codex brings one along. */
function linkRipgrep() {
  const folder = join(hostsFolder(), 'rgbin')
  if (existsSync(join(folder, 'rg'))) return
  const found = readdirSync(join(hostsFolder(), 'codex', 'node_modules'), { recursive: true }).find((path) =>
    /codex-path[/\\]rg$/.test(path),
  )
  if (found === undefined) return
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(hostsFolder(), 'codex', 'node_modules', found), join(folder, 'rg'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    for (const name of Object.keys(PACKAGES)) install(name)
    linkRipgrep()
    process.stdout.write(`${hostsFolder()}\n`)
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
