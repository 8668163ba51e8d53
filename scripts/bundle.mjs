/**
 * `plugin.json` → what each host wants to read instead, and the version wherever it stands. Without arguments it writes;
 * `--check` writes nothing, names what differs and exits 1; `--version X.Y.Z` sets the version first.
 *
 * No file of these has a `$schema`: some hosts take it for a sign of another kind of plugin, and cut skills short.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const STAMP = /\*\*\d+\.\d+\.\d+(?:-[\w.]+)?\*\*/g
/** In a folder that no host looks into by itself: one of them would read `hooks/` by other names of events, and complain. */
const HOOKS = './.claude-plugin/hooks.json'
/** Beside `skills`, where each host looks by itself, but not always in folders of folders. */
const CATEGORIES = './skills/categories/'
/** Whatever becomes of it, the host goes on: there, exit 2 means that the tool must not run. */
const hook = (which) => ({
  type: 'command',
  command: `node "\${CLAUDE_PLUGIN_ROOT}/bin/assay.cjs" hook ${which} || true`,
  timeout: 20,
})
/** Tools that write files, by the names that hosts tell their hooks. */
const EDITS = 'Edit|Write|MultiEdit|NotebookEdit|apply_patch'

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/

/**
 * @param {string} root
 * @returns {Map<string, string>} path → the whole text that should be there
 */
export function render(root) {
  const read = (path) => readFileSync(join(root, path), 'utf8')
  const source = JSON.parse(read('plugin.json'))
  const { name, version, description, author, license, keywords } = source
  const plugin = { name, version, description, author, license, keywords }
  const files = new Map(
    Object.entries({
      // Our workflow has the name of a skill, and there `/assay:optimize` would start it instead, without the judgement.
      // The skill starts it by its path.
      '.claude-plugin/plugin.json': { ...plugin, skills: CATEGORIES, workflows: [], hooks: HOOKS },
      '.claude-plugin/hooks.json': {
        hooks: {
          PreToolUse: [{ matcher: EDITS, hooks: [hook('pre-tool')] }],
          Stop: [{ hooks: [hook('stop')] }],
        },
      },
      '.claude-plugin/marketplace.json': {
        name,
        description,
        owner: author,
        plugins: [{ name, source: './', description }],
      },
      '.codex-plugin/plugin.json': {
        ...plugin,
        skills: './skills/',
        hooks: HOOKS,
        interface: {
          displayName: 'Assay',
          shortDescription: description,
          developerName: author.name,
          category: 'Coding',
        },
      },
      '.agents/plugins/marketplace.json': {
        name,
        interface: { displayName: 'Assay' },
        plugins: [
          {
            name,
            source: { source: 'local', path: './' },
            policy: { installation: 'AVAILABLE', authentication: 'ON_INSTALL' },
            category: 'Coding',
          },
        ],
      },
      'gemini-extension.json': { name, version, description },
    }).map(([path, value]) => [path, `${JSON.stringify(value, null, 2)}\n`]),
  )
  const { keywords: _, pi: __, ...rest } = JSON.parse(read('package.json'))
  const pack = {
    ...rest,
    version,
    description,
    keywords: ['pi-package', ...keywords],
    pi: { skills: ['./skills'] },
  }
  files.set('package.json', `${JSON.stringify(pack, null, 2)}\n`)
  const lock = JSON.parse(read('package-lock.json'))
  lock.version = version
  lock.packages[''].version = version
  files.set('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
  for (const file of readdirSync(join(root, 'skills'), { recursive: true })) {
    const path = `skills/${file.split(sep).join('/')}`
    if (path.endsWith('/SKILL.md')) files.set(path, read(path).replace(STAMP, `**${version}**`))
  }
  return files
}

/**
 * @param {string} root
 * @returns {string[]} the files that are not what `render` says, by what they mean: spacing does not count in JSON
 */
export function stale(root) {
  return [...render(root)].flatMap(([path, text]) =>
    same(path, textAt(join(root, path)), text) ? [] : [path],
  )
}

function same(path, found, wanted) {
  if (found === null || !path.endsWith('.json')) return found === wanted
  return JSON.stringify(JSON.parse(found)) === JSON.stringify(JSON.parse(wanted))
}

function textAt(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function setVersion(root, version) {
  if (!VERSION.test(version)) throw new Error(`not a version: ${version}`)
  const path = join(root, 'plugin.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace(/("version": )"[^"]*"/, `$1"${version}"`))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const [flag, version] = process.argv.slice(2)
  if (flag === '--version') setVersion(root, version ?? '')
  const paths = stale(root)
  if (flag === '--check') {
    for (const path of paths) process.stdout.write(`${path} does not follow plugin.json: npm run bundle\n`)
    process.exitCode = paths.length === 0 ? 0 : 1
  } else {
    const files = render(root)
    for (const path of paths) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), files.get(path))
      process.stdout.write(`wrote ${path}\n`)
    }
  }
}
