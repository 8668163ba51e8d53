/** A sample that sees more than its own checkout: shared build folders, and files of the user above it. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { missingProgram } from '../rig/needs.ts'
import { makeTemp } from '../rig/temp.ts'
import { type InitData, makeProject, ms, type RunData, specText } from './project.ts'

const leftOutside = () => readdirSync(tmpdir()).filter((name) => name.startsWith('assay-outside-'))

describe('a build that writes to one place of the machine', () => {
  const shared = (control: string) =>
    `mkdir -p '${control}/out' && cp src/metrics.txt '${control}/out/built'\n`

  test('init does not find that both sides of a pair measure the same build', async () => {
    const project = makeProject({ spec: { worktree: { build: { command: 'sh build.sh' } } } })
    project.repo.commit('a build', {
      'build.sh': shared(project.control),
      'bench/run.sh': `cat '${project.control}/out/built'\n`,
    })
    const problem = await project.problem('init')
    expect(problem).toMatchObject({ exit: 2, code: 'shared_build' })
    expect(problem.message).toContain('the baseline in the other one said: the metric "ms" is missing')
    expect(problem.message).toContain(`the build writes ${project.control}/out/built`)
    expect(existsSync(project.repo.path('.assay'))).toBe(false)
  })

  test('a build that fails on emptied files hides that both sides share its output', async () => {
    const project = makeProject({ spec: { worktree: { build: { command: 'sh build.sh' } } } })
    project.repo.commit('a build', {
      'build.sh': `test -s src/metrics.txt || exit 1\n${shared(project.control)}`,
      'bench/run.sh': `cat '${project.control}/out/built'\n`,
    })
    const { warnings } = await project.data<InitData>('init')
    expect(warnings).toContainEqual(
      expect.stringContaining(`worktree.build writes ${project.control}/out/built, outside of its checkout`),
    )
  })

  test('init does not say that a build leaves nothing in its checkout', async () => {
    const project = makeProject({ spec: { worktree: { build: { command: 'sh build.sh' } } } })
    project.repo.commit('a build', {
      'build.sh': 'test -s src/metrics.txt || exit 1\ncp src/metrics.txt "$HOME/built"\n',
      'bench/run.sh': 'cat "$HOME/built"\n',
    })
    const { warnings } = await project.data<InitData>('init')
    expect(warnings).toContainEqual(expect.stringContaining('worktree.build left nothing in its checkout'))
  })

  test('a build inside of the checkout is refused or warned of', async () => {
    const project = makeProject({
      spec: { worktree: { build: { command: 'sh build.sh' } } },
      files: {
        '.gitignore': 'out/\n',
        'build.sh': 'mkdir -p out && cp src/metrics.txt out/built\n',
        'bench/run.sh': 'cat out/built\n',
      },
    })
    const { warnings } = await project.data<InitData>('init')
    expect(warnings.filter((one) => /checkout/.test(one))).toEqual([])
    expect(await project.attempt(ms(90))).toMatchObject({ status: 'kept', value: 90 })
  })
})

describe('files of the user above the checkouts', () => {
  const WORKSPACE = {
    '.gitignore': 'node_modules/\n.env\n',
    'package.json': '{"private":true,"workspaces":["packages/*"]}\n',
    'packages/lib/package.json': '{"name":"@x/lib","version":"1.0.0","main":"i.js"}\n',
    'packages/lib/i.js': 'module.exports = 40\n',
    'packages/app/src/n.js': 'module.exports = 60 + require("@x/lib")\n',
    'packages/app/bench/run.js': "console.log('METRIC ms=' + require('../src/n.js'))\n",
    'packages/app/assay.yaml': specText({ measure: { command: 'node bench/run.js' } }),
  }

  test('init does not say that a workspace package is found in the user’s checkout', async () => {
    const project = makeProject()
    project.repo.git('rm', '--quiet', '-r', 'assay.yaml', 'bench', 'src')
    project.repo.commit('a workspace', WORKSPACE)
    mkdirSync(project.repo.path('node_modules/@x'), { recursive: true })
    symlinkSync('../../packages/lib', project.repo.path('node_modules/@x/lib'))
    const before = leftOutside()
    const ran = await project.cli<InitData>(['init'], { cwd: project.repo.path('packages/app') })
    expect(ran.json).toMatchObject({ ok: true, data: { baseline: { value: 100 } } })
    const warnings = ran.json?.ok ? ran.json.data.warnings : []
    expect(warnings).toContainEqual(
      expect.stringMatching(
        /^in a checkout outside of the repository the baseline fails \(.*Cannot find module '@x\/lib'.*node_modules above the measurement checkouts, where @x\/lib leads to packages\/lib in your own checkout.*worktree\.setup/s,
      ),
    )
    expect(leftOutside()).toEqual(before)
    const listed = project.repo.git('--git-dir=.assay/.git', 'worktree', 'list')
    expect(listed).not.toContain('assay-outside-')
    const again = await project.cli<InitData>(['init'], { cwd: project.repo.path('packages/app') })
    expect(again.stderr).not.toContain('outside of the repository')
    expect(again.json?.ok && again.json.data.warnings).toEqual(warnings)
  })

  test('init does not name the file of the user that the value depends on', async () => {
    const project = makeProject({
      files: {
        '.gitignore': '.env\n',
        'bench/run.sh':
          'cat src/metrics.txt | sed "s/100/$(cat ../../../../.env 2>/dev/null || echo 100)/"\n',
      },
    })
    project.repo.write({ '.env': '70' })
    const { warnings } = await project.data<InitData>('init')
    expect(warnings).toContainEqual(
      expect.stringMatching(/outside of the repository ms is 100 and not 70: .*\.env lies above/),
    )
  })

  test('files above that make no difference are reported, or every init examines them again', async () => {
    const project = makeProject({ files: { '.gitignore': 'notes/\n' } })
    project.repo.write({ 'notes/a.txt': 'mine\n' })
    const ran = await project.cli<InitData>(['init'])
    expect(ran.stderr).toContain('outside of the repository')
    expect(ran.json?.ok && ran.json.data.warnings.filter((one) => /outside/.test(one))).toEqual([])
    const quiet = await makeProject().cli<InitData>(['init'])
    expect(quiet.stderr).not.toContain('outside of the repository')
  })
})

const toolchain = { RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(homedir(), '.rustup') }
const noCargo = missingProgram('cargo', ['sh', '-c', 'command -v cargo'])

test('a target-dir of the user lets both sides run the binary that was built last', async ({ skip }) => {
  skip(noCargo !== null, noCargo ?? '')
  const home = makeTemp('cargo-home')
  writeFileSync(join(home, 'config.toml'), `[build]\ntarget-dir = "${join(home, 'target')}"\n`)
  const program = (n: number) => ({
    'src/main.rs': `fn main() {\n    let t = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos();\n    println!("METRIC n={}.{:03}", ${n}, t % 1000);\n}\n`,
  })
  const project = makeProject({
    spec: {
      worktree: { build: { command: 'cargo build --offline -q' } },
      measure: {
        command: 'cargo run --offline -q',
        environment: { inherit: ['RUSTUP_HOME', 'RUSTUP_TOOLCHAIN'] },
      },
      metric: { name: 'n', direction: 'minimize' },
      noise: { mode: 'paired', calibrate: 4 },
    },
    files: {
      'Cargo.toml': '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n',
      'Cargo.lock': 'version = 3\n\n[[package]]\nname = "p"\nversion = "0.1.0"\n',
      '.gitignore': 'target/\n',
      ...program(100),
    },
  })
  const env = { CARGO_HOME: home, ...toolchain }
  const cli = async <T>(...args: string[]): Promise<T> => {
    const ran = await project.cli<T>(args, { env })
    if (!ran.json?.ok) throw new Error(ran.stdout + ran.stderr)
    return ran.json.data
  }
  await cli('init')
  const made = await cli<{ experiment: string; worktree: string }>('new', '-m', 'less')
  writeFileSync(join(made.worktree, 'src/main.rs'), program(50)['src/main.rs'] ?? '')
  expect(await cli<RunData>('run', made.experiment)).toMatchObject({ status: 'kept' })
  expect(existsSync(join(home, 'target'))).toBe(false)
})
