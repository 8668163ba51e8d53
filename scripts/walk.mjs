// Which modules one candidate travels through: runs `new`, `run` and `report` on a small repository from unbundled modules, and lists
// each module of which a function ran. `--all` adds those that were only loaded. cli/DESIGN.md names the count.
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const top = mkdtempSync(join(tmpdir(), 'walk-'))

/** Each module as a file of its own, so that coverage names it. */
function transformAll() {
  for (const path of readdirSync(join(root, 'cli'), { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts')) continue
    const { code } = transformSync(readFileSync(join(root, 'cli', path), 'utf8'), {
      loader: 'ts',
      define: { 'process.env.ASSAY_VERSION': '"0.0.0"', 'process.env.ASSAY_BUILD': '"walk"' },
    })
    const file = join(top, 'cli', path.replace(/\.ts$/, '.mjs'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, code.replace(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.mjs"'))
  }
  symlinkSync(join(root, 'node_modules'), join(top, 'node_modules'))
  writeFileSync(
    join(top, 'start.mjs'),
    `import { main } from './cli/main.mjs'\nprocess.exit(await main(process.argv.slice(2)))\n`,
  )
}

const repo = join(top, 'repo')
const write = (path, text) => {
  mkdirSync(dirname(join(repo, path)), { recursive: true })
  writeFileSync(join(repo, path), text)
}
const git = (...args) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: repo })

function assay(covered, ...args) {
  const env = { ...process.env, HOME: join(top, 'home'), XDG_CONFIG_HOME: join(top, 'home') }
  if (covered) env.NODE_V8_COVERAGE = join(top, 'coverage')
  const out = execFileSync(process.execPath, [join(top, 'start.mjs'), ...args, '--json'], { cwd: repo, env })
  return JSON.parse(out).data
}

/** Module → how often each of its functions was called, in each process. */
function callsIn(folder) {
  const scripts = readdirSync(join(top, folder)).flatMap(
    (name) => JSON.parse(readFileSync(join(top, folder, name), 'utf8')).result,
  )
  return scripts.flatMap(({ url, functions }) => {
    if (!url.includes(`${top}/cli/`)) return []
    const file = relative(top, fileURLToPath(url)).replace(/\.mjs$/, '.ts')
    const calls = functions.map(({ ranges: [{ startOffset, count }] }) => [`${file} ${startOffset}`, count])
    return [{ file, calls: calls.slice(1) }]
  })
}

/** Module → whether one of its functions was called, other than to load modules. */
function modulesSeen() {
  const loading = new Map(callsIn('loading').flatMap(({ calls }) => calls))
  const seen = new Map()
  for (const { file, calls } of callsIn('coverage')) {
    const ran = calls.some(([place, count]) => count > (loading.get(place) ?? 0))
    seen.set(file, ran || (seen.get(file) ?? false))
  }
  return seen
}

try {
  transformAll()
  write('src/work.mjs', 'export const steps = 5\n')
  write('bench/run.mjs', `import { steps } from '../src/work.mjs'\nconsole.log('METRIC steps=' + steps)\n`)
  write(
    'assay.yaml',
    `version: 1\nname: walk\ngoal: Fewer steps.\nscope: { mutable: ["src/**"], immutable: ["bench/**"] }\nmeasure: { command: node bench/run.mjs }\nmetric: { name: steps, direction: minimize }\n`,
  )
  write('.gitignore', '.assay\n')
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  assay(false, 'init')
  const { experiment, worktree } = assay(true, 'new', '-m', 'fewer steps')
  writeFileSync(join(worktree, 'src/work.mjs'), 'export const steps = 4\n')
  const { status } = assay(true, 'run', experiment)
  assay(true, 'report')
  const verbs = ['new', 'run', 'report'].map((verb) => `import './cli/verbs/${verb}.mjs'\n`)
  writeFileSync(join(top, 'load.mjs'), `import './cli/main.mjs'\n${verbs.join('')}`)
  const env = { ...process.env, NODE_V8_COVERAGE: join(top, 'loading') }
  execFileSync(process.execPath, [join(top, 'load.mjs')], { env })
  const seen = [...modulesSeen()].sort()
  const ran = seen.filter(([, did]) => did)
  for (const [file, did] of process.argv.includes('--all') ? seen : ran)
    process.stdout.write(`${did ? ' ' : '-'} ${file}\n`)
  process.stdout.write(`${ran.length} of ${seen.length} loaded modules ran: new, run (${status}), report\n`)
} finally {
  rmSync(top, { recursive: true, force: true })
}
