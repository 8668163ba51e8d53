/**
 * The main job on a real small project: copies examples/binpack into a fresh repository, measures best fit, lets
 * `assay loop` search with the built-in host, then measures the winner on instances that the search never saw.
 *
 *   npm run demo [-- --seed N] [-- --keep FOLDER]
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ASSAY = join(ROOT, 'bin', 'assay.cjs')

const { values } = parseArgs({ options: { seed: { type: 'string' }, keep: { type: 'string' } } })
const folder = values.keep ? resolve(values.keep) : mkdtempSync(join(tmpdir(), 'assay-demo-'))

title(`A repository with the example: ${folder}`)
mkdirSync(folder, { recursive: true })
cpSync(join(ROOT, 'examples', 'binpack'), folder, { recursive: true })
if (values.seed !== undefined) setSeed(values.seed)
git('init', '--quiet')
git('add', '--all')
git(
  '-c',
  'user.name=Demo',
  '-c',
  'user.email=demo@example.invalid',
  'commit',
  '--quiet',
  '--message',
  'Best fit',
)

title('assay init: is the benchmark sound, and how good is best fit?')
assay(['init', '--quiet'])

title('assay loop: the built-in host tunes the heuristic, Assay measures and decides')
assay(['loop'])

const { best } = data(['status'])
const { worktree } = data(['path', best.experiment])

title(`The winner's change: assay diff ${best.experiment} exp_0000`)
process.stdout.write(data(['diff', best.experiment, 'exp_0000']).patch)

title('On instances that the search never saw: node holdout/measure.js')
run(process.execPath, [join(worktree, 'holdout', 'measure.js')], worktree)

title('Look around')
console.log(`cd ${folder}`)
console.log(`alias assay='${process.execPath} ${ASSAY}'`)
console.log(`assay report; assay tree; assay show ${best.experiment}`)

function setSeed(seed) {
  const file = join(folder, 'assay.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/seed: \d+/, `seed: ${Number(seed)}`))
}

function title(text) {
  console.log(`\n— ${text}`)
}

function git(...args) {
  run('git', args, folder)
}

function assay(args) {
  run(process.execPath, [ASSAY, ...args], folder)
}

function data(args) {
  const done = spawnSync(process.execPath, [ASSAY, ...args, '--json'], { cwd: folder, encoding: 'utf8' })
  const answer = JSON.parse(done.stdout)
  if (!answer.ok) throw new Error(answer.problem.message)
  return answer.data
}

/** Shows what the program prints; ends the demo with its exit code when it fails. */
function run(program, args, cwd) {
  const done = spawnSync(program, args, { cwd, stdio: 'inherit' })
  if (done.error) throw done.error
  if (done.status !== 0) process.exit(done.status ?? 1)
}
