import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execaSync } from 'execa'

export const ASSAY = fileURLToPath(new URL('../../bin/assay.cjs', import.meta.url))

const SPEC = `version: 1
name: tiny
goal: Make the number smaller.
scope:
  mutable: [src/**]
measure:
  command: node bench.mjs
  timeout: 30s
metric: { name: score, direction: minimize }
`
const BENCHMARK = `import { readFileSync } from 'node:fs'
console.log('METRIC score=' + Number(readFileSync('src/number.txt', 'utf8')))
`

/** Own HOME and runtime folder, none of the caller's git settings, and no variable that slows the start of node. */
export function benchEnv(home) {
  const { PATH, LANG } = process.env
  return {
    PATH,
    LANG: LANG ?? 'C.UTF-8',
    HOME: home,
    XDG_RUNTIME_DIR: home,
    XDG_CONFIG_HOME: home,
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
    NO_COLOR: '1',
  }
}

/**
 * A repository with a run whose baseline is judged, made by the real CLI. `spec`: more lines of it; `slots`: of `measure`; `noise`: its mode; `more`: variables of the
 * environment; `assay`: the launcher of another version than this one.
 */
export function tinyProject({
  spec = '',
  files: others = {},
  slots = 1,
  noise = 'deterministic',
  more = {},
  assay = ASSAY,
} = {}) {
  const base = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const dir = join(base, 'repo')
  const home = join(base, 'home')
  mkdirSync(home, { mode: 0o700 })
  const env = { ...benchEnv(home), ...more }
  const clean = () => rmSync(base, { recursive: true, force: true })
  try {
    const text = `${SPEC.replace('timeout: 30s', `timeout: 30s\n  slots: ${slots}`)}noise: { mode: ${noise} }\n${spec}`
    const files = { 'bench.mjs': BENCHMARK, 'src/number.txt': '10\n', ...others, 'assay.yaml': text }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true })
      writeFileSync(join(dir, path), text)
    }
    const run = (program, ...args) =>
      execaSync(program, args, { cwd: dir, env, extendEnv: false, stdin: 'ignore' })
    run('git', 'init', '--quiet', '--initial-branch=main')
    run('git', 'add', '--all')
    run(
      'git',
      '-c',
      'user.name=Bench',
      '-c',
      'user.email=bench@example.invalid',
      'commit',
      '--quiet',
      '-m',
      'first',
    )
    run(process.execPath, assay, 'init', '--json')
  } catch (error) {
    clean()
    const printed = `${error.stdout ?? ''}${error.stderr ?? ''}`.trim()
    throw new Error(`the project of the benchmark cannot be made: ${error.message}\n${printed}`)
  }
  return { dir, env, clean }
}

/** Milliseconds that a program takes; throws when it does not end with 0. */
export function time(args, options) {
  const began = performance.now()
  const ended = spawnSync(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const ms = performance.now() - began
  if (ended.status !== 0) throw new Error(`${args.join(' ')} ended with ${ended.status}: ${ended.stderr}`)
  return ms
}
