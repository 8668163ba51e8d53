/**
 * Makes a fresh clone ready: installs when `node_modules` is not what `package-lock.json` says, then builds when the
 * sources are newer than the build. One line for what it does, silent otherwise. Safe when two run at once.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exclusive } from './exclusive.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')
const stamp = join(modules, '.assay-setup')

try {
  requireNode()
  if (!isInstalled()) {
    // Not inside node_modules: an install removes that folder.
    await exclusive(join(root, 'bin', 'lib', '.setup.lock'), async () => {
      if (!isInstalled()) install()
    })
  }
  const { build } = await import('./build.mjs')
  if (await build({ root })) say('built bin/lib')
} catch (error) {
  process.stderr.write(`setup failed: ${error.message}\n`)
  process.exitCode = 1
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 20 || (major === 20 && minor >= 19)) return
  throw new Error(`Assay needs Node 20.19 or later; this is ${process.versions.node}`)
}

function isInstalled() {
  const wanted = createHash('sha256').update(lockText()).digest('hex')
  if (readOrNull(stamp) === wanted) return true
  if (!isInstalledByHand()) return false
  writeFileSync(stamp, wanted)
  return true
}

/** Whether npm's own record of what it installed has each package of the lock file, in the same version. */
function isInstalledByHand() {
  const record = readOrNull(join(modules, '.package-lock.json'))
  if (record === null) return false
  const installed = JSON.parse(record).packages
  return Object.entries(JSON.parse(lockText()).packages).every(
    ([path, wanted]) => path === '' || wanted.optional || installed[path]?.version === wanted.version,
  )
}

function install() {
  say('installing the development dependencies (npm ci)')
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  const ended = spawnSync('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })
  if (ended.error !== undefined) throw new Error(`npm could not be started: ${ended.error.message}`)
  if (ended.status !== 0) {
    const output = `${ended.stdout}${ended.stderr}`.trim().split('\n').slice(-20).join('\n')
    throw new Error(`npm ci ended with ${ended.status ?? ended.signal}; its last lines:\n${output}`)
  }
  writeFileSync(stamp, createHash('sha256').update(lockText()).digest('hex'))
}

function lockText() {
  return readFileSync(join(root, 'package-lock.json'), 'utf8')
}

function readOrNull(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function say(line) {
  process.stdout.write(`${line}\n`)
}
